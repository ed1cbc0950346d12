"""Named fields of the flat blocks: `model_view` and `work_view`.

The ints block starts with the record HEADER, then three directories of offsets (one per table of
`fields.py`, each with a closing entry), then its fields. `sensor_at(model.sensors, k)` and similar
functions cut one record from a table of them.
"""

from types import SimpleNamespace

from numba import config

from kinetree.solvers import layout as L
from kinetree.solvers import model_records as R
from kinetree.solvers import unit_layout as U
from kinetree.solvers.fields import AT_FLOATS, AT_INTS, AT_WORK
from kinetree.solvers.kernel import kernel
from kinetree.solvers.record_views import block_of, rows_of
from kinetree.solvers.records import plain_block, plain_rows
from kinetree.solvers.sampled.block_layout import BLOCK, OBSERVER, PREDICTIVE
from kinetree.solvers.view_types import model_blocks, view_floats, view_ints, work_blocks

if config.DISABLE_JIT:
    rows, whole = plain_rows, plain_block

    def part(block, ints, table, directory):
        """Return the slices of a block by field name, from its directory."""
        parts = {
            field.name: block[ints[directory + k] : ints[directory + k + 1]]
            for k, field in enumerate(table)
        }
        return parts | {
            field.name: field.record.of(parts[field.name]) for field in table if field.record
        }

    def model_view(ints, floats):
        """Return the compiled model in its two blocks."""
        return SimpleNamespace(
            header=R.HEADER.of(ints),
            **part(ints, ints, L.MODEL_INTS, AT_INTS),
            **part(floats, ints, L.MODEL_FLOATS, AT_FLOATS),
        )

    def work_view(ints, work):
        """Return the workspace in its block."""
        return SimpleNamespace(**part(work, ints, L.WORK, AT_WORK))

    def ints_view(block):
        """Return a block of integers unchanged: arrays serve as views in plain Python."""
        return block

    def floats_view(block):
        """Return a block of floats unchanged: arrays serve as views in plain Python."""
        return block

else:
    rows, whole = rows_of, block_of

    @kernel
    def model_view(ints, floats):
        """Return a view of the compiled model over its blocks of ints and floats."""
        return model_blocks(ints, floats)

    @kernel
    def work_view(ints, work):
        """Return a view of the workspace over its block of floats."""
        return work_blocks(ints, work)

    @kernel
    def ints_view(block):
        """Return a view of a block of integers, which is cheaper to slice than an array."""
        return view_ints(block)

    @kernel
    def floats_view(block):
        """Return a view of a block of floats, which is cheaper to slice than an array."""
        return view_floats(block)


sensor_at, force_at, guard_at, action_at = (
    rows(R.SENSOR),
    rows(R.FORCE),
    rows(R.GUARD),
    rows(R.ACTION),
)
latch_at, probe_at, knot_at, arm_at, followed_at = (
    rows(R.LATCH),
    rows(R.PROBE),
    rows(R.KNOT),
    rows(R.ARM),
    rows(R.FOLLOWED),
)
modal_at, face_at = rows(R.MODAL), rows(R.FACE)
table_at, instruction_at = rows(R.TABLE), rows(R.INSTRUCTION)
unit_ints, unit_work, locator_view = whole(U.UNIT), whole(U.UNIT_HEAD), whole(U.LOCATOR)
block_at, predictive_at, observer_at = rows(BLOCK), rows(PREDICTIVE), rows(OBSERVER)
stage_at, transition_at, locked_at, unit_body_at, event_at = (
    rows(U.STAGE),
    rows(U.TRANSITION),
    rows(U.LOCKED),
    rows(U.UNIT_BODY),
    rows(U.EVENT),
)
guard_state_at, condition_at = rows(U.GUARD_STATE), rows(U.CONDITION)
