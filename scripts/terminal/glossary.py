"""The glossary: terms special to Kinetree and unusual public names, explained by standard terms.

`TERMS` is the only source. `kinetree explain WORD` prints an entry and `python -m` this module
writes docs/glossary.md.
"""

from __future__ import annotations

from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "glossary.md"

OPENING = """# Glossary

This page explains words that have a special meaning in Kinetree's pages, messages and module names;
all other terms are those of mechanics, control and numerics. On the command line, `kinetree explain
WORD` prints the same text, for example `kinetree explain freedom`.

"""

# section -> word -> meaning; a second word after a comma is the term of the trade
TERMS: dict[str, dict[str, str]] = {
    "Mechanisms": {
        "body": "A rigid body with mass, centre of mass and inertia tensor; body 0 is `ground`.",
        "ground": "The inertial frame, body 0. Terrain is the height of its surface.",
        "element": "An elementary transform of a joint: one shift along or rotation about an axis.",
        "freedom": "Short for degree of freedom: an independent direction of motion.",
        "coordinate": "A generalised coordinate q; revolute ones in rad, prismatic ones in m.",
        "speed": "A generalised speed u; u = dq/dt except for joints with quaternions.",
        "tree": "The spanning tree of bodies and joints that remains after loop joints are cut.",
        "loop": "A closed kinematic chain. A joint outside the tree closes it with constraints.",
        "cut": "To remove a joint from the spanning tree and replace it by constraint equations.",
        "open": "Of a loop: its constraints are violated. Of a contact: the gap is positive.",
        "assembly": "Solving for coordinates and speeds that satisfy all constraints at the start.",
        "projection": "Correction of a state to satisfy the constraints after a step, smallest in the mass norm.",
        "coupling": "An algebraic relation between coordinates, speeds, points, states or time.",
        "follow": "A prescribed motion: an input gives a displacement with its time derivatives.",
        "given motion": "A prescribed motion: a displacement that is a function of time or an input.",
        "law": "A constitutive equation: force as a function of displacement, speed, states and time.",
        "kind": "A type in a registry, such as `line` for forces or `revolute` for joints.",
        "look": "The shape with which an element is drawn; it has no influence on the dynamics.",
        "outline": "The shape of a body for contacts: sphere, capsule, box, cylinder, convex polygon, convex hull or plane.",
        "actuator": "A named force interface through which an external drive moves the mechanism.",
        "drive": "A model of a power source outside the mechanism, such as a hydraulic servo drive.",
        "circuit": "A hydraulic network of pressure nodes and the components with flow between them.",
        "massless body": "A body without mass; only the closed loops make its motion unique.",
        "merge": "To treat bodies joined rigidly as one rigid body during a run.",
    },
    "Motion in time": {
        "run": "A simulation in time, and the table `[run]` with its settings.",
        "unit": "One instance of a model with its memory, as an FMU instance is; not a unit of measure.",
        "state": "A first-order state of the description: `rate` is its time derivative.",
        "stage": "A phase of a run with one topology; at its end joints release or lock, bodies leave.",
        "event": "A discontinuity at an instant: a condition becomes true and its actions are executed.",
        "guard": "An event indicator: a continuous function whose change to positive is an event.",
        "action": "What an event does: set a parameter, state, speed or coordinate, or end a stage.",
        "corner": "A discontinuity of a derivative: a kink of a force law or of a prescribed motion.",
        "knot": "A time at which a function of time has a corner; integrators end a step there.",
        "located": "Found by root finding inside a step, with the instant accurate to rounding.",
        "structure": "The topology and dimensions of one stage: its tree, constraints and contacts.",
        "dense output": "Interpolation of the solution inside an integration step.",
        "stretch": "The part of a run between two events.",
        "rest": "Static equilibrium: all speeds and accelerations are zero.",
        "indifferent": "Of an equilibrium: neutrally stable, with zero stiffness in some direction.",
        "prepare": "`[[run.prepare]]` computes an equilibrium from which a run starts.",
        "books": "Balances of mass, momentum and energy over events and stages.",
        "record": "A block of numbers at fixed positions of the memory of a model (docs/records.md).",
        "row": "One output time of a result, or one equation of the constraints.",
    },
    "The example carrier": {
        "carrier": "`lib:carrier`, the largest example: a vehicle on jacks that releases modules one by one.",
        "module": "A body of the carrier that slides along its rail and leaves the mechanism.",
        "departure": "The travel and the release of one module of the carrier, with the swing after it.",
        "salvo": "All departures of a run together.",
        "push": "The force that ejects a module along its rail.",
        "advance": "Feed-forward: the drives of the carrier compensate the known load of a departure.",
        "luff": "The elevation angle of a boom or of the carrier's cradle.",
        "slew": "The angle about the vertical axis.",
    },
    "Contacts": {
        "touch": "The start of a contact: its gap reaches zero and an impact may follow.",
        "closed": "Of a contact: the gap is zero and a normal force can act.",
        "stick": "Static friction: no relative tangential speed.",
        "slip": "Relative tangential motion of a contact, and its speed.",
        "rest_speed": "Speed [m/s] below which an approaching contact is closed without a bounce.",
        "slip direction": "Unit vector of the tangential velocity; friction acts against it.",
        "way": "A direction in which joints let a closed contact slip.",
        "blow": "An impulse [N.s].",
        "complementarity": "Gap >= 0, force >= 0 and one of them zero, for all contacts at once.",
        "chatter": "Events that accumulate: infinitely many of them in a finite time.",
    },
    "Co-simulation and FMUs": {
        "host": "The program that imports an FMU and steps it.",
        "master": "The algorithm that steps several units and exchanges their values.",
        "scheme": "A co-simulation algorithm: which values are exchanged when, and how they are extrapolated.",
        "held": "The scheme in which inputs are constant over a communication step; also `jacobi`.",
        "told": "The scheme in which the drive sends its stiffness and damping with its force; "
        "also `linear-implicit`.",
        "chambers": "The scheme in which the oil volumes of a cylinder are states of the mechanism.",
        "monolithic reference": "A simulation of all coupled parts as one system by one solver.",
        "wire": "A connection from an output of one unit to an input of another one.",
        "bond": "A power bond: an effort and a flow between two units whose product is a power.",
        "loop, in the": "Hardware- or software-in-the-loop: a model in real time with a controller.",
        "partner": "The controller process at the other end of a loop test.",
        "tunable": "Of a parameter: an FMI host may change its value during the simulation.",
        "structural parameter": "A parameter that changes the topology or sizes; it needs another compilation.",
        "back end": "What an FMU is built on: `native` (C), `python` (pythonfmu) or `source` (C99).",
        "shell": "The C code of native FMUs around the compiled engine.",
        "payload": "The data of a compiled model inside an FMU.",
        "terminal": "An FMI 3.0 terminal: variables that belong to one physical connector.",
    },
    "Formulations of the equations of motion": {
        "DEC": "The default: recursive block elimination LᵀDL of the redundant equations, O(N); also closed loops.",
        "ABM": "Articulated-body method: recursive elimination by articulated inertias, O(N).",
        "CBM": "Composite-body method: the mass matrix from composite rigid bodies, then Cholesky factors.",
        "DRT": "Direct method: the mass matrix as BᵀMB from the velocity Jacobian B.",
        "LGR": "Method of Lagrange multipliers: the reactions of the joints are solved for first.",
        "ITR": "Iterative methods: quasi-Newton iteration for the accelerations, started from the last evaluation.",
        "ITR-M": "The iterative method that multiplies by an explicit mass matrix.",
        "ITR-G": "The iterative method that multiplies by the mass matrix through two recursive sweeps.",
        "-H": "At the end of a name (DEC-H, ITR-H): the Hamiltonian variant, with momenta in place of speeds.",
        "form": "One of the twelve formulations of the equations of motion (docs/methods.md).",
        "literal": "A form implemented as its publication writes it; used for comparison and runs.",
    },
    "Computation": {
        "engine": "The compiled kernels that evaluate and integrate any mechanism given as data.",
        "kernel": "A function compiled by numba that works on memory the caller owns.",
        "lane": "One of the states that a SIMD vector register holds; eight are computed at once.",
        "dual": "A number with its exact derivatives (automatic differentiation in forward mode).",
        "wide": "Of numbers: lanes or duals.",
        "specialised": "Straight-line machine code generated for one mechanism.",
        "trace": "The recorded operations of one evaluation, from which code and adjoints are made.",
        "tape": "The memory of a trace: operations in order, each different one once.",
        "register": "A memory cell of the register machine that evaluates all expressions.",
        "straight-line code": "Code without loops and branches, generated for one mechanism.",
        "slopes": "Derivatives; the Jacobian of accelerations and outputs.",
        "room": "A folder of the source code, such as `solvers/loops`.",
        "deviation": "Of an identified value: its standard deviation. Of two results: their difference.",
        "redundant": "Of a constraint: it follows from the others, so its reaction is not unique.",
    },
}

ALIASES = {
    "degree of freedom": "freedom",
    "equilibrium": "rest",
    "event indicator": "guard",
    "impulse": "blow",
    "constitutive law": "law",
    "prescribed motion": "given motion",
    "hil": "loop, in the",
    "jacobi": "held",
    "linear-implicit": "told",
}


def glossary_entries(word: str) -> list[tuple[str, str]]:
    """Return (word, meaning) of a word of the glossary, in singular or plural; empty if unknown."""
    asked = word.strip().lower()
    known = {name.lower(): (name, text) for terms in TERMS.values() for name, text in terms.items()}
    names = (asked, asked.removesuffix("s"), ALIASES.get(asked, ""))
    found = next((known[name] for name in names if name in known), None)
    return [(f"glossary: {found[0]}", found[1])] if found else []


def glossary_page() -> str:
    """Return docs/glossary.md as Markdown: one table per section, words in alphabetical order."""
    parts = [OPENING]
    for section, terms in TERMS.items():
        rows = "".join(f"| {word} | {text} |\n" for word, text in sorted(terms.items()))
        parts.append(f"## {section}\n\n| word | meaning |\n|---|---|\n{rows}\n")
    return "".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(glossary_page(), encoding="utf-8")
