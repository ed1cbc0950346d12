"""Translation of one kernel to C for given argument types; the types of its variables are inferred
by iteration.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from kinetree.fmu.source import kinds as K
from kinetree.fmu.source.expressions import Expressions, Value

if TYPE_CHECKING:
    from kinetree.fmu.source.program import Program


class Kernel(Expressions):
    """One kernel with one combination of argument types."""

    def __init__(self, program: Program, function: Callable, arguments: Sequence[Any]):
        tree = ast.parse(textwrap.dedent(inspect.getsource(function))).body[0]
        assert isinstance(tree, ast.FunctionDef)
        self.tree, self.function = tree, function
        self.parameters = [each.arg for each in tree.args.args]
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        outer = {**function.__globals__, **{name: cell.cell_contents for name, cell in cells}}
        super().__init__(program, outer, dict(zip(self.parameters, arguments, strict=True)))
        self.result: Any = None
        self.lines: list[str] = []
        self.depth = 1
        self.loops = 0

    def translated(self, name: str) -> list[str]:
        """Return the lines of the C function."""
        before: tuple = ()
        while True:
            self.lines, self.temporaries, self.loops = [], {}, 0
            self.block(self.tree.body)
            now = (dict(self.kinds), self.result, dict(self.temporaries))
            if now == before:
                break
            before = now
        result = K.NOTHING if self.result is None else K.c_name(self.result)
        given = [
            (each, self.kinds[each])
            for each in self.parameters
            if not isinstance(self.kinds[each], K.Function)
        ]
        locals_ = {
            each: kind
            for each, kind in self.kinds.items()
            if each not in self.parameters and not isinstance(kind, K.Function)
        }
        head = f"static {result} {name}({', '.join(f'{K.c_name(kind)} {self.local(each)}' for each, kind in given) or 'void'})"
        lines = [f"/* {(ast.get_docstring(self.tree) or name).splitlines()[0]} */", head, "{"]
        for each, kind in {**locals_, **self.temporaries}.items():
            lines.append(f"    {K.c_name(kind)} {self.local(each)} = {K.zero(kind)};")
        lines += [
            f"    (void){self.local(each)};" for each in [each for each, _ in given] + list(locals_)
        ]
        lines += self.lines
        if self.result is not None and not isinstance(self.tree.body[-1], ast.Return):
            lines.append(
                f"    return {'0' if self.result in K.NUMBERS else f'(({result}){K.zero(self.result)})'};"
            )
        return [*lines, "}"]

    # -- lines ------------------------------------------------------------------------------------------------------------------------------
    def say(self, text: str) -> None:
        """Append a line of C, after the lines that its expressions need."""
        for each in self.before:
            self.lines.append("    " * self.depth + each)
        self.before.clear()
        self.lines.append("    " * self.depth + text)

    def block(self, body: Sequence[ast.stmt]) -> None:
        for statement in body:
            getattr(self, f"on_{type(statement).__name__}")(statement)

    def inside(self, body: Sequence[ast.stmt]) -> None:
        self.depth += 1
        self.block(body)
        self.depth -= 1

    # -- statements -------------------------------------------------------------------------------------------------------------------------
    def on_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.say(f"{self.value(node.value)[0]};")

    def on_Pass(self, node: ast.Pass) -> None:
        self.say(";")

    def on_Return(self, node: ast.Return) -> None:
        if node.value is None:
            self.say("return;")
            return
        text, kind = self.value(node.value)
        self.result = K.joined(self.result, kind)
        if isinstance(self.result, K.Tuple):
            self.result = self.program.tuple_of(self.result.parts)
        self.say(f"return {self.converted(text, kind, self.result)};")

    def converted(self, text: str, kind: Any, wanted: Any) -> str:
        """Return the C text of a value converted to another type."""
        if kind == wanted or not isinstance(wanted, K.Tuple):
            return text
        assert isinstance(kind, K.Tuple)
        name = self.kept((text, kind))
        inner = ", ".join(kind.part(name, k) for k in range(len(kind.parts)))
        return (
            f"(({wanted.name}){{{{{inner}}}}})" if wanted.even else f"(({wanted.name}){{{inner}}})"
        )

    def on_Assign(self, node: ast.Assign) -> None:
        known = node.value
        if (
            len(node.targets) == 1
            and isinstance(node.targets[0], ast.Tuple)
            and isinstance(known, ast.Tuple)
        ):
            parts = [self.value(each) for each in known.elts]
            if len(parts) > 1:  # all are read before the first is written
                parts = [
                    part if isinstance(part[1], K.Function) else (self.fresh(part), part[1])
                    for part in parts
                ]
            for target, part in zip(node.targets[0].elts, parts, strict=True):
                self.store(target, part)
            return
        value = self.value(known)
        if len(node.targets) > 1:
            value = (self.kept(value), value[1])
        for target in node.targets:
            self.store(target, value)

    def fresh(self, value: Value) -> str:
        """Store a copy of a value in a new temporary variable and return its name."""
        name = f"kept{len(self.temporaries) + 1}"
        self.temporaries[name] = value[1]
        self.before.append(f"{name} = {value[0]};")
        return name

    def store(self, target: ast.expr, value: Value) -> None:
        text, kind = value
        if isinstance(target, ast.Tuple):
            assert isinstance(kind, K.Tuple)
            name = self.kept(value)
            for k, each in enumerate(target.elts):
                self.store(each, (kind.part(name, k), kind.parts[k]))
        elif isinstance(target, ast.Name) and target.id == "_":
            if not text.startswith("kept"):
                self.say(f"(void){text};")
        elif isinstance(target, ast.Name):
            now = (
                K.joined(self.kinds.get(target.id), kind)
                if not isinstance(kind, K.Function)
                else kind
            )
            self.kinds[target.id] = (
                self.program.tuple_of(now.parts) if isinstance(now, K.Tuple) else now
            )
            if not isinstance(kind, K.Function):
                self.say(
                    f"{self.local(target.id)} = {self.converted(text, kind, self.kinds[target.id])};"
                )
        else:
            place, _ = (
                self.element(target) if isinstance(target, ast.Subscript) else self.value(target)
            )
            self.say(f"{place} = {text};")

    def on_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult)) and not isinstance(
            node.target, ast.Name
        ):
            value, _ = self.value(node.value)
            place, _ = (
                self.element(node.target)
                if isinstance(node.target, ast.Subscript)
                else self.value(node.target)
            )
            self.say(
                f"{place} {'+' if isinstance(node.op, ast.Add) else '-' if isinstance(node.op, ast.Sub) else '*'}= {value};"
            )
            return
        self.store(node.target, self.value(ast.BinOp(node.target, node.op, node.value)))

    def on_If(self, node: ast.If) -> None:
        self.say(f"if ({bare(self.value(node.test)[0])}) {{")
        self.inside(node.body)
        if node.orelse:
            self.say("} else {")
            self.inside(node.orelse)
        self.say("}")

    def on_While(self, node: ast.While) -> None:
        text, _ = self.value(node.test)
        if self.before:  # what the condition needs is found anew in each round
            self.lines.append("    " * self.depth + "for (;;) {")
            self.depth += 1
            self.say(f"if (!({text})) break;")
            self.block(node.body)
            self.depth -= 1
        else:
            self.say("for (;;) {" if text == "1" else f"while ({bare(text)}) {{")
            self.inside(node.body)
        self.say("}")

    def on_For(self, node: ast.For) -> None:
        assert isinstance(node.target, ast.Name)
        if not isinstance(node.iter, ast.Call):
            self.over_tuple(node, node.target.id)
            return
        values = [self.value(each)[0] for each in node.iter.args]
        first, last = ("0", values[0]) if len(values) == 1 else values[:2]
        step = values[2] if len(values) > 2 else "1"
        self.loops += 1
        end, count, name = f"end{self.loops}", f"next{self.loops}", self.local(node.target.id)
        self.kinds[node.target.id] = K.INTEGER
        self.temporaries[end] = self.temporaries[count] = K.INTEGER
        self.say(f"{end} = {last};")
        down = step.startswith("(-")
        self.say(
            f"for ({count} = {first}; {count} {'>' if down else '<'} {end}; {count} += {step}) {{"
        )
        self.lines.append("    " * (self.depth + 1) + f"{name} = {count};")
        self.inside(node.body)
        self.say("}")

    def over_tuple(self, node: ast.For, name: str) -> None:
        """Translate a loop over the parts of a tuple, which have one type."""
        text, kind = self.value(node.iter)
        assert isinstance(kind, K.Tuple) and kind.even
        whole = self.kept((text, kind))
        self.loops += 1
        count = f"next{self.loops}"
        self.kinds[name], self.temporaries[count] = kind.parts[0], K.INTEGER
        self.say(f"for ({count} = 0; {count} < {len(kind.parts)}; {count} += 1) {{")
        self.lines.append("    " * (self.depth + 1) + f"{self.local(name)} = {whole}.v[{count}];")
        self.inside(node.body)
        self.say("}")

    def on_Break(self, node: ast.Break) -> None:
        self.say("break;")

    def on_Continue(self, node: ast.Continue) -> None:
        self.say("continue;")


def bare(text: str) -> str:
    """Return a C condition without its outer brackets."""
    if not text.startswith("(") or not text.endswith(")"):
        return text
    depth = 0
    for k, each in enumerate(text):
        depth += (each == "(") - (each == ")")
        if depth == 0 and k < len(text) - 1:
            return text
    return text[1:-1]
