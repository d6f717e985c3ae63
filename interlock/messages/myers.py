"""The least script from one sequence of words to another.

The greedy algorithm of E. Myers, "An O(ND) difference algorithm and its variations", Algorithmica 1 (1986): it follows
what is common as early as it can, so the script it finds keeps the earliest of several equal words.
"""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["Run", "least_script"]

Run = tuple[int, int, int, int]
"""What is replaced, and by what: start and end in the old sequence, start and end in the new one."""


def least_script(old: Sequence[str], new: Sequence[str], limit: int) -> list[Run] | None:
    """The least script from one sequence to the other, as runs of what is not common; None past the limit.

    Args:
        old: The words before.
        new: The words after.
        limit: How many words may be added and removed in all. Time and memory grow with its square at most.
    """
    n, m = len(old), len(new)
    if abs(n - m) > limit:
        return None
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(word, len(numbers)) for word in old]
    b = [numbers.setdefault(word, len(numbers)) for word in new]
    limit = min(limit, n + m)
    furthest = [0] * (2 * limit + 3)  # by diagonal k = x - y, from -limit - 1 on; negative k count from the end
    trace: list[list[int]] = []
    for d in range(limit + 1):
        reached: list[int] = []
        for k in range(-d, d + 1, 2):
            down = k == -d or (k != d and furthest[k - 1] < furthest[k + 1])
            x = furthest[k + 1] if down else furthest[k - 1] + 1
            y = x - k
            while x < n and y < m and a[x] == b[y]:
                x += 1
                y += 1
            furthest[k] = x
            reached.append(x)
            if x >= n and y >= m:
                return _changed(_common(trace, d, n, m), n, m)
        trace.append(reached)
    return None


def _common(trace: Sequence[Sequence[int]], d: int, n: int, m: int) -> list[tuple[int, int, int]]:
    """Walk back from the end; what is common, as (start in old, start in new, length).

    ``trace[d][i]`` is how far diagonal ``2 * i - d`` was followed with ``d`` differences.
    """
    common: list[tuple[int, int, int]] = []
    x, y = n, m
    while d > 0:
        k = x - y
        before = trace[d - 1]
        above, left = (k + d) // 2, (k + d) // 2 - 1  # the places of k + 1 and k - 1 among those of d - 1
        down = k == -d or (k != d and before[left] < before[above])
        from_x = before[above] if down else before[left]
        from_y = from_x - (k + 1 if down else k - 1)
        start = from_x if down else from_x + 1
        common.append((start, start - k, x - start))
        x, y = from_x, from_y
        d -= 1
    common.append((0, 0, x))
    common.reverse()
    return common


def _changed(common: Sequence[tuple[int, int, int]], n: int, m: int) -> list[Run]:
    runs: list[Run] = []
    x = y = 0
    for start, first, length in (*(same for same in common if same[2]), (n, m, 0)):
        if start > x or first > y:
            runs.append((x, start, y, first))
        x, y = start + length, first + length
    return runs
