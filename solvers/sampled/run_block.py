"""Executes the sampled block of an event: predictive control or an observer."""

from kinetree.solvers.instance.memory import structure
from kinetree.solvers.kernel import kernel
from kinetree.solvers.layout import Status
from kinetree.solvers.linked_kernels import boundary
from kinetree.solvers.sampled.block_layout import PREDICTIVE_BLOCK
from kinetree.solvers.sampled.observer import estimate
from kinetree.solvers.sampled.predictive import plan_commands
from kinetree.solvers.views import block_at


@kernel
def block_of(I, event, stage):
    """Return the index of the block that an event of the description executes in a stage, or -1."""
    for k in range(I.blocks):
        block = block_at(I[I.block_records :], k)
        if block.event == event and block.stage == stage:
            return k
    return -1


@boundary("unit")
def run_block(I, F, W, t):
    """Execute block number `sampled` of the head; return BLOCK_FAILED or ESTIMATE_FAILED, with the
    block in head.item, on failure.
    """
    _, ws = structure(I, F, W)
    block = block_at(I[I.block_records :], int(W.sampled))
    if block.kind == PREDICTIVE_BLOCK:
        status, failed = plan_commands(I, F, W, ws, block, t), Status.BLOCK_FAILED.value
    else:
        status, failed = estimate(I, F, W, ws, block, t), Status.ESTIMATE_FAILED.value
    if status != 0:
        ws.head.item = W.sampled
        return failed
    return 0
