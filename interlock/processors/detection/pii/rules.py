"""The offline detector of personal data: one recogniser a kind."""

from __future__ import annotations

from collections.abc import Collection

from interlock.processors.detection.finding import Finding
from interlock.processors.detection.pii.recogniser import PIIKind, Recogniser
from interlock.processors.detection.scan_copy import ScanCopy

__all__ = ["PIIRules"]


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
        self._recognisers = tuple(_recogniser(kind, region) for kind in kinds)

    def find(self, text: str) -> list[Finding]:
        """All findings; those of different kinds may overlap."""
        copy = ScanCopy(text)
        return [finding for recogniser in self._recognisers for finding in recogniser.find(copy)]


def _recogniser(kind: PIIKind, region: str | None) -> Recogniser:
    """Import what one kind needs only where it is asked for: the numbering plans alone take a tenth of a second."""
    match kind:
        case "email":
            from interlock.processors.detection.pii.email import EmailRecogniser

            return EmailRecogniser()
        case "phone":
            from interlock.processors.detection.pii.phone import PhoneRecogniser

            return PhoneRecogniser(region)
        case "credit-card":
            from interlock.processors.detection.pii.credit_card import CreditCardRecogniser

            return CreditCardRecogniser()
        case "ssn":
            from interlock.processors.detection.pii.ssn import SSNRecogniser

            return SSNRecogniser()
        case "ip-address":
            from interlock.processors.detection.pii.ip_address import IPAddressRecogniser

            return IPAddressRecogniser()
        case "iban":
            from interlock.processors.detection.pii.iban import IBANRecogniser

            return IBANRecogniser()
