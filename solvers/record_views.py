"""Records in kernels: views whose attributes are the entries of a record, cut from tables or laid
over the start of a block.
"""

from llvmlite import ir
from numba.core import cgutils
from numba.extending import intrinsic

from kinetree.solvers.records import Record
from kinetree.solvers.view_types import INT, WORD, ViewType, pointer_of, whole_view


def record_type(block, record: Record) -> ViewType:
    """Return the view type of a record in a block of this type."""
    return ViewType(block.dtype, record)


def rows_of(record: Record):
    """Return the kernel that cuts record k from a table of such records."""

    @intrinsic
    def row(typingctx, table, k):
        result = record_type(table, record)

        def generate(context, builder, sig, args):
            view = cgutils.create_struct_proxy(result)(context, builder)
            at = builder.mul(args[1], ir.Constant(WORD, record.size))
            view.data = builder.gep(pointer_of(context, builder, sig.args[0], args[0]), [at])
            view.size = ir.Constant(WORD, record.size)
            return view._getvalue()

        return result(table, INT), generate

    return row


def block_of(record: Record):
    """Return the kernel that views the start of a block (array, view or C pointer) as a record."""

    @intrinsic
    def whole(typingctx, block):
        result = record_type(block, record)
        return result(block), whole_view(result)

    return whole
