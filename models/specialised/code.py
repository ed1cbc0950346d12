"""LLVM text of a trace: one straight-line function (t, arrays, out) -> status, and a loop over many states.

Sines and cosines are those of the engine (quarter turns taken off in three parts, polynomials of fdlibm), in line and without a jump. Status 1: a
condition of the trace does not hold, or an angle is beyond the range of that reduction; what is in `out` then does not count.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator

from kinetree.models.trace.kernels import KERNELS
from kinetree.models.trace.trace import Trace

ARRAYS = ("q", "u", "x", "inputs", "parameters")
FLAGS = "contract nsz arcp"
BINARY = {"+": "fadd", "-": "fsub", "*": "fmul", "/": "fdiv"}
COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
INTRINSIC = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "exp": "exp", "log": "log"}
LIBM = ("tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")
HELPERS = """
define internal double @kt_mod(double %a, double %b) alwaysinline {
  %r = frem double %a, %b
  %off = fcmp une double %r, 0.0
  %ra = fcmp olt double %r, 0.0
  %rb = fcmp olt double %b, 0.0
  %other = xor i1 %ra, %rb
  %turn = and i1 %off, %other
  %moved = fadd double %r, %b
  %out = select i1 %turn, double %moved, double %r
  ret double %out
}
"""


def real(x: float) -> str:
    """A constant, exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', x))[0]:016X}"


class Code:
    """Lines of one function."""

    def __init__(self, trace: Trace):
        self.trace, self.tape = trace, trace.tape
        self.lines: list[str] = []
        self.count = 0
        self.value: dict[int, str] = {}
        self.turned: dict[int, tuple[str, str]] = {}  # angle -> sine and cosine
        self.valid: list[str] = []
        self.called: set[str] = set()

    def new(self, text: str) -> str:
        """A line with a name for its result."""
        self.count += 1
        self.lines.append(f"  %v{self.count} = {text}")
        return f"%v{self.count}"

    def op(self, name: str, a: str, b: str) -> str:
        return self.new(f"{name} {FLAGS} double {a}, {b}")

    def exact(self, name: str, a: str, b: str) -> str:
        """An operation that no other may be merged with."""
        return self.new(f"{name} double {a}, {b}")

    def polynomial(self, z: str, c: tuple[float, ...]) -> str:
        """c0 + c1 z + ..."""
        found = real(c[-1])
        for each in reversed(c[:-1]):
            found = self.op("fadd", self.op("fmul", z, found), real(each))
        return found

    def sine_and_cosine(self, angle: str) -> tuple[str, str]:
        """Both of one angle, as `algebra.trigonometry` has them."""
        source = KERNELS.original("algebra.trigonometry")
        quarter, sine, cosine, most = source.QUARTER, source.SINE, source.COSINE, source.MOST_TURNS
        turns = self.new(f"call double @llvm.floor.f64(double {self.op('fadd', self.op('fmul', angle, real(0.6366197723675814)), real(0.5))})")
        size = self.new(f"call double @llvm.fabs.f64(double {turns})")
        self.valid.append(self.new(f"fcmp olt double {size}, {real(most)}"))
        high = self.exact("fsub", angle, self.exact("fmul", turns, real(quarter[0])))
        low = self.exact("fmul", turns, real(quarter[1]))
        r = self.exact("fsub", high, low)
        lost = self.exact("fsub", self.exact("fsub", high, r), low)
        r = self.exact("fsub", r, self.exact("fsub", self.exact("fmul", turns, real(quarter[2])), lost))
        z = self.op("fmul", r, r)
        s = self.op("fadd", r, self.op("fmul", self.op("fmul", r, z), self.polynomial(z, sine)))
        inner = self.op("fsub", self.op("fmul", real(0.5), z), self.op("fmul", self.op("fmul", z, z), self.polynomial(z, cosine)))
        c = self.op("fsub", real(1.0), inner)
        k = self.new(f"fptosi double {turns} to i64")
        odd = self.new(f"trunc i64 {k} to i1")
        a = self.new(f"select i1 {odd}, double {c}, double {s}")
        b = self.new(f"select i1 {odd}, double {s}, double {c}")
        half = self.new(f"lshr i64 {k}, 1")
        back_s = self.new(f"trunc i64 {half} to i1")
        following = self.new(f"add i64 {k}, 1")
        half = self.new(f"lshr i64 {following}, 1")
        back_c = self.new(f"trunc i64 {half} to i1")
        minus_a, minus_b = self.new(f"fneg double {a}"), self.new(f"fneg double {b}")
        return self.new(f"select i1 {back_s}, double {minus_a}, double {a}"), self.new(f"select i1 {back_c}, double {minus_b}, double {b}")

    def node(self, i: int) -> str:
        """The value of a node, once."""
        kind, *rest = self.tape.nodes[i]
        if kind == "const":
            return real(rest[0])
        if kind == "symbol":
            group, k = rest
            if group == "t":
                return "%t"
            pointer = self.new(f"getelementptr double, ptr %{group}, i64 {k}")
            return self.new(f"load double, ptr {pointer}")
        a = [self.value[each] for each in rest]
        if kind in BINARY:
            return self.op(BINARY[kind], *a)
        if kind == "neg":
            return self.new(f"fneg double {a[0]}")
        if kind in ("sin", "cos"):
            if rest[0] not in self.turned:
                self.turned[rest[0]] = self.sine_and_cosine(a[0])
            return self.turned[rest[0]][kind == "cos"]
        if kind in COMPARE:
            return self.new(f"fcmp {COMPARE[kind]} double {a[0]}, {a[1]}")
        if kind in ("and", "or"):
            return self.new(f"{kind} i1 {a[0]}, {a[1]}")
        if kind == "not":
            return self.new(f"xor i1 {a[0]}, true")
        if kind == "select":
            return self.new(f"select i1 {a[0]}, double {a[1]}, double {a[2]}")
        return self.called_function(kind, a)

    def called_function(self, kind: str, a: list[str]) -> str:
        """Functions of LLVM or of the C library."""
        if kind in INTRINSIC:
            name = f"llvm.{INTRINSIC[kind]}.f64"
            self.called.add(f"declare double @{name}(double)")
            return self.new(f"call double @{name}(double {a[0]})")
        if kind == "mod":
            return self.new(f"call double @kt_mod(double {a[0]}, double {a[1]})")
        arguments = ", ".join(f"double {each}" for each in a)
        self.called.add(f"declare double @{kind}({', '.join(['double'] * len(a))})")
        return self.new(f"call double @{kind}({arguments})")

    def body(self) -> Iterator[str]:
        """All lines of the function."""
        for i in self.trace.live:
            self.value[i] = self.node(i)
        for k, i in enumerate(self.trace.results):
            pointer = self.new(f"getelementptr double, ptr %out, i64 {k}")
            self.lines.append(f"  store double {self.value[i]}, ptr {pointer}")
        for i, outcome in self.trace.watches:
            self.valid.append(self.value[i] if outcome else self.new(f"xor i1 {self.value[i]}, true"))
        good = "true"
        for each in self.valid:
            good = self.new(f"and i1 {good}, {each}")
        status = self.new(f"select i1 {good}, i32 0, i32 1")
        yield from self.lines
        yield f"  ret i32 {status}"


def llvm_text(trace: Trace) -> str:
    """A module with `evaluate`, and with `many` for rows of states."""
    code = Code(trace)
    lines = list(code.body())
    declared = code.called | {"declare double @llvm.floor.f64(double)", "declare double @llvm.fabs.f64(double)"}
    arrays = ", ".join(f"ptr noalias readonly %{each}" for each in ARRAYS)
    head = f"define i32 @evaluate(double %t, {arrays}, ptr noalias %out) {{"
    return "\n".join([*sorted(declared), HELPERS if "mod" in trace.counts else "", head, *lines, "}", many(trace)])


def many(trace: Trace) -> str:
    """Loop over rows of q and u; t, x, inputs and parameters are the same for all. Returns the first row that is not valid, or the count."""
    nq, nu = len(trace.arguments["q"]), len(trace.arguments["u"])
    return f"""
define i64 @many(i64 %count, double %t, ptr %q, ptr %u, ptr %x, ptr %inputs, ptr %parameters, ptr %out) {{
entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%more, %row]
  %end = icmp sge i64 %k, %count
  br i1 %end, label %done, label %row
row:
  %aq = mul i64 %k, {nq}
  %au = mul i64 %k, {nu}
  %ao = mul i64 %k, {len(trace.results)}
  %pq = getelementptr double, ptr %q, i64 %aq
  %pu = getelementptr double, ptr %u, i64 %au
  %po = getelementptr double, ptr %out, i64 %ao
  %s = call i32 @evaluate(double %t, ptr %pq, ptr %pu, ptr %x, ptr %inputs, ptr %parameters, ptr %po)
  %bad = icmp ne i32 %s, 0
  %more = add i64 %k, 1
  br i1 %bad, label %done, label %next
done:
  ret i64 %k
}}
"""
