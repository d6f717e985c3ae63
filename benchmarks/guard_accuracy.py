"""Precision and recall of the offline guards on development data that nothing was fitted to.

    .venv/bin/python benchmarks/guard_accuracy.py

The data is no part of this repository: ``INTERLOCK_DATA`` names its folder (default ``../shared/data``). Of each file
only the half is read whose texts have a SHA-256 that begins with 8 to f; rules and thresholds were written looking at
the other half. Prints Markdown tables, those of docs/accuracy.md.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from interlock.processors import Finding, InputContext, ModerationProcessor, PIIDetector, PromptInjectionDetector
from interlock.verdict import AbortSignal

ROOT: Final = Path(__file__).resolve().parents[1]
FILES: Final = ("pii.jsonl", "injection.jsonl", "toxicity.jsonl")

PII_KINDS: Final[Mapping[str, str]] = {
    "EMAIL_ADDRESS": "email",
    "PHONE_NUMBER": "phone",
    "CREDIT_CARD": "credit-card",
    "US_SSN": "ssn",
    "IP_ADDRESS": "ip-address",
    "IBAN_CODE": "iban",
}
"""The data's kinds that the guard claims. Names, addresses, places, dates and web domains it does not."""

Row = Mapping[str, Any]
Span = tuple[str, int, int]


@dataclass
class Tally:
    """What was right, too much and missed."""

    right: int = 0
    false_alarms: int = 0
    missed: int = 0
    exact: int = 0

    @property
    def precision(self) -> float:
        found = self.right + self.false_alarms
        return self.right / found if found else float("nan")

    @property
    def recall(self) -> float:
        there = self.right + self.missed
        return self.right / there if there else float("nan")

    def __add__(self, other: Tally) -> Tally:
        return Tally(
            self.right + other.right,
            self.false_alarms + other.false_alarms,
            self.missed + other.missed,
            self.exact + other.exact,
        )


@dataclass
class Counts:
    """How many texts of a source there were, and how many were flagged."""

    texts: Counter[str] = field(default_factory=Counter[str])
    flagged: Counter[str] = field(default_factory=Counter[str])


def data_folder() -> Path:
    """The data's folder."""
    return Path(os.environ.get("INTERLOCK_DATA") or ROOT / ".." / "shared" / "data").resolve()


def is_for_evaluation(text: str) -> bool:
    """Whether a text belongs to the half that rules were not written on."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[0] >= "8"


def rows(path: Path) -> Iterator[Row]:
    """The rows of a file whose text is for evaluation."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            if is_for_evaluation(row["text"]):
                yield row


def spans_found(text: str) -> list[Span]:
    """What the guard finds at its default threshold."""
    heard: list[Finding] = []
    PIIDetector(strategy="warn", on_detection=lambda finding, _: heard.append(finding)).process_input(
        InputContext(text)
    )
    return [(f.kind, f.start, f.end) for f in heard]


def is_blocked(guard: PromptInjectionDetector | ModerationProcessor, text: str) -> bool:
    """Whether a guard at its defaults stops a text."""
    try:
        guard.process_input(InputContext(text))
    except AbortSignal:
        return True
    return False


def compare_spans(there: Sequence[Span], found: Sequence[Span], tallies: dict[str, Tally]) -> None:
    """Count one text: a span is found by any finding of its kind that overlaps it."""

    def overlap(one: Span, other: Span) -> bool:
        return one[0] == other[0] and one[1] < other[2] and other[1] < one[2]

    for span in there:
        tally = tallies.setdefault(span[0], Tally())
        hit = any(overlap(span, f) for f in found)
        tally.right += hit
        tally.missed += not hit
        tally.exact += span in found
    for finding in found:
        if not any(overlap(finding, span) for span in there):
            tallies.setdefault(finding[0], Tally()).false_alarms += 1


def print_pii(path: Path) -> None:
    """Spans, kind by kind."""
    tallies: dict[str, Tally] = {kind: Tally() for kind in PII_KINDS.values()}
    for row in rows(path):
        there = [(PII_KINDS[s["kind"]], s["start"], s["end"]) for s in row["spans"] if s["kind"] in PII_KINDS]
        compare_spans(there, spans_found(row["text"]), tallies)
    print("## `PIIDetector`, by span\n")
    print("| kind | spans | found | exact bounds | false alarms | precision | recall |")
    print("|---|---|---|---|---|---|---|")
    for kind, tally in [*tallies.items(), ("together", sum(tallies.values(), Tally()))]:
        there_are = tally.right + tally.missed
        print(
            f"| {kind} | {there_are} | {tally.right} | {tally.exact} | {tally.false_alarms} "
            f"| {tally.precision:.2f} | {tally.recall:.2f} |"
        )


def print_injection(path: Path) -> None:
    """Texts, source by source."""
    guard = PromptInjectionDetector()
    counts = {"attack": Counts(), "benign": Counts()}
    for row in rows(path):
        of_label = counts[row["label"]]
        of_label.texts[row["source"]] += 1
        of_label.flagged[row["source"]] += is_blocked(guard, row["text"])
    print("\n## `PromptInjectionDetector`, by text\n")
    print("| source | label | texts | flagged | share |")
    print("|---|---|---|---|---|")
    for label, of_label in counts.items():
        for source, texts in of_label.texts.items():
            flagged = of_label.flagged[source]
            print(f"| {source} | {label} | {texts} | {flagged} | {flagged / texts:.3f} |")
    right, wrong = counts["attack"].flagged.total(), counts["benign"].flagged.total()
    print_overall(Tally(right, wrong, counts["attack"].texts.total() - right))


def print_moderation(path: Path) -> None:
    """Texts: toxic or clean."""
    guard = ModerationProcessor()
    tally, clean = Tally(), 0
    for row in rows(path):
        blocked = is_blocked(guard, row["text"])
        if row["label"] == "toxic":
            tally.right += blocked
            tally.missed += not blocked
        else:
            clean += 1
            tally.false_alarms += blocked
    print("\n## `ModerationProcessor`, by text\n")
    print("| label | texts | flagged | share |")
    print("|---|---|---|---|")
    print(f"| toxic | {tally.right + tally.missed} | {tally.right} | {tally.recall:.3f} |")
    print(f"| clean | {clean} | {tally.false_alarms} | {tally.false_alarms / clean:.3f} |")
    print_overall(tally)


def print_overall(tally: Tally) -> None:
    """One line of precision and recall."""
    print(f"\nPrecision {tally.precision:.2f}, recall {tally.recall:.2f}.")


def main() -> int:
    """Print all tables; 2 where there is no data."""
    folder = data_folder()
    missing = [name for name in FILES if not (folder / name).is_file()]
    if missing:
        print(
            f"no development data: {folder} has no {', '.join(missing)}. INTERLOCK_DATA names another folder.",
            file=sys.stderr,
        )
        return 2
    print_pii(folder / "pii.jsonl")
    print_injection(folder / "injection.jsonl")
    print_moderation(folder / "toxicity.jsonl")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
