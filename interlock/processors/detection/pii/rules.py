"""The offline detector of personal data: one recogniser a kind."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.pii.recogniser import PIIKind, Recogniser
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["PIIRules", "recognisers"]

_SUREST_FIRST: Final[tuple[PIIKind, ...]] = ("iban", "credit-card", "email", "ip-address", "ssn", "phone")
"""Of two kinds that were found at the same place and are as long, the one with the better proof names it."""


def recognisers(
    kinds: Collection[PIIKind], *, region: str | None = None, threshold: float = 0.0
) -> Sequence[Recogniser]:
    """The recognisers of some kinds, those with the better proof first.

    Args:
        kinds: What to look for.
        region: Whose national phone numbers count, besides the international and United States forms.
        threshold: Of candidates below this score no notice is taken.

    Raises:
        DefinitionError: A region without a numbering plan.
    """
    return tuple(_recogniser(kind, region, threshold) for kind in _SUREST_FIRST if kind in kinds)


class PIIRules:
    """Finds personal data by patterns, check digits and numbering plans.

    Args:
        kinds: What to look for.
        region: Whose national phone numbers count, besides the international and United States forms.

    Raises:
        DefinitionError: A region without a numbering plan.

    Example:
        >>> PIIRules(["email"]).find("to ann@example.com")
        [Finding(kind='email', start=3, end=18, score=0.95, explanation='an address with a valid form')]
    """

    def __init__(self, kinds: Collection[PIIKind], *, region: str | None = None) -> None:
        self._recognisers = recognisers(kinds, region=region)

    def find(self, text: str) -> list[Finding]:
        """All findings; those of different kinds may overlap."""
        copy = ScanCopy(text)
        return [finding for recogniser in self._recognisers for finding in _findings(recogniser, copy)]


def _findings(recogniser: Recogniser, copy: ScanCopy) -> Iterator[Finding]:
    layer = copy.plain if recogniser.reading == "plain" else copy.folded
    for start, end, kind, score, explanation, _ in recogniser.find(layer.text, 0):
        if layer.counts(start, end):
            yield Finding(kind, *layer.raw_span(start, end), score, explanation)


def _recogniser(kind: PIIKind, region: str | None, threshold: float) -> Recogniser:
    """Import what one kind needs only where it is asked for: the numbering plans alone take a tenth of a second."""
    match kind:
        case "email":
            from interlock.processors.detection.pii.email import EmailRecogniser

            return EmailRecogniser(threshold=threshold)
        case "phone":
            from interlock.processors.detection.pii.phone import PhoneRecogniser

            return PhoneRecogniser(region, threshold=threshold)
        case "credit-card":
            from interlock.processors.detection.pii.credit_card import CreditCardRecogniser

            return CreditCardRecogniser(threshold=threshold)
        case "ssn":
            from interlock.processors.detection.pii.ssn import SSNRecogniser

            return SSNRecogniser(threshold=threshold)
        case "ip-address":
            from interlock.processors.detection.pii.ip_address import IPAddressRecogniser

            return IPAddressRecogniser(threshold=threshold)
        case "iban":
            from interlock.processors.detection.pii.iban import IBANRecogniser

            return IBANRecogniser(threshold=threshold)
