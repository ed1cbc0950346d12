"""LLVM text of the operations of a trace, on numbers or in lanes of vector registers.

Sines and cosines use the algorithm of the engine (reduction by quarter turns in three parts,
polynomials of fdlibm), inlined and without branches. Status 1: a condition of the trace does not
hold, or an angle is beyond the range of that reduction; the values in `out` are then invalid.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from kinetree.models.trace.operations import CONDITIONS
from kinetree.models.trace.symbolic_kernels import KERNELS
from kinetree.models.trace.trace import Trace

FLAGS = "contract nsz arcp"
BINARY = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
INTRINSIC = {
    "sqrt": "sqrt",
    "abs": "fabs",
    "floor": "floor",
    "ceil": "ceil",
    "exp": "exp",
    "log": "log",
}


def real(x: float) -> str:
    """Return a floating-point constant as exact LLVM text."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Code:
    """LLVM lines of one function, on numbers or on lanes of `width` numbers."""

    def __init__(self, trace: Trace, width: int = 1):
        self.trace, self.tape, self.width = trace, trace.tape, width
        wide = width > 1
        self.double, self.bit, self.word = (
            f"<{width} x {each}>" if wide else each for each in ("double", "i1", "i64")
        )
        self.suffix = f"v{width}f64" if wide else "f64"
        sizes = [1, *(len(names) for names in trace.arguments.values())]
        self.first = dict(
            zip(("t", *trace.arguments), [sum(sizes[:k]) for k in range(len(sizes))], strict=True)
        )  # rows of lanes
        self.lines: list[str] = []
        self.count = 0
        self.value: dict[int, str] = {}
        self.turned: dict[int, tuple[str, str]] = {}  # angle -> sine and cosine
        self.valid: list[str] = []
        self.called: set[str] = set()

    def new(self, text: str) -> str:
        """Append a line and return the name of its result."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def constant(self, x: float) -> str:
        """Return a constant repeated in every lane."""
        return f"splat (double {real(x)})" if self.width > 1 else real(x)

    def whole(self, k: int) -> str:
        return f"splat (i64 {k})" if self.width > 1 else str(k)

    def op(self, name: str, a: str, b: str) -> str:
        return self.new(f"{name} {FLAGS} {self.double} {a}, {b}")

    def choose(self, condition: str, a: str, b: str) -> str:
        return self.new(f"select {self.bit} {condition}, {self.double} {a}, {self.double} {b}")

    def negative(self, a: str) -> str:
        return self.new(f"fneg {self.double} {a}")

    def compare(self, sign: str, a: str, b: str) -> str:
        return self.new(f"fcmp {sign} {self.double} {a}, {b}")

    def intrinsic(self, name: str, a: str) -> str:
        """Emit a call of an LLVM intrinsic function."""
        full = f"llvm.{name}.{self.suffix}"
        self.called.add(f"declare {self.double} @{full}({self.double})")
        return self.new(f"call {self.double} @{full}({self.double} {a})")

    def exact(self, name: str, a: str, b: str) -> str:
        """Emit an operation that LLVM must not fuse with another one, for reproducible rounding."""
        return self.new(f"{name} {self.double} {a}, {b}")

    def polynomial(self, z: str, c: tuple[float, ...]) -> str:
        """Emit the polynomial c0 + c1 z + ...."""
        found = self.constant(c[-1])
        for each in reversed(c[:-1]):
            found = self.op("fadd", self.op("fmul", z, found), self.constant(each))
        return found

    def sine_and_cosine(self, angle: str) -> tuple[str, str]:
        """Emit sine and cosine of one angle by the algorithm of `algebra.trigonometry`."""
        source = KERNELS.original("algebra.trigonometry")
        quarter = [self.constant(each) for each in source.QUARTER]
        quarters = self.op("fmul", angle, self.constant(0.6366197723675814))
        turns = self.intrinsic("floor", self.op("fadd", quarters, self.constant(0.5)))
        self.valid.append(
            self.compare("olt", self.intrinsic("fabs", turns), self.constant(source.MOST_TURNS))
        )
        high = self.exact("fsub", angle, self.exact("fmul", turns, quarter[0]))
        low = self.exact("fmul", turns, quarter[1])
        r = self.exact("fsub", high, low)
        lost = self.exact("fsub", self.exact("fsub", high, r), low)
        r = self.exact("fsub", r, self.exact("fsub", self.exact("fmul", turns, quarter[2]), lost))
        z = self.op("fmul", r, r)
        s = self.op(
            "fadd", r, self.op("fmul", self.op("fmul", r, z), self.polynomial(z, source.SINE))
        )
        inner = self.op("fmul", self.op("fmul", z, z), self.polynomial(z, source.COSINE))
        c = self.op(
            "fsub",
            self.constant(1.0),
            self.op("fsub", self.op("fmul", self.constant(0.5), z), inner),
        )
        k = self.new(f"fptosi {self.double} {turns} to {self.word}")
        odd = self.new(f"trunc {self.word} {k} to {self.bit}")
        a, b = self.choose(odd, c, s), self.choose(odd, s, c)
        back_s, back_c = (
            self.second_bit(k),
            self.second_bit(self.new(f"add {self.word} {k}, {self.whole(1)}")),
        )
        return self.choose(back_s, self.negative(a), a), self.choose(back_c, self.negative(b), b)

    def second_bit(self, k: str) -> str:
        half = self.new(f"lshr {self.word} {k}, {self.whole(1)}")
        return self.new(f"trunc {self.word} {half} to {self.bit}")

    def symbol(self, group: str, k: int) -> str:
        """Return the LLVM operand of argument k of a group; in lanes every argument has a row of
        states.
        """
        if self.width > 1 and group != "parameters":
            at = self.new(f"mul i64 %stride, {self.first[group] + k}")
            pointer = self.new(f"getelementptr double, ptr %rows, i64 {at}")
            return self.new(f"load {self.double}, ptr {pointer}, align 8")
        if group == "t":
            return "%t"
        pointer = self.new(f"getelementptr double, ptr %{group}, i64 {k}")
        number = self.new(f"load double, ptr {pointer}")
        if self.width == 1:
            return number
        one = self.new(f"insertelement {self.double} poison, double {number}, i64 0")
        return self.new(
            f"shufflevector {self.double} {one}, {self.double} poison, <{self.width} x i32> zeroinitializer"
        )

    def node(self, i: int) -> str:
        """Return the LLVM operand of a node, which is emitted once."""
        kind, *rest = self.tape.nodes[i]
        if kind == "const":
            return self.constant(rest[0])
        if kind == "symbol":
            return self.symbol(*rest)
        a = [self.value[each] for each in rest]
        if kind in BINARY:
            return self.op(BINARY[kind], *a)
        if kind == "neg":
            return self.negative(a[0])
        if kind in ("sin", "cos"):
            if rest[0] not in self.turned:
                self.turned[rest[0]] = self.sine_and_cosine(a[0])
            return self.turned[rest[0]][kind == "cos"]
        if kind in COMPARE:
            return self.compare(COMPARE[kind], *a)
        if kind in ("and", "or"):
            return self.new(f"{kind} {self.bit} {a[0]}, {a[1]}")
        if kind == "not":
            return self.opposite(a[0])
        if kind == "select":
            return self.choose(*a)
        if kind == "mod":
            return self.modulo(*a)
        return (
            self.intrinsic(INTRINSIC[kind], a[0])
            if kind in INTRINSIC
            else self.called_function(kind, a)
        )

    def opposite(self, condition: str) -> str:
        return self.new(
            f"xor {self.bit} {condition}, {'splat (i1 true)' if self.width > 1 else 'true'}"
        )

    def modulo(self, a: str, b: str) -> str:
        """Emit the remainder of a/b with the sign of b."""
        r, zero = self.exact("frem", a, b), self.constant(0.0)
        other = self.new(
            f"xor {self.bit} {self.compare('olt', r, zero)}, {self.compare('olt', b, zero)}"
        )
        turn = self.new(f"and {self.bit} {self.compare('une', r, zero)}, {other}")
        return self.choose(turn, self.exact("fadd", r, b), r)

    def called_function(self, kind: str, a: list[str]) -> str:
        """Emit a call of a C library function, lane by lane."""
        self.called.add(f"declare double @{kind}({', '.join(['double'] * len(a))})")
        if self.width == 1:
            return self.new(f"call double @{kind}({', '.join(f'double {each}' for each in a)})")
        found = "poison"
        for lane in range(self.width):
            numbers = [self.new(f"extractelement {self.double} {each}, i64 {lane}") for each in a]
            one = self.new(
                f"call double @{kind}({', '.join(f'double {each}' for each in numbers)})"
            )
            found = self.new(f"insertelement {self.double} {found}, double {one}, i64 {lane}")
        return found

    def further_conditions(self, results: Sequence[int], first: bool) -> list[str]:
        """Return additional conditions, as LLVM operands, on the results of one block."""
        return []

    def begun(self) -> None:
        """Reset the code to start a new function."""
        self.lines, self.count, self.value, self.turned, self.valid = [], 0, {}, {}, []

    def block(
        self,
        items: Sequence[int],
        results: Sequence[int],
        watches: Sequence[tuple[int, bool]],
        first: bool,
    ) -> None:
        """Emit the code of nodes, results (by number) and conditions."""
        for i in items:
            self.value[i] = self.node(i)
        for k in results:
            at = self.new(f"mul i64 %stride, {k}") if self.width > 1 else str(k)
            pointer = self.new(f"getelementptr double, ptr %out, i64 {at}")
            self.lines.append(
                f"  store {self.double} {self.value[self.trace.results[k]]}, ptr {pointer}, align 8"
            )
        for i, outcome in watches:
            self.valid.append(self.value[i] if outcome else self.opposite(self.value[i]))
        self.valid += self.further_conditions([self.trace.results[k] for k in results], first)

    def status(self) -> None:
        """Emit the status: 0 if all conditions hold."""
        good = "splat (i1 true)" if self.width > 1 else "true"
        for each in self.valid:
            good = self.new(f"and {self.bit} {good}, {each}")
        if self.width > 1:
            self.called.add(f"declare i1 @llvm.vector.reduce.and.v{self.width}i1({self.bit})")
            good = self.new(f"call i1 @llvm.vector.reduce.and.v{self.width}i1({self.bit} {good})")
        found = self.new(f"select i1 {good}, i32 0, i32 1")
        self.lines.append(f"  ret i32 {found}")

    def place(self, k: int) -> str:
        """Return the pointer to a value that is shared between blocks."""
        return self.new(f"getelementptr double, ptr %kept, i64 {k * self.width}")

    def read(self, i: int, k: int) -> None:
        """Emit the load of a value computed in an earlier block."""
        value = self.new(f"load {self.double}, ptr {self.place(k)}, align 8")
        condition = self.tape.nodes[i][0] in CONDITIONS
        self.value[i] = self.compare("une", value, self.constant(0.0)) if condition else value

    def keep(self, i: int, k: int) -> None:
        """Emit the store of a value for later blocks."""
        value = self.value[i]
        if self.tape.nodes[i][0] in CONDITIONS:
            value = self.new(f"uitofp {self.bit} {value} to {self.double}")
        self.lines.append(f"  store {self.double} {value}, ptr {self.place(k)}, align 8")
