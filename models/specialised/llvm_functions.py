"""LLVM functions: one straight line of code, or several blocks that pass values in an array; loops
over many states.
"""

from __future__ import annotations

from collections.abc import Sequence

from kinetree.models.specialised.llvm_operations import Code
from kinetree.models.trace.function_splitting import blocks
from kinetree.models.trace.trace import Trace

ARRAYS = ("q", "u", "x", "inputs", "parameters")


def function(code: Code, name: str, parameters: Sequence[str], linkage: str = "") -> str:
    """Return an LLVM function; long code is split into functions that pass values in `kept`."""
    trace, tape = code.trace, code.tape
    given = [i for i in trace.live if tape.nodes[i][0] in ("const", "symbol")]
    known = set(given)
    order = [i for i in trace.live if i not in known]
    found, places = blocks(
        order, {i: [each for each in tape.nodes[i][1:] if each not in known] for i in order}
    )
    at = {i: number for number, block in enumerate(found) for i in block.items}
    several, texts = len(found) > 1, []
    for number, block in enumerate(found):
        code.begun()
        for i, k in block.reads.items():
            code.read(i, k)
        last = len(found) - 1
        results = [k for k, i in enumerate(trace.results) if at.get(i, last) == number]
        watches = [watch for watch in trace.watches if at.get(watch[0], last) == number]
        needed = {each for i in block.items for each in tape.nodes[i][1:] if each in known}
        needed |= {trace.results[k] for k in results} & known
        code.block(sorted([*block.items, *needed]), results, watches, number == 0)
        for i, k in block.writes.items():
            code.keep(i, k)
        code.status()
        more = ["ptr noalias %kept"] if several else []
        own = f"internal i32 @{name}_{number}" if several else f"{linkage}i32 @{name}"
        texts.append(
            "\n".join(
                [
                    f"define {own}({', '.join([*parameters, *more])}) {'noinline ' if several else ''}{{",
                    *code.lines,
                    "}",
                ]
            )
        )
    return "\n".join(
        [
            *texts,
            *(
                [in_turn(name, parameters, linkage, len(found), places * code.width)]
                if several
                else []
            ),
        ]
    )


def in_turn(name: str, parameters: Sequence[str], linkage: str, count: int, kept: int) -> str:
    """Return the function that calls all blocks; it returns 0 if all of them do."""
    passed = ", ".join(
        [*(f"{each.split()[0]} {each.split()[-1]}" for each in parameters), "ptr %kept"]
    )
    lines = [f"  %kept = alloca [{kept} x double], align 64"]
    lines += [f"  %s{k} = call i32 @{name}_{k}({passed})" for k in range(count)]
    lines += [
        f"  %a{k} = or i32 {f'%a{k - 1}' if k > 1 else '%s0'}, %s{k}" for k in range(1, count)
    ]
    return "\n".join(
        [
            f"define {linkage}i32 @{name}({', '.join(parameters)}) {{",
            *lines,
            f"  ret i32 %a{count - 1}",
            "}",
        ]
    )


def llvm_text(trace: Trace) -> str:
    """Return an LLVM module with `evaluate`, and `many` for rows of states."""
    code = Code(trace)
    whole = function(
        code,
        "evaluate",
        ["double %t", *(f"ptr noalias readonly %{each}" for each in ARRAYS), "ptr noalias %out"],
    )
    return "\n".join([*sorted(code.called), whole, many(trace)])


def lanes_text(trace: Trace, width: int = 8) -> str:
    """Return an LLVM module with `lanes`, which evaluates `count` times `width` states in rows of
    `stride` numbers, one row for t and each of q, u, x and the inputs.

    The generated function returns the number of blocks before the first invalid one.
    """
    code = Code(trace, width)
    parameters = [
        "i64 %stride",
        "ptr noalias readonly %rows",
        "ptr noalias readonly %parameters",
        "ptr noalias %out",
    ]
    whole = function(code, "block", parameters, "internal ")
    return "\n".join(
        [*sorted(code.called), whole, LANES_LOOP.replace("LOOP", LOOP).replace("WIDTH", str(width))]
    )


LOOP = """entry:
  br label %next
next:
  %k = phi i64 [0, %entry], [%more, %row]
  %end = icmp sge i64 %k, %count
  br i1 %end, label %done, label %row
row:
"""  # over k below %count; ends at %done
LANES_LOOP = """
define i64 @lanes(i64 %count, i64 %stride, ptr %rows, ptr %parameters, ptr %out) {
LOOP  %at = mul i64 %k, WIDTH
  %pr = getelementptr double, ptr %rows, i64 %at
  %po = getelementptr double, ptr %out, i64 %at
  %s = call i32 @block(i64 %stride, ptr %pr, ptr %parameters, ptr %po)
  %bad = icmp ne i32 %s, 0
  %more = add i64 %k, 1
  br i1 %bad, label %done, label %next
done:
  ret i64 %k
}
"""


def many(trace: Trace) -> str:
    """Return LLVM code of the loop over rows of q and u; the generated function returns the first
    invalid row, or the count.
    """
    nq, nu = len(trace.arguments["q"]), len(trace.arguments["u"])
    return f"""
define i64 @many(i64 %count, double %t, ptr %q, ptr %u, ptr %x, ptr %inputs, ptr %parameters, ptr %out) {{
{LOOP}  %aq = mul i64 %k, {nq}
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
