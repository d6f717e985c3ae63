"""What the nodes of a plan become when they run. One class a node kind."""

from interlock.runtime.operations.attempts import AttemptsOp
from interlock.runtime.operations.branch_op import BranchOp
from interlock.runtime.operations.dag_op import DagOp
from interlock.runtime.operations.foreach_op import ForeachOp
from interlock.runtime.operations.fork import BranchOutputs, fork_value
from interlock.runtime.operations.hook_op import HookOp
from interlock.runtime.operations.loop_op import LoopOp
from interlock.runtime.operations.merge_op import MergeOp
from interlock.runtime.operations.nested_op import NestedOp
from interlock.runtime.operations.parallel_op import ParallelOp, SelectiveParallelOp
from interlock.runtime.operations.policy_op import PolicyOp
from interlock.runtime.operations.sleep_op import SleepOp
from interlock.runtime.operations.step_op import BlockingStepOp, MapOp, StepOp

__all__ = [
    "AttemptsOp",
    "BlockingStepOp",
    "BranchOp",
    "BranchOutputs",
    "DagOp",
    "ForeachOp",
    "HookOp",
    "LoopOp",
    "MapOp",
    "MergeOp",
    "NestedOp",
    "ParallelOp",
    "PolicyOp",
    "SelectiveParallelOp",
    "SleepOp",
    "StepOp",
    "fork_value",
]
