"""Translation of expressions in kernels to C text with types."""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from kinetree.fmu.source import kinds as K
from kinetree.fmu.source.places import field_place

if TYPE_CHECKING:
    from kinetree.fmu.source.program import Program

MATH = (
    "sqrt",
    "sin",
    "cos",
    "tan",
    "asin",
    "acos",
    "atan",
    "atan2",
    "sinh",
    "cosh",
    "tanh",
    "exp",
    "log",
    "pow",
    "copysign",
    "hypot",
)
ARITHMETIC = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*"}
BITS = {ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^", ast.RShift: ">>", ast.LShift: "<<"}
COMPARE = {ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!="}
RESERVED = frozenset(
    "I NAN double int long short float register auto signed near far new this delete class template operator private public and or not".split()
)
Value = tuple[str, Any]


class Expressions:
    """Translation of expressions in one function, given its names and types."""

    def __init__(self, program: Program, outer: dict[str, Any], kinds: dict[str, Any]):
        self.program, self.outer, self.kinds = program, outer, kinds
        self.before: list[str] = []  # statements that the present expression needs first
        self.temporaries: dict[str, Any] = {}

    def constant(self, node: ast.expr) -> Any:
        """Return the Python object of a name that is not local; None if there is none."""
        if isinstance(node, ast.Name):
            return (
                None
                if node.id in self.kinds
                else self.outer.get(node.id, getattr(builtins, node.id, None))
            )
        if isinstance(node, ast.Attribute):
            owner = self.constant(node.value)
            return None if owner is None else getattr(owner, node.attr, None)
        return None

    def value(self, node: ast.expr) -> Value:
        """Return the C text and type of an expression."""
        known = self.constant(node)
        if known is not None and not callable(known):
            return self.program.constant(known)
        return getattr(self, f"on_{type(node).__name__}")(node)

    def real(self, node: ast.expr) -> str:
        """Return the C text of a number as a double."""
        text, kind = self.value(node)
        return text if kind == K.REAL else f"(double)({text})"

    def on_Constant(self, node: ast.Constant) -> Value:
        return K.literal(node.value), K.of_value(node.value)

    def on_Name(self, node: ast.Name) -> Value:
        found = self.constant(node)
        if callable(found):
            return "", K.Function(found)
        if node.id not in self.kinds:
            raise NameError(node.id)
        return self.local(node.id), self.kinds[node.id]

    @staticmethod
    def local(name: str) -> str:
        """Return a C name for a local variable, avoiding keywords and macros."""
        return f"{name}_" if name in RESERVED else name

    def on_Tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(each) for each in node.elts]
        return self.built(parts)

    def built(self, parts: list[Value]) -> Value:
        kind = self.program.tuple_of(tuple(part for _, part in parts))
        inner = ", ".join(text for text, part in parts if not isinstance(part, K.Function))
        return (
            f"(({kind.name}){{{{{inner}}}}})" if kind.even else f"(({kind.name}){{{inner}}})"
        ), kind

    def on_UnaryOp(self, node: ast.UnaryOp) -> Value:
        text, kind = self.value(node.operand)
        if isinstance(node.op, ast.Not):
            return f"(!({text}))", K.BOOLEAN
        return f"(-{text})", K.INTEGER if kind == K.BOOLEAN else kind

    def on_BinOp(self, node: ast.BinOp) -> Value:
        if type(node.op) in BITS:
            (a, kind_a), (b, kind_b) = self.value(node.left), self.value(node.right)
            return f"({a} {BITS[type(node.op)]} {b})", K.joined(kind_a, kind_b)
        if isinstance(node.op, ast.Div):
            return f"({self.real(node.left)} / {self.real(node.right)})", K.REAL
        (a, kind_a), (b, kind_b) = self.value(node.left), self.value(node.right)
        kind = K.joined(K.joined(kind_a, kind_b), K.INTEGER)
        if type(node.op) in ARITHMETIC:
            return f"({a} {ARITHMETIC[type(node.op)]} {b})", kind
        if isinstance(node.op, ast.Pow):
            return (f"({a} * {a})" if b == "2" else f"pow({a}, {b})"), K.REAL
        name = {ast.FloorDiv: "kt_floor_div", ast.Mod: "kt_mod"}[type(node.op)]
        return f"{name}_{'d' if kind == K.REAL else 'i'}({a}, {b})", kind

    def on_BoolOp(self, node: ast.BoolOp) -> Value:
        word = " && " if isinstance(node.op, ast.And) else " || "
        return "(" + word.join(self.value(each)[0] for each in node.values) + ")", K.BOOLEAN

    def on_Compare(self, node: ast.Compare) -> Value:
        parts, left = [], node.left
        for op, right in zip(node.ops, node.comparators, strict=True):
            parts.append(self.compared(op, left, right))
            left = right
        return (parts[0] if len(parts) == 1 else "(" + " && ".join(parts) + ")"), K.BOOLEAN

    def compared(self, op: ast.cmpop, left: ast.expr, right: ast.expr) -> str:
        (a, kind), (b, _) = self.value(left), self.value(right)
        sign = COMPARE[type(op)]
        if isinstance(kind, K.Tuple):  # element by element
            a, b = self.kept((a, kind)), self.kept((b, kind))
            every = " && ".join(
                f"{kind.part(a, k)} == {kind.part(b, k)}" for k in range(len(kind.parts))
            )
            return f"({every})" if sign == "==" else f"(!({every}))"
        return f"({a} {sign} {b})"

    def on_IfExp(self, node: ast.IfExp) -> Value:
        (a, kind_a), (b, kind_b) = self.value(node.body), self.value(node.orelse)
        return f"({self.value(node.test)[0]} ? {a} : {b})", K.joined(kind_a, kind_b)

    def kept(self, value: Value) -> str:
        """Store a value in a temporary variable unless it has a name; return the name."""
        text, kind = value
        if text.isidentifier():
            return text
        name = f"kept{len(self.temporaries) + 1}"
        self.temporaries[name] = kind
        self.before.append(f"{name} = {text};")
        return name

    # -- parts of blocks and views ----------------------------------------------------------------------------------------------------------
    def on_Attribute(self, node: ast.Attribute) -> Value:
        text, kind = self.value(node.value)
        if isinstance(kind, K.Named) and node.attr in kind.record.places:
            return self.entry(node, text, kind)
        if kind in (K.INTS, K.FLOATS) and node.attr == "size":
            return self.view_size(node.value, text), K.INTEGER
        place, element = field_place(kind, node.attr)
        if place < 0:
            return f"((KtInts){{{text}.ints, KT_HEADER}})", element
        data = "ints" if element == K.INTS else "data"
        return (
            f"(({element}){{{text}.{data} + {text}.ints[{place}], {text}.ints[{place + 1}] - {text}.ints[{place}]}})",
            element,
        )

    def entry(self, node: ast.Attribute, text: str, kind: K.Named) -> Value:
        """Return one assignable entry, or several consecutive ones, of a record."""
        at, count = kind.record.places[node.attr]
        data, first = f"{text}.data", str(at)
        if isinstance(node.value, ast.Attribute):  # without the view of the field
            owner, block = self.value(node.value.value)
            if block in (K.MODEL, K.WORK):
                place, element = field_place(block, node.value.attr)
                data = f"{owner}.{'ints' if element == K.INTS else 'data'}"
                first = first if place < 0 else f"{owner}.ints[{place}] + {at}"
        if count == 1:
            return f"{data}[{first}]", K.INTEGER if kind == K.INTS else K.REAL
        return f"(({kind}){{{data} + {first}, {count}}})", str(kind)

    def view_size(self, node: ast.expr, text: str) -> str:
        """Return the C text of a view's size; the view of a field is not created."""
        if isinstance(node, ast.Attribute):
            owner, kind = self.value(node.value)
            if kind in (K.MODEL, K.WORK):
                place, _ = field_place(kind, node.attr)
                return (
                    "KT_HEADER"
                    if place < 0
                    else f"({owner}.ints[{place + 1}] - {owner}.ints[{place}])"
                )
        return f"{text}.size"

    def element(self, node: ast.Subscript) -> Value:
        """Return an assignable element of a view."""
        index, _ = self.value(node.slice)
        if isinstance(node.value, ast.Attribute):
            owner, kind = self.value(node.value.value)
            if kind in (K.MODEL, K.WORK):
                place, element = field_place(kind, node.value.attr)
                if place < 0:
                    return f"{owner}.ints[{index}]", K.INTEGER
                data, number = ("ints", K.INTEGER) if element == K.INTS else ("data", K.REAL)
                return f"{owner}.{data}[{owner}.ints[{place}] + {index}]", number
        text, kind = self.value(node.value)
        if kind in (K.INTS, K.FLOATS):
            return f"{text}.data[{index}]", K.INTEGER if kind == K.INTS else K.REAL
        assert isinstance(kind, K.Tuple)
        name = self.kept((text, kind))
        if isinstance(node.slice, ast.Constant) and isinstance(k := node.slice.value, int):
            return kind.part(name, k), kind.parts[k]
        assert kind.even
        return f"{name}.v[{index}]", kind.parts[0]

    def on_Subscript(self, node: ast.Subscript) -> Value:
        if not isinstance(node.slice, ast.Slice):
            known = self.constant(node.value)
            if (
                isinstance(known, tuple)
                and isinstance(node.slice, ast.Constant)
                and isinstance(k := node.slice.value, int)
            ):
                return self.program.constant(known[k])
            return self.element(node)
        text, kind = self.value(node.value)
        name = self.kept((text, kind))
        first = self.value(node.slice.lower)[0] if node.slice.lower else "0"
        last = (
            f"kt_least({self.value(node.slice.upper)[0]}, {name}.size)"
            if node.slice.upper
            else f"{name}.size"
        )
        return f"(({kind}){{{name}.data + {first}, {last} - ({first})}})", str(kind)

    # -- calls ------------------------------------------------------------------------------------------------------------------------------
    def on_Call(self, node: ast.Call) -> Value:
        callee = self.callee(node.func)
        name = getattr(callee, "__name__", "")
        if callee in (int, float, abs, min, max, len, bool):
            return self.builtin(name, node.args)
        if name in MATH and getattr(callee, "__module__", "") == "math":
            return f"{name}({', '.join(self.real(each) for each in node.args)})", K.REAL
        if name in ("isfinite", "isnan"):
            return f"({name}({self.real(node.args[0])}) != 0)", K.BOOLEAN
        if name in ("floor", "ceil"):
            text = f"{name}({self.real(node.args[0])})"
            return (
                (f"(int64_t){text}", K.INTEGER) if callee.__module__ == "math" else (text, K.REAL)
            )
        if name in ("model_view", "work_view"):
            (ints, _), (data, _) = self.value(node.args[0]), self.value(node.args[1])
            kind = K.MODEL if name == "model_view" else K.WORK
            return (
                f"(({kind}){{{self.kept_view(ints)}.data, {self.kept_view(data, K.FLOATS)}.data}})",
                kind,
            )
        if name in ("ints_view", "floats_view"):
            return self.value(node.args[0])
        if record := getattr(callee, "kinetree_block", None):
            text, kind = self.value(node.args[0])
            return text, K.Named(kind, record)
        if record := getattr(callee, "kinetree_record", None):
            (table, kind), (k, _) = self.value(node.args[0]), self.value(node.args[1])
            return f"(({kind}){{{table}.data + {record.size} * ({k}), {record.size}}})", K.Named(
                kind, record
            )
        if getattr(callee, "kinetree_hook", ""):
            return "KT_RAISED", K.INTEGER
        if getattr(callee, "kinetree_own", ""):
            return f"kt_call_own({', '.join(self.value(each)[0] for each in node.args)})", K.INTEGER
        arguments = [self.value(each) for each in node.args]
        own, result = self.program.request(callee, tuple(kind for _, kind in arguments))
        return (
            f"{own}({', '.join(text for text, kind in arguments if not isinstance(kind, K.Function))})",
            result,
        )

    def callee(self, node: ast.expr) -> Any:
        """Return the Python function that a call refers to, which may be an argument of the kernel."""
        if isinstance(node, ast.Name) and isinstance(self.kinds.get(node.id), K.Function):
            return self.kinds[node.id].function
        return self.constant(node)

    def kept_view(self, text: str, kind: str = K.INTS) -> str:
        return self.kept((text, kind))

    def builtin(self, name: str, arguments: list[ast.expr]) -> Value:
        values = [self.value(each) for each in arguments]
        text, kind = values[0]
        if name == "len":
            return (
                (str(len(kind.parts)), K.INTEGER)
                if isinstance(kind, K.Tuple)
                else (self.view_size(arguments[0], text), K.INTEGER)
            )
        if name == "int":
            return f"(int64_t)({text})", K.INTEGER
        if name == "float":
            return f"(double)({text})", K.REAL
        if name == "bool":
            return f"(({text}) != 0)", K.BOOLEAN
        if name == "abs":
            return (
                (f"fabs({text})", K.REAL) if kind == K.REAL else (f"kt_absolute({text})", K.INTEGER)
            )
        for other, other_kind in values[1:]:
            kind = K.joined(kind, other_kind)
            text = f"kt_{name}_{'d' if kind == K.REAL else 'i'}({text}, {other})"
        return text, kind
