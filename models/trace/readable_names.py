"""Readable names of intermediate quantities: symbol, then body, joint or speed, then component."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kinetree.models.trace.kernel_recording import Recording
from kinetree.models.trace.symbol import Symbol
from kinetree.solvers import layout as L

VECTOR = ("x", "y", "z")
SYMMETRIC = ("xx", "xy", "xz", "yy", "yz", "zz")
FULL = ("xx", "xy", "xz", "yx", "yy", "yz", "zx", "zy", "zz")
# symbol, place in the record, components
BODY = (
    ("R", L.W_R, FULL), ("w", L.W_OM, VECTOR), ("al", L.W_AL, VECTOR), ("a0", L.W_A0, VECTOR), ("d", L.W_D, VECTOR), ("r", L.W_P, VECTOR),
    ("v", L.W_V, VECTOR), ("I", L.W_J, SYMMETRIC), ("H", L.W_H, FULL), ("M", L.W_M, SYMMETRIC), ("N", L.W_N, VECTOR), ("F", L.W_F, VECTOR),
    ("dw", L.W_DA, VECTOR), ("dv", L.W_DB, VECTOR),
)  # fmt: skip
SPEED = (
    ("e", L.C_A, VECTOR),
    ("el", L.C_L, VECTOR),
    ("Un", L.C_UN, VECTOR),
    ("Uf", L.C_UF, VECTOR),
    ("Dinv", L.C_INV, ("",)),
    ("g", L.C_G, ("",)),
)
# fields of the literal forms, body axes: field, numbers per body, symbols and components
LITERAL = (
    ("G", 9, tuple(("G", each) for each in FULL)),
    ("rho", 3, tuple(("rho", each) for each in VECTOR)),
    ("v", 6, tuple((symbol, each) for symbol in ("v", "w") for each in VECTOR)),
    ("w", 6, tuple((symbol, each) for symbol in ("a", "al") for each in VECTOR)),
    ("Fp", 6, tuple((symbol, each) for symbol in ("Fp", "Np") for each in VECTOR)),
    ("Fs", 6, tuple((symbol, each) for symbol in ("F", "N") for each in VECTOR)),
    ("Ms", 36, tuple(("M", f"{row}{column}") for row in range(1, 7) for column in range(1, 7))),
)  # fmt: skip
COMPOSITE = tuple(
    (symbol, each)
    for symbol, rest in (("m", ("",)), ("h", VECTOR), ("I", SYMMETRIC))
    for each in rest
)
RESERVED = set(
    "auto break case char const continue default do double else enum extern float for goto if int long register return short signed sizeof static "
    "struct switch typedef union unsigned void volatile while inline restrict and or not in is as def class from import lambda pass raise try with "
    "t q u x inputs parameters udot np math ca algorithm equation function end then model input output time der".split()
)


def identifier(text: str) -> str:
    """Return a name of the description as an identifier."""
    found = re.sub(r"\W+", "_", text.replace("der(", "d_").replace(")", "")).strip("_") or "x"
    return f"m{found}" if found[0].isdigit() else found


def placed(recording: Recording, form: str) -> Iterator[tuple[str, object]]:
    """Yield the quantities of a form with readable names, the most informative names first."""
    ws, c = recording.ws, recording.compiled
    bodies = [identifier(name) for name in (*c.bodies, *c.twins)]
    speeds = [identifier(name.removeprefix("der(").removesuffix(")")) for name in c.speeds]
    if "body" in form:
        for i, body in enumerate(bodies, 1):
            for name, size, components in LITERAL:
                field = getattr(ws, name)
                if name == "Ms" and "CBM" in form:
                    components = COMPOSITE
                for k, (symbol, each) in enumerate(components):
                    if size * i + k < len(field):
                        yield f"{symbol}_{body}_{each}".rstrip("_"), field[size * i + k]
    for i, body in enumerate(bodies, 1):
        for symbol, at, components in BODY[:1] if "body" in form else BODY:
            yield from (
                (f"{symbol}_{body}_{each}", ws.row[i * L.ROW + at + k])
                for k, each in enumerate(components)
            )
    for j, speed in enumerate(speeds):
        for symbol, at, components in () if "body" in form else SPEED:
            yield from (
                (f"{symbol}_{speed}_{each}".rstrip("_"), ws.col[j * L.COLUMN + at + k])
                for k, each in enumerate(components)
            )
        yield f"tau_{speed}", ws.tau[j]
    for name, register in c.registers.items():
        if name.isidentifier() or name.startswith("der("):
            yield identifier(name), ws.val[register]


def quantity_names(recording: Recording, form: str) -> dict[int, str]:
    """Return the names of nodes, the first one that fits. Sines and cosines of a coordinate contain
    its name.
    """
    tape, c = recording.tape, recording.compiled
    found: dict[int, str] = {}
    taken: set[str] = set(RESERVED)

    def give(i: int, name: str) -> None:
        if (
            i not in found
            and name not in taken
            and tape.nodes[i][0] not in ("const", "symbol", "neg")
        ):
            found[i] = name
            taken.add(name)

    for k, name in enumerate(c.coordinates):
        q = tape.index.get(("symbol", "q", k))
        for letter, operation in (("s", "sin"), ("c", "cos")):
            if (operation, q) in tape.index:
                give(tape.index[operation, q], f"{letter}_{identifier(name)}")
    for name, value in placed(recording, form):
        if isinstance(value, Symbol):
            give(value.i, name)
    return found
