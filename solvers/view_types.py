"""numba types of the compiled model and the workspace: two pointers each instead of dozens of
arrays.

`model.parent`, `ws.row`, ... become a View (pointer and size) found through the directories of the
ints block; nothing is reference counted, so that kernels compile quickly and need no numba runtime.
The ints never change, and loads from them are marked so for the optimiser. In plain Python
(NUMBA_DISABLE_JIT=1) `views.py` uses named tuples of numpy slices instead.
"""

import operator

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.imputils import lower_builtin, lower_getattr_generic, lower_setattr_generic
from numba.core.typing.templates import (
    AbstractTemplate,
    AttributeTemplate,
    infer_getattr,
    infer_global,
    signature,
)
from numba.extending import intrinsic, models, register_model

from kinetree.solvers import layout as L
from kinetree.solvers.fields import AT_FLOATS, MODEL_AT, RECORD_FIELDS, WORK_AT
from kinetree.solvers.model_records import HEADER
from kinetree.solvers.records import Record

INT, WORD = types.intp, ir.IntType(64)


class ViewType(types.Type):
    """The numba type of a slice of a block; entries of a record at its beginning are attributes."""

    def __init__(self, dtype, record: Record | None = None):
        self.dtype, self.record = dtype, record
        super().__init__(f"View({dtype}, {record.name})" if record else f"View({dtype})")

    @property
    def bare(self) -> "ViewType":
        """Return the type of a slice of the view, which has no record."""
        return ViewType(self.dtype) if self.record else self

    def entry(self, name: str) -> tuple[int, int] | None:
        """Return the first position and the length of an entry of the record, or None."""
        return self.record.places.get(name) if self.record else None


class BlocksType(types.Type):
    """The numba type of a data block with the ints block that describes it; wide numbers take
    `stride` floats each.
    """

    def __init__(self, kind: str, number=types.float64, stride: int = 1):
        self.kind, self.number, self.stride = kind, number, stride
        super().__init__(f"Blocks({kind})")

    def field(self, name: str):
        """Return the type of a field, or None; flags stay plain numbers and derived constants have
        no derivatives.
        """
        if self.kind != "model":
            plain = name in L.PLAIN or (self.kind == "duals" and name in L.CONSTANTS)
            return (
                None
                if name not in WORK_AT
                else ViewType(types.float64 if plain else self.number, RECORD_FIELDS.get(name))
            )
        return (
            None
            if name not in MODEL_AT
            else FLOATS
            if MODEL_AT[name] >= AT_FLOATS
            else ViewType(types.int64, RECORD_FIELDS.get(name))
        )

    def place(self, name: str) -> int:
        """Return the directory index of a field, or -1."""
        return MODEL_AT[name] if self.kind == "model" else WORK_AT[name]


INTS, FLOATS = ViewType(types.int64), ViewType(types.float64)
MODEL, WORK = BlocksType("model"), BlocksType("work")


@register_model(ViewType)
class ViewModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(dmm, fe_type, [("data", types.CPointer(fe_type.dtype)), ("size", INT)])


@register_model(BlocksType)
class BlocksModel(models.StructModel):
    def __init__(self, dmm, fe_type):
        super().__init__(
            dmm,
            fe_type,
            [("ints", types.CPointer(types.int64)), ("data", types.CPointer(types.float64))],
        )


def constant_load(builder, pointer):
    """Emit a load from the ints block, marked as invariant since ints never change."""
    loaded = builder.load(pointer)
    loaded.set_metadata("invariant.load", builder.module.add_metadata([]))
    return loaded


@infer_getattr
class BlocksAttributes(AttributeTemplate):
    key = BlocksType

    def generic_resolve(self, value, attr):
        return value.field(attr)


@lower_getattr_generic(BlocksType)
def lower_field(context, builder, typ, value, attr):
    blocks = cgutils.create_struct_proxy(typ)(context, builder, value)
    at, kind = typ.place(attr), typ.field(attr)
    view = cgutils.create_struct_proxy(kind)(context, builder)
    if at < 0:
        view.data, view.size = blocks.ints, ir.Constant(WORD, HEADER.size)
    else:
        begin = constant_load(builder, builder.gep(blocks.ints, [ir.Constant(WORD, at)]))
        end = constant_load(builder, builder.gep(blocks.ints, [ir.Constant(WORD, at + 1)]))
        if typ.stride == 1:
            view.data = builder.gep(
                blocks.ints if kind.dtype == types.int64 else blocks.data, [begin]
            )
        else:
            start = builder.gep(blocks.data, [builder.mul(begin, ir.Constant(WORD, typ.stride))])
            view.data = builder.bitcast(start, context.get_value_type(types.CPointer(kind.dtype)))
        view.size = builder.sub(end, begin)
    return view._getvalue()


@infer_getattr
class ViewAttributes(AttributeTemplate):
    key = ViewType

    def generic_resolve(self, view, attr):
        entry = view.entry(attr)
        if entry:
            return view.dtype if entry[1] == 1 else view.bare
        return INT if attr == "size" else None


@lower_getattr_generic(ViewType)
def lower_view_attribute(context, builder, typ, value, attr):
    """Emit the size of a view, or an entry of its record: a number, or a view of several."""
    view = cgutils.create_struct_proxy(typ)(context, builder, value)
    entry = typ.entry(attr)
    if not entry:
        return view.size
    pointer = builder.gep(view.data, [ir.Constant(WORD, entry[0])])
    if entry[1] == 1:
        return (
            constant_load(builder, pointer) if typ.dtype == types.int64 else builder.load(pointer)
        )
    part = cgutils.create_struct_proxy(typ.bare)(context, builder)
    part.data, part.size = pointer, ir.Constant(WORD, entry[1])
    return part._getvalue()


@lower_setattr_generic(ViewType)
def lower_set_entry(context, builder, sig, args, attr):
    """Emit the assignment of a record entry."""
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
    builder.store(args[1], builder.gep(data, [ir.Constant(WORD, sig.args[0].entry(attr)[0])]))


@infer_global(len)
class ViewLength(AbstractTemplate):
    def generic(self, args, kws):
        if len(args) == 1 and isinstance(args[0], ViewType):
            return signature(INT, args[0])


@lower_builtin(len, ViewType)
def lower_length(context, builder, sig, args):
    return cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).size


@infer_global(operator.getitem)
class ViewGetItem(AbstractTemplate):
    def generic(self, args, kws):
        view, index = args
        if isinstance(view, ViewType) and isinstance(index, types.Integer):
            return signature(view.dtype, view, INT)
        if isinstance(view, ViewType) and index == types.slice2_type:
            return signature(view.bare, view, index)


@lower_builtin(operator.getitem, ViewType, types.Integer)
def lower_getitem(context, builder, sig, args):
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
    pointer = builder.gep(data, [args[1]])
    return (
        constant_load(builder, pointer)
        if sig.args[0].dtype == types.int64
        else builder.load(pointer)
    )


@lower_builtin(operator.getitem, ViewType, types.SliceType)
def lower_slice(context, builder, sig, args):
    """Emit a slice of a view; bounds must lie within it, a missing end means its end."""
    view = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0])
    part = context.make_helper(builder, sig.args[1], args[1])
    stop = builder.select(builder.icmp_signed("<", part.stop, view.size), part.stop, view.size)
    result = cgutils.create_struct_proxy(sig.return_type)(context, builder)
    result.data = builder.gep(view.data, [part.start])
    result.size = builder.sub(stop, part.start)
    return result._getvalue()


@infer_global(operator.setitem)
class ViewSetItem(AbstractTemplate):
    def generic(self, args, kws):
        view, index, value = args
        number = isinstance(value, types.Number | types.Boolean) or (
            isinstance(view, ViewType) and value == view.dtype
        )
        if isinstance(view, ViewType) and isinstance(index, types.Integer) and number:
            return signature(types.none, view, INT, view.dtype)


@lower_builtin(operator.setitem, ViewType, types.Integer, types.Any)
def lower_setitem(context, builder, sig, args):
    data = cgutils.create_struct_proxy(sig.args[0])(context, builder, args[0]).data
    builder.store(args[2], builder.gep(data, [args[1]]))
    return context.get_dummy_value()


def pointer_of(context, builder, typ, value):
    """Return the data pointer of an array, a view or a C pointer."""
    if isinstance(typ, ViewType):
        return cgutils.create_struct_proxy(typ)(context, builder, value).data
    return (
        context.make_array(typ)(context, builder, value).data
        if isinstance(typ, types.Array)
        else value
    )


def blocks_of(result: BlocksType):
    """Return the code generator shared by the constructors of model and workspace."""

    def generate(context, builder, sig, args):
        blocks = cgutils.create_struct_proxy(result)(context, builder)
        blocks.ints = pointer_of(context, builder, sig.args[0], args[0])
        blocks.data = pointer_of(context, builder, sig.args[1], args[1])
        return blocks._getvalue()

    return generate


@intrinsic
def model_blocks(typingctx, ints, floats):
    """Construct the compiled model on its blocks (arrays or C pointers)."""
    return MODEL(ints, floats), blocks_of(MODEL)


@intrinsic
def work_blocks(typingctx, ints, work):
    """Construct the workspace on its block."""
    return WORK(ints, work), blocks_of(WORK)


def whole_view(view: ViewType):
    """Return the code generator for a view of a whole block whose size does not matter."""

    def generate(context, builder, sig, args):
        result = cgutils.create_struct_proxy(view)(context, builder)
        result.data = pointer_of(context, builder, sig.args[0], args[0])
        result.size = ir.Constant(WORD, 1 << 60)
        return result._getvalue()

    return generate


@intrinsic
def view_ints(typingctx, block):
    """Return a view of a block of integers (array or C pointer)."""
    return INTS(block), whole_view(INTS)


@intrinsic
def view_floats(typingctx, block):
    """Return a view of a block of floats (array or C pointer)."""
    return FLOATS(block), whole_view(FLOATS)


@intrinsic
def blocks_from(typingctx, ints, data, kind):
    """Construct a model (kind 0) or a workspace (kind 1) from pointers; kind is a literal."""
    if not isinstance(kind, types.IntegerLiteral):
        return None
    result = MODEL if kind.literal_value == 0 else WORK
    return result(ints, data, kind), blocks_of(result)


@intrinsic
def view_from(typingctx, pointer, size):
    """Construct a view from a pointer and a size."""
    view = ViewType(pointer.dtype)

    def generate(context, builder, sig, args):
        result = cgutils.create_struct_proxy(view)(context, builder)
        result.data, result.size = args[0], args[1]
        return result._getvalue()

    return view(pointer, INT), generate
