"""Named fields of the flat blocks: `model_view` and `work_view`.

The ints block starts with HEADER numbers, then three directories of offsets (one per table of `layout.py`, each with a closing end), then its fields.
"""

from types import SimpleNamespace

from numba import config

from kinetree.solvers import layout as L
from kinetree.solvers.kernel import kernel
from kinetree.solvers.view_types import AT_FLOATS, AT_INTS, AT_WORK, model_blocks, view_floats, view_ints, work_blocks

if config.DISABLE_JIT:

    def part(block, ints, table, directory):
        """Slices of a block by field name."""
        return {field.name: block[ints[directory + k] : ints[directory + k + 1]] for k, field in enumerate(table)}

    def model_view(ints, floats):
        """The compiled model in its two blocks, in plain Python."""
        return SimpleNamespace(header=ints[: L.HEADER], **part(ints, ints, L.MODEL_INTS, AT_INTS), **part(floats, ints, L.MODEL_FLOATS, AT_FLOATS))

    def work_view(ints, work):
        """The workspace in its block, in plain Python."""
        return SimpleNamespace(**part(work, ints, L.WORK, AT_WORK))

    def ints_view(block):
        """A block of integers, in plain Python."""
        return block

    def floats_view(block):
        """A block of floats, in plain Python."""
        return block

else:

    @kernel
    def model_view(ints, floats):
        """The compiled model in its two blocks."""
        return model_blocks(ints, floats)

    @kernel
    def work_view(ints, work):
        """The workspace in its block."""
        return work_blocks(ints, work)

    @kernel
    def ints_view(block):
        """A block of integers as a view: its slices cost nothing."""
        return view_ints(block)

    @kernel
    def floats_view(block):
        """A block of floats as a view."""
        return view_floats(block)
