"""Straight-line code of robots beside Pinocchio's wheel, the C code that Pinocchio generates by CasADi, and MuJoCo, all in one run.

Every engine reads the same URDF text: robots of example-robot-data without their shapes, and mechanisms of the library written out as URDF.
Pinocchio's generated code is made by the Python that KINETREE_CASADI_PYTHON names, which has cmeel-casadi-kin-dyn, and compiled by
`cc -O3 -march=native`.
"""

import ctypes
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import typer

from kinetree.models import load
from kinetree.models.specialised.llvm_compiler import compiled
from kinetree.models.specialised.llvm_functions import llvm_text
from kinetree.models.specialised.specialised_system import MAX_STRAIGHT_LINE_OPERATIONS, Specialised
from kinetree.models.system.system import System
from kinetree.scripts.bench.robots import FILES, folder, ours, repeated, states, timed

ROBOTS = (0, 1, 2, 7, 8, 9, 14, 15, 16, 17)  # of FILES: arms, four-legged ones, humanoids, Tiago
WRITTEN = (
    ("chain", {"n": 7}),
    ("chain", {"n": 20}),
    ("chain", {"n": 30}),
    ("puma560", {}),
    ("double-pendulum", {}),
    ("three-link-rods", {}),
    ("five-link", {}),
)  # mechanisms of the library as URDF
MAKER = """
import sys, casadi_kin_dyn
made = casadi_kin_dyn.CasadiKinDyn(open(sys.argv[1]).read()).aba()
made.generate(sys.argv[2], {"with_header": False})
print(made.name(), made.n_instructions())
"""


def urdf_of(system: System) -> str:
    """Return a tree of revolute joints as URDF, from the matrices of its bodies at zero angles."""
    trace, count = system.trace("matrices"), len(system.compiled.coordinates)
    values = trace.evaluate(
        0.0, np.zeros(count), np.zeros(system.n), (), system._fast.input_starts()
    )
    parts, at = {}, 0
    for matrix in trace.matrices:
        parts[matrix.symbol, matrix.body] = values[at : at + matrix.rows * matrix.columns].reshape(
            matrix.rows, matrix.columns
        )
        at += matrix.rows * matrix.columns
    robot = ElementTree.Element("robot", name="written")
    ElementTree.SubElement(robot, "link", name="world")
    bodies = system.compiled.bodies
    for body, parent in zip(bodies, system.compiled.parents, strict=True):
        M, A = parts["M", body], parts["A", body]
        mass = M[0, 0]
        com = np.array([M[5, 1], M[3, 2], M[4, 0]]) / (mass or 1.0)
        tensor = M[3:, 3:] - mass * (com @ com * np.eye(3) - np.outer(com, com))
        link = ElementTree.SubElement(robot, "link", name=body)
        inertial = ElementTree.SubElement(link, "inertial")
        ElementTree.SubElement(inertial, "origin", xyz=text_of(com))
        ElementTree.SubElement(inertial, "mass", value=repr(float(mass)))
        pairs = (
            ("ixx", 0, 0),
            ("ixy", 0, 1),
            ("ixz", 0, 2),
            ("iyy", 1, 1),
            ("iyz", 1, 2),
            ("izz", 2, 2),
        )
        ElementTree.SubElement(
            inertial, "inertia", {name: repr(float(tensor[r, c])) for name, r, c in pairs}
        )
        joint = ElementTree.SubElement(robot, "joint", name=f"to_{body}", type="continuous")
        ElementTree.SubElement(joint, "parent", link=bodies[parent - 1] if parent else "world")
        ElementTree.SubElement(joint, "child", link=body)
        ElementTree.SubElement(
            joint,
            "origin",
            xyz=text_of(parts["rho", body].ravel()),
            rpy=text_of(angles(parts["G", body].T)),
        )
        ElementTree.SubElement(joint, "axis", xyz=text_of(A[3:, 0]))
    return ElementTree.tostring(robot, encoding="unicode")


def text_of(values: np.ndarray) -> str:
    return " ".join(repr(float(value)) for value in values)


def angles(R: np.ndarray) -> np.ndarray:
    """Return roll, pitch and yaw of a rotation."""
    return np.array(
        [
            np.arctan2(R[2, 1], R[2, 2]),
            np.arctan2(-R[2, 0], np.hypot(R[0, 0], R[1, 0])),
            np.arctan2(R[1, 0], R[0, 0]),
        ]
    )


def bare(text: str) -> str:
    """Return URDF without shapes and transmissions, which only some engines would look for."""
    tree = ElementTree.fromstring(text)
    for parent in [tree, *tree.iter("link")]:
        for child in list(parent):
            if child.tag not in ("link", "joint", "inertial", "origin", "mass", "inertia"):
                parent.remove(child)
    return ElementTree.tostring(tree, encoding="unicode")


def generated(path: Path, python: Path | None, work: Path) -> tuple[Callable[..., int], int] | None:
    """Return Pinocchio's generated C function and its instruction count; None if it cannot be made."""
    if python is None:
        return None
    source, library = work / f"{path.stem}.c", work / f"{path.stem}.so"
    done = subprocess.run(
        [str(python), "-c", MAKER, str(path), source.name], cwd=work, capture_output=True, text=True
    )
    if done.returncode != 0:
        return None
    name, instructions = done.stdout.split()
    subprocess.run(
        ["cc", "-O3", "-march=native", "-fPIC", "-shared", "-o", library, source, "-lm"], check=True
    )
    function = getattr(ctypes.CDLL(str(library)), name)
    function.argtypes = (
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
    )
    return function, int(instructions)


def called(
    function: Callable[..., int], q: np.ndarray, u: np.ndarray, out: np.ndarray
) -> Callable[[int], object]:
    """Return the generated function on a state."""
    none, scratch = np.zeros(u.size), np.zeros(1_000_000)
    held = [np.ascontiguousarray(each) for each in (q, u, none)]
    given = (ctypes.c_void_p * 3)(*[each.ctypes.data for each in held])
    results = (ctypes.c_void_p * 1)(out.ctypes.data)
    numbers = np.zeros(1000, dtype=np.int64)

    def run(count: int) -> None:
        for _ in range(count):
            function(given, results, numbers.ctypes.data, scratch.ctypes.data, 0)
        assert held

    return run


def mujoco_call(text: str, q: np.ndarray, u: np.ndarray) -> Callable[[int], object] | None:
    """Return mj_forward of the model without contacts and limits; None if MuJoCo refuses it."""
    try:
        import mujoco as module

        mj: Any = module  # what it offers is known at run time alone
        model = mj.MjModel.from_xml_string(text)
    except (ImportError, ValueError):
        return None
    model.opt.disableflags |= (
        mj.mjtDisableBit.mjDSBL_CONTACT
        | mj.mjtDisableBit.mjDSBL_CONSTRAINT
        | mj.mjtDisableBit.mjDSBL_SENSOR
    )
    data = mj.MjData(model)
    if data.qpos.size != q.size:
        return None
    data.qpos[:], data.qvel[:] = q, u  # the work does not depend on the numbers
    return repeated(mj.mj_forward, model, data)


def robot_row(name: str, text: str, python: Path | None, work: Path) -> dict[str, Any]:
    """Return operations, size, seconds and times of one robot by everybody."""
    import pinocchio as pin

    path = work / f"{name}.urdf"
    path.write_text(text, encoding="utf-8")
    system, model = ours(path), pin.buildModelFromUrdf(str(path))
    q, u, their_q, their_u, places = states(system, model)
    begin = time.process_time()
    fast = Specialised(system)
    row: dict[str, Any] = {"robot": name, "freedoms": system.n, "why": fast.why}
    if fast.trace is None:
        return row | {"engine": "generic"}
    code = compiled(f"; {time.time_ns()}\n{llvm_text(fast.trace)}")
    row |= {
        "operations": fast.trace.operations,
        "bytes": code.size,
        "seconds": time.process_time() - begin,
    }
    data, none, out = model.createData(), np.zeros(model.nv), np.empty(model.nv)
    theirs = pin.aba(model, data, their_q, their_u, none)[places]
    row["deviation"] = float(
        np.abs(fast.accelerations(0.0, q, u) - theirs).max() / np.abs(theirs).max()
    )
    own, kernel = fast._repeat(), system._fast.entry("repeat")
    nobody = pin.Model()
    calls: dict[str, Callable[[int], object]] = {
        "specialised": lambda count: [own() for _ in range(count)],
        "generic": lambda count: kernel(count, 0.0),
        "pinocchio": repeated(pin.aba, model, data, their_q, their_u, none),
        "empty": repeated(
            pin.aba, nobody, nobody.createData(), np.zeros(0), np.zeros(0), np.zeros(0)
        ),
    }
    peer = generated(path, python, work)
    if peer is not None:
        calls["generated"] = called(peer[0], their_q, their_u, out)
        calls["generated"](1)
        row["generated_deviation"] = float(
            np.abs(out[places] - theirs).max() / np.abs(theirs).max()
        )
        calls["call"] = called(peer_of_nothing(work), np.zeros(1), np.zeros(1), out)
    forward = mujoco_call(text, q, u) if model.nq == system.n else None
    if forward is not None:
        calls["mujoco"] = forward
    return row | in_engine(timed(calls))


def peer_of_nothing(work: Path) -> Callable[..., int]:
    """Return an empty function of the same signature, for the overhead of ctypes."""
    source, library = work / "nothing.c", work / "nothing.so"
    if not library.exists():
        source.write_text(
            "int nothing(const double **a, double **r, long long *i, double *w, int m) { (void)a, (void)r, (void)i, (void)w; return m; }\n"
        )
        subprocess.run(["cc", "-O2", "-fPIC", "-shared", "-o", library, source], check=True)
    function = ctypes.CDLL(str(library)).nothing
    function.argtypes = (
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_void_p,
        ctypes.c_int,
    )
    return function


def in_engine(times: dict[str, float]) -> dict[str, float]:
    """Return times without the overhead of calls from Python."""
    from kinetree.models.specialised.specialised_system import REPEATS

    empty, call = times.pop("empty"), times.pop("call", 0.0)
    times["specialised"] /= REPEATS
    times["pinocchio"] -= empty
    if "mujoco" in times:
        times["mujoco"] -= empty
    if "generated" in times:
        times["generated"] -= call
    return {f"{name}_us": value for name, value in times.items()}


def show(row: dict[str, Any]) -> None:
    """Print one line of the table."""
    if "operations" not in row:
        typer.echo(f"| {row['robot']} | {row['freedoms']} | – | – | – | – | | | | | {row['why']} |")
        return
    own, wheel = row["specialised_us"], row["pinocchio_us"]
    peer, mujoco = row.get("generated_us"), row.get("mujoco_us")
    typer.echo(
        f"| {row['robot']} | {row['freedoms']} | {row['operations']} | {row['bytes'] / 1000:.0f} kB | {row['seconds']:.2f} s | {own:.3g} | "
        f"{row['generic_us']:.3g} | {wheel:.3g} | **{wheel / own:.1f}** | {f'{peer:.3g} ({peer / own:.1f})' if peer else '–'} | "
        f"{f'{mujoco:.3g} ({mujoco / own:.1f})' if mujoco else '–'} |"
    )


def robots(quick: bool, python: Path | None, work: Path) -> list[dict[str, Any]]:
    """Return the table."""
    typer.echo(
        f"\nrobots, µs; ratios to the straight line in brackets; above {MAX_STRAIGHT_LINE_OPERATIONS} operations the generic engine stays"
    )
    typer.echo(
        "| robot | freedoms | operations | code | made in (CPU) | straight line | generic | Pinocchio | ratio | its generated C | MuJoCo |"
    )
    typer.echo("|" + "---|" * 11)
    texts = [
        (
            f"{name}_{'_'.join(map(str, values.values()))}".rstrip("_"),
            urdf_of(load(f"lib:{name}", **values).compile()),
        )
        for name, values in WRITTEN
    ]
    files = [folder() / f"{FILES[k]}.urdf" for k in ROBOTS]
    texts += [
        (path.stem, bare(path.read_text(encoding="utf-8"))) for path in files if path.is_file()
    ]
    found = []
    for name, text in texts[: 1 if quick else None]:
        found.append(robot_row(name, text, python, work))
        show(found[-1])
    return found
