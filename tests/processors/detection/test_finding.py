from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from interlock.processors.detection.finding import Finding, join_overlapping


def _made(kind: str, start: int, length: int, score: float) -> Finding:
    return Finding(kind, start, start + length, score)


_findings = st.lists(
    st.builds(
        _made, st.sampled_from(["email", "phone"]), st.integers(0, 30), st.integers(1, 10), st.sampled_from([0.6, 0.9])
    ),
    max_size=8,
)


@given(_findings)
def test_joined_findings_cover_what_the_findings_covered_and_do_not_overlap(findings: list[Finding]) -> None:
    joined = join_overlapping(findings)
    assert {n for f in joined for n in range(f.start, f.end)} == {n for f in findings for n in range(f.start, f.end)}
    assert all(one.end <= other.start for one, other in pairwise(joined))


@given(_findings)
def test_a_joined_finding_is_as_sure_as_the_surest_of_its_parts(findings: list[Finding]) -> None:
    for whole in join_overlapping(findings):
        parts = [f for f in findings if whole.start <= f.start and f.end <= whole.end]
        assert whole.score == max(f.score for f in parts)
        assert any(f.kind == whole.kind and f.score == whole.score for f in parts)


def test_findings_that_only_touch_stay_two() -> None:
    both = [Finding("email", 0, 5), Finding("phone", 5, 9)]
    assert join_overlapping(both) == both
