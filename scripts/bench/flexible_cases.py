"""Mechanisms of the references for flexible beams, as descriptions, and the quantities measured on
them.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

from kinetree.models import load
from kinetree.models.system.system import System

LENGTH = 10.0
BENDING, LINE = 1.4e4, 1.2  # E I [N.m2] and mass per length [kg/m] of Simo and Vu-Quoc's beam
AXIAL = 2.8e7  # its E A [N]
TURNS_AT = "if(t < 15, (6/15)*(t**2/2 + (15/(2*pi))**2*(cos(2*pi*t/15) - 1)), 6*t - 45)"
FINAL_SPEED = 6.0  # rad/s
ROOTS = {
    "clamped": (1.875104068711961, 4.694091132974174, 7.854757438237613),
    "pinned": (math.pi, 2 * math.pi, 3 * math.pi),
    "free": (4.730040744862704, 7.853204624095838, 10.995607838001671),
}
# Princeton beam: Obrezkov et al., Nonlinear Dynamics 109 (2022), ANSYS beam elements, 13.345 N, load turned by 0, 15, ..., 90 degrees [m]
PRINCETON_V = (16.064e-3, 16.458e-3, 16.659e-3, 15.186e-3, 11.578e-3, 6.249e-3, 0.0)
PRINCETON_W = (0.0, 64.358e-3, 117.736e-3, 156.467e-3, 181.862e-3, 196.097e-3, 200.678e-3)
BEND_TIP = (-13.4, 53.4, -23.5)  # Bathe and Bolourchi (1979): 45 degree bend under 600 lb [in]


def described(
    beams: dict[str, Any],
    joints: dict[str, Any],
    young: float,
    shear: float,
    density: float,
    **more,
) -> dict[str, Any]:
    """Return a description of beams of one material, without gravity."""
    material = {"density": density, "youngs_modulus": young, "shear_modulus": shear}
    return {
        "format": "kinetree/1",
        "name": "reference",
        "gravity": [0, 0, 0],
        "materials": {"material": material},
        "beams": {name: {"material": "material", **beam} for name, beam in beams.items()},
        "joints": joints,
        **more,
    }


def uniform(supports: str = "clamped", **beam: Any) -> dict[str, Any]:
    """Return Simo and Vu-Quoc's beam with a section given by stiffness values; it bends about z and
    is supported in one of the ways of `ROOTS`.
    """
    section = {"area": 1.0, "iy": 1.0, "iz": BENDING / AXIAL, "j": 1.0, "shear_area": [1.0, 1.0]}
    joints: dict[str, Any] = {"root": {"child": "beam", "type": "rigid"}}
    if supports == "pinned":
        joints = {
            "root": {"child": "beam", "type": "revolute"},
            "tip": {
                "child": "beam",
                "child_station": LENGTH,
                "transforms": [
                    {"shift": [LENGTH, 0, 0]},
                    {"shift": "x", "coordinate": "slide"},
                    {"rotate": "z", "coordinate": "turn"},
                ],
            },
        }
    elif supports == "free":
        joints = {"root": {"child": "beam", "type": "free"}}
    beams = {"beam": {"length": LENGTH, "section": section, "bending": "z", **beam}}
    return described(beams, joints, AXIAL, 0.5 * AXIAL, LINE)


def frequencies(system: System, count: int) -> np.ndarray:
    """Return the lowest `count` natural frequencies [Hz] of a mechanism."""
    return np.array(sorted(mode.frequency for mode in system.equilibrium().modes)[:count])


def frequency_errors(supports: str, **beam: Any) -> np.ndarray:
    """Return the relative errors of the first three natural frequencies of a uniform beam; the
    reference is the Euler-Bernoulli beam.
    """
    exact = np.array(ROOTS[supports]) ** 2 * math.sqrt(BENDING / LINE) / LENGTH**2 / (2 * math.pi)
    return frequencies(load(uniform(supports, **beam)).compile(), 3) / exact - 1.0


def tip_outputs(axes: str = "xyz", tip: float = LENGTH, beam: str = "beam") -> dict[str, Any]:
    """Return outputs named tip_x, ... for the deflections of the tip along some axes."""
    return {
        f"tip_{axis}": {"quantity": "deflection", "beam": beam, "station": tip, "axis": axis}
        for axis in axes
    }


def roll_up(part: float, **beam: Any) -> float:
    """Return the largest distance of the tip from the exact circle, relative to the length, while
    an end moment bends the beam to a part of a full turn.
    """
    angle = 2.0 * math.pi * part
    description = uniform(**beam)
    moment = {"kind": "wrench", "body": "beam", "station": LENGTH, "moment": [0, 0, "moment"]}
    description |= {
        "parameters": {"moment": 0.0},
        "forces": {"end": {**moment, "frame": "body"}},
        "outputs": tip_outputs("xy"),
    }
    system = load(description).compile()
    states = [{"moment": BENDING * angle / LENGTH * k / 8} for k in range(1, 9)]
    tip = system.equilibria(states)[-1].outputs
    x, y = LENGTH * math.sin(angle) / angle, LENGTH * (1.0 - math.cos(angle)) / angle
    return math.hypot(LENGTH + tip["tip_x"] - x, tip["tip_y"] - y) / LENGTH


def buckling_load(**beam: Any) -> float:
    """Return the buckling load of a clamped column relative to Euler's; it is extrapolated from
    natural frequencies under two loads.
    """
    euler = math.pi**2 * BENDING / (4.0 * LENGTH**2)
    squares = []
    parts = (0.98, 0.99)
    for part in parts:
        description = uniform(**beam)
        push = {"kind": "wrench", "body": "beam", "station": LENGTH, "force": [-part * euler, 0, 0]}
        description["forces"] = {"end": push}
        squares.append(frequencies(load(description).compile(), 1)[0] ** 2)
    slope = (squares[1] - squares[0]) / (parts[1] - parts[0])
    return parts[1] - squares[1] / slope


def spin_up(stop: float = 18.0, tolerance: float = 1e-7, **beam: Any) -> dict[str, float]:
    """Return the largest lag of the tip behind the rotating axis and the steady extension [m] of
    Simo and Vu-Quoc's spin-up.
    """
    description = uniform(**beam)
    turn = {"child": "beam", "transforms": [{"rotate": "z", "by": TURNS_AT}]}
    description |= {"joints": {"root": turn}, "outputs": tip_outputs("xy")}
    found = (
        load(description).compile().simulate(stop_time=stop, output_step=0.02, tolerance=tolerance)
    )
    last = found.time > stop - 2.0
    return {"lag": float(-found["tip_y"].min()), "stretch": float(found["tip_x"][last].mean())}


def princeton(elements: int = 4) -> np.ndarray:
    """Return the tip displacements [m] of the Princeton beam (v down, w across), one row per angle
    of its load.
    """
    length, high, wide, young, poisson = 0.508, 12.3777e-3, 3.2024e-3, 71.7e9, 0.31
    iy, iz = high * wide**3 / 12.0, wide * high**3 / 12.0
    section = {"area": high * wide, "iy": iy, "iz": iz, "j": 0.198 * (iy + iz)}
    beams = {"beam": {"length": length, "section": section, "segments": elements}}
    joints = {"root": {"child": "beam", "type": "rigid"}}
    force = ["0", "-load*cos(angle)", "load*sin(angle)"]
    description = described(
        beams, joints, young, young / (2.0 * (1.0 + poisson)), 2700.0,
        parameters={"load": 0.0, "angle": 0.0},
        forces={"end": {"kind": "wrench", "body": "beam", "station": length, "force": force}},
        outputs=tip_outputs("yz", length),
    )  # fmt: skip
    system = load(description).compile()
    rows = []
    for degrees in range(0, 91, 15):
        steps = [{"angle": math.radians(degrees), "load": 13.345 * k / 6} for k in range(1, 7)]
        tip = system.equilibria(steps)[-1].outputs
        rows.append((-tip["tip_y"], tip["tip_z"]))
    return np.array(rows)


def bend(parts: int = 8, segments: int = 1) -> np.ndarray:
    """Return the tip displacement [in] of Bathe and Bolourchi's 45 degree bend under 600 lb,
    modelled by straight beams along the arc.
    """
    radius, young = 100.0, 1e7
    each = math.radians(45.0) / parts
    straight = 2.0 * radius * math.sin(0.5 * each)
    section = {"rectangle": [1.0, 1.0], "j": 1.0 / 6.0}  # published data: the polar moment
    beams = {
        f"b{k}": {"length": straight, "section": section, "segments": segments}
        for k in range(parts)
    }
    joints: dict[str, Any] = {}
    for k in range(parts):
        turn = {"rotate": "z", "by": 0.5 * each if k == 0 else each}
        before = {} if k == 0 else {"parent": f"b{k - 1}", "station": straight}
        joints[f"j{k}"] = {**before, "child": f"b{k}", "type": "rigid", "frame": [turn]}
    last = f"b{parts - 1}"
    description = described(
        beams, joints, young, 0.5 * young, 1.0,
        parameters={"load": 0.0},
        forces={"end": {"kind": "wrench", "body": last, "station": straight, "force": [0, 0, "load"]}},
        outputs={"tip": {"quantity": "position", "body": last, "station": straight}},
    )  # fmt: skip
    system = load(description).compile()
    end = system.equilibria([{"load": 600.0 * k / 8} for k in range(1, 9)])[-1].outputs
    angle = math.radians(45.0)
    start = np.array([radius * math.sin(angle), radius * (1.0 - math.cos(angle)), 0.0])
    moved = np.array([end[f"tip[{k}]"] for k in (1, 2, 3)]) - start
    # their axes: x away from the centre of the arc at the root, y along the load, z along the root
    return np.array([moved[1], moved[2], moved[0]])


def rotating_frequency(speed: float, **beam: Any) -> float:
    """Return the first flapping frequency of a rotating cantilever; frequency and speed are in
    units of sqrt(E I/(m L^4)).
    """
    description = uniform(**beam)
    unit = math.sqrt(BENDING / LINE) / LENGTH**2
    turn = {"child": "beam", "transforms": [{"rotate": "y", "by": f"{speed * unit!r}*t"}]}
    description["joints"] = {"root": turn}
    eigenvalues = np.linalg.eigvals(load(description).compile().linearize().A)
    return float(np.abs(eigenvalues.imag[np.abs(eigenvalues.imag) > 0.0]).min()) / unit


def lateral_buckling_load(**beam: Any) -> float:
    """Return the tip load at which a high narrow cantilever buckles laterally, relative to 4.0126
    sqrt(E I_z G J)/L^2 (Prandtl, Michell); the squared load is extrapolated to ω² = 0.
    """
    stiff, weak, twist, length = 1e6, 1e3, 8e2, 10.0
    section = {"area": 1.0, "iy": stiff, "iz": weak, "j": twist}
    critical = 4.0126 * math.sqrt(weak * twist) / length**2
    squares, parts = [], (0.97, 0.99)
    for part in parts:
        description = described(
            {"beam": {"length": length, "section": section, **beam}},
            {"root": {"child": "beam", "type": "rigid"}}, 1.0, 1.0, 1.0,
            forces={
                "end": {
                    "kind": "wrench", "body": "beam", "station": length,
                    "force": [0, 0, -part * critical],
                }
            },
        )  # fmt: skip
        squares.append(frequencies(load(description).compile(), 1)[0] ** 2)
    slope = (squares[1] - squares[0]) / (parts[1] ** 2 - parts[0] ** 2)
    return math.sqrt(parts[1] ** 2 - squares[1] / slope)


def whirl(speed: float, segments: int = 10) -> tuple[float, float]:
    """Return the slower whirl frequency of a rotating round shaft in two bearings, and that of
    Rayleigh's beam.

    Speed and frequencies are over the first frequency of the slender shaft at rest. In axes that turn, forward whirl has the difference of its
    frequency from the speed; with k² = (π r/2 L)² it is (k² speed + sqrt(k⁴ speed² + 1 + k²))/(1 + k²) in axes at rest.
    """
    length, radius, young, density = 1.0, 0.05, 2.1e11, 7850.0
    slender = (0.5 * math.pi * radius / length) ** 2
    first = (
        slender * 2.0 / radius * math.sqrt(young / density)
    )  # (π/L)² sqrt(E I/(m A)), I = A r²/4
    beam = {"length": length, "section": {"tube": [radius, 0.0]}, "segments": segments}
    tilts = [{"rotate": "y", "coordinate": "a"}, {"rotate": "z", "coordinate": "b"}]
    free = [{"rotate": axis, "coordinate": f"end_{axis}"} for axis in "xyz"]
    joints = {
        "near": {
            "child": "shaft",
            "transforms": [{"rotate": "x", "by": f"{speed * first!r}*t"}, *tilts],
        },
        "far": {
            "child": "shaft",
            "child_station": length,
            "transforms": [{"shift": [length, 0, 0]}, {"shift": "x", "coordinate": "slide"}, *free],
        },
    }
    description = described({"shaft": {**beam, "damping": 0.0}}, joints, young, 8e10, density)
    found = np.linalg.eigvals(load(description).compile().linearize().A).imag
    turning = float(found[found > 1e-3 * first].min()) / first
    ahead = slender * speed + math.sqrt((slender * speed) ** 2 + 1.0 + slender)
    return turning, abs(ahead / (1.0 + slender) - speed)


def reduced_bar(folder: Path, elements: int = 40, modes: int = 4) -> Path:
    """Return the file of Simo and Vu-Quoc's beam as a square bar of tetrahedra, reduced to its
    static shapes and some modes.
    """
    import skfem

    from kinetree.models.beams.mesh_matrices import MeshMatrices
    from kinetree.models.beams.reduction import reduce_body, save_reduced

    side = math.sqrt(12.0 * BENDING / AXIAL)
    across = np.linspace(-side / 2, side / 2, 2)
    mesh = folder / "bar.msh"
    skfem.MeshTet.init_tensor(np.linspace(0.0, LENGTH, elements + 1), across, across).save(
        str(mesh)
    )
    found = MeshMatrices(str(mesh), f"{AXIAL / side**2!r},0,{LINE / side**2!r}")
    ends = {"root": 0.0, "tip": LENGTH}
    x = found.nodes[:, 0]
    faces = {name: np.flatnonzero(np.abs(x - place) < 1e-9) for name, place in ends.items()}
    arrays = reduce_body(*found.matrices(), found.nodes, faces, "root", modes, found.stiffening)
    path = folder / "bar.npz"
    save_reduced(path, arrays)
    return path


def on_a_root(path: Path, **more: Any) -> dict[str, Any]:
    """Return a description of the reduced bar with its root fixed to the ground, without gravity."""
    return {
        "format": "kinetree/1",
        "name": "reduced",
        "gravity": [0, 0, 0],
        "bodies": {"bar": {"flexible": {"file": str(path), "damping": 0.0}}},
        "joints": {"root": {"child": "bar", "type": "rigid"}},
        **more,
    }


def reduced_frequency(path: Path, speed: float = 0.0, push: float = 0.0) -> float:
    """Return the first natural frequency of the bar across the plane of its rotation, or under a
    compressive load at its tip.

    Frequency and speed are in units of sqrt(E I/(m L^4)), the load in E I/L².
    """
    unit = math.sqrt(BENDING / LINE) / LENGTH**2
    turn = {"child": "bar", "transforms": [{"rotate": "y", "by": f"{speed * unit!r}*t"}]}
    description = on_a_root(path, **({"joints": {"root": turn}} if speed else {}))
    if push:
        force = [-push * BENDING / LENGTH**2, 0, 0]
        description["forces"] = {"end": {"kind": "wrench", "body": "bar.tip", "force": force}}
    eigenvalues = np.linalg.eigvals(load(description).compile().linearize().A)
    sizes = np.sort(np.abs(eigenvalues.imag[np.abs(eigenvalues.imag) > 0.0]))
    return float(sizes[2 if speed else 0]) / unit  # the slower one is in the plane of the rotation


def spinning_bar(path: Path, stop: float = 18.0, tolerance: float = 1e-7) -> dict[str, float]:
    """Return the largest lag and the steady extension [m] of the reduced bar in the spin-up of
    `spin_up`.
    """
    turn = {"child": "bar", "transforms": [{"rotate": "z", "by": TURNS_AT}]}
    outputs = {
        name: {"quantity": "position", "body": "bar", "point": point, "axis": axis}
        for axis in "xy"
        for name, point in ((f"x_{axis}", [1, 0, 0]), (f"y_{axis}", [0, 1, 0]))
    }
    for axis in "xy":
        outputs[f"tip_{axis}"] = {"quantity": "position", "body": "bar.tip", "axis": axis}
    system = load(on_a_root(path, joints={"root": turn}, outputs=outputs)).compile()
    found = system.simulate(stop_time=stop, output_step=0.02, tolerance=tolerance)
    last = found.time > stop - 2.0
    along, across = (
        found[f"{axis}_x"] * found["tip_x"] + found[f"{axis}_y"] * found["tip_y"] for axis in "xy"
    )
    return {"lag": float(-across.min()), "stretch": float(along[last].mean()) - LENGTH}
