"""The processors of a chain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.runtime.operations.attempts import AttemptsOp
from interlock.runtime.operations.hook_op import HookOp
from interlock.runtime.operations.policy_op import PolicyOp
from interlock.runtime.strand import Operation

__all__ = ["hooks_in"]


def hooks_in(ops: Sequence[Operation]) -> Iterator[HookOp]:
    """Every processor's hook of a chain, nested ones included, in list order."""
    for op in ops:
        hook = op
        while isinstance(hook, AttemptsOp | PolicyOp):
            hook = hook.inner
        if isinstance(hook, HookOp):
            yield hook
        else:
            for chain in hook.chains():
                yield from hooks_in(chain)
