"""A swinging bar of tetrahedra in a floating frame with 14 modes, here and in Exudyn: error and time of steps of several sizes.

Both use the same mesh, matrices, faces and number of modes; the errors of each are relative to its
own finest run.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from kinetree.models import load
from kinetree.models.beams.mesh_matrices import MeshMatrices
from kinetree.models.beams.reduction import reduce_body, save_reduced

LENGTH, WIDE, HIGH = 4.0, 0.12, 0.2  # m
MATERIAL = "1.05e9,0.3,7850"  # a two-hundredth of the stiffness of steel
MODES = 8  # with both faces held; six static shapes besides
STOP = 0.2  # s
TOLERANCES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
STEPS = (4e-3, 2e-3, 1e-3, 5e-4, 2.5e-4, 1.25e-4)
REPEATS = 3  # runs, of which the fastest counts
FINEST = (1e-10, 6.25e-5)  # tolerance here, step there


class Point(NamedTuple):
    """One run: its setting (tolerance or step), the error of the tip at the end [m], the time of
    the run [s], the time of a step [s].
    """

    setting: float
    error: float
    seconds: float
    of_step: float


class Bar(NamedTuple):
    """The matrices, nodes and faces of the meshed bar."""

    mesh: MeshMatrices
    matrices: tuple[Any, Any]
    faces: dict[str, np.ndarray]


def meshed_bar(folder: Path) -> Bar:
    """Return the bar, 40 by 1 by 2 cubes of tetrahedra, with its matrices."""
    import skfem

    axes = (
        np.linspace(0.0, LENGTH, 41),
        np.linspace(-WIDE / 2, WIDE / 2, 2),
        np.linspace(-HIGH / 2, HIGH / 2, 3),
    )
    source = folder / "bar.msh"
    skfem.MeshTet.init_tensor(*axes).save(str(source))
    mesh = MeshMatrices(str(source), MATERIAL)
    x = mesh.nodes[:, 0]
    ends = {"root": 0.0, "tip": LENGTH}
    faces = {name: np.flatnonzero(np.abs(x - place) < 1e-9) for name, place in ends.items()}
    return Bar(mesh, mesh.matrices(), faces)


def ours(bar: Bar, folder: Path) -> list[Point]:
    """Return the runs of Kinetree at several tolerances, the finest one first."""
    path = folder / "bar.npz"
    mesh = bar.mesh
    arrays = reduce_body(*bar.matrices, mesh.nodes, bar.faces, "root", MODES)
    save_reduced(path, arrays)
    description = {
        "format": "kinetree/1",
        "name": "bar",
        "bodies": {"bar": {"flexible": {"file": str(path), "damping": 0.0}}},
        "joints": {"root": {"child": "bar", "type": "revolute", "axis": "y"}},
        "outputs": {"tip": {"quantity": "position", "body": "bar.tip"}},
    }
    system = load(description).compile()
    found, exact = [], np.zeros(3)
    for tolerance in (FINEST[0], *TOLERANCES):
        best = math.inf
        for _ in range(REPEATS):
            result = system.simulate(STOP, output_step=STOP, tolerance=tolerance)
            best = min(best, result.statistics["seconds"])
        tip = np.array([result[f"tip[{k}]"][-1] for k in (1, 2, 3)])
        exact = exact if found else tip
        error = float(np.linalg.norm(tip - exact))
        found.append(Point(tolerance, error, best, best / result.statistics["steps"]))
    return found


def theirs(bar: Bar) -> list[Point]:
    """Return the runs of Exudyn's ObjectFFRFreducedOrder by the generalized-alpha method, the finest one first."""
    found, exact = [], np.zeros(3)
    fem = finite_elements(bar)
    for step in (FINEST[1], *STEPS):
        runs = [exudyn_run(fem, bar, step) for _ in range(REPEATS if found else 1)]
        tip, seconds = runs[0][0], min(each[1] for each in runs)
        exact = exact if found else tip
        error = float(np.linalg.norm(tip - exact))
        found.append(Point(step, error, seconds, seconds * step / STOP))
    return found


def finite_elements(bar: Bar) -> Any:
    """Return Exudyn's finite-element object of the mesh, with modes computed by Exudyn."""
    parts: Any = import_module("exudyn.FEM")

    fem = parts.FEMinterface()
    fem.nodes = {"Position": bar.mesh.nodes.copy()}
    K, M = bar.matrices
    fem.stiffnessMatrix, fem.massMatrix = K.tocsr(), M.tocsr()
    fem.ComputeHurtyCraigBamptonModes(
        boundaryNodesList=[bar.faces["root"], bar.faces["tip"]],
        nEigenModes=MODES,
        computationMode=parts.HCBstaticModeSelection.RBE2,
    )
    return fem


def exudyn_run(fem: Any, bar: Bar, step: float) -> tuple[np.ndarray, float]:
    """Run the bar in Exudyn; return the position of the tip at the end [m] and the solver's time
    [s].
    """
    exu: Any = import_module("exudyn")  # made by a compiler: nothing is known of its types
    items: Any = import_module("exudyn.itemInterface")

    mbs = exu.SystemContainer().AddSystem()
    made = (
        import_module("exudyn.FEM")
        .ObjectFFRFreducedOrderInterface(fem)
        .AddObjectFFRFreducedOrder(
            mbs,
            positionRef=[0, 0, 0],
            initialVelocity=[0, 0, 0],
            initialAngularVelocity=[0, 0, 0],
            gravity=[0, 0, -9.81],
        )
    )
    markers = {
        name: mbs.AddMarker(
            items.MarkerSuperElementRigid(
                bodyNumber=made["oFFRFreducedOrder"],
                meshNodeNumbers=nodes,
                weightingFactors=np.ones(len(nodes)) / len(nodes),
            )
        )
        for name, nodes in bar.faces.items()
    }
    ground = mbs.AddObject(items.ObjectGround())
    fixed = mbs.AddMarker(items.MarkerBodyRigid(bodyNumber=ground, localPosition=[0, 0, 0]))
    free_about_y = [1, 1, 1, 1, 0, 1]
    mbs.AddObject(
        items.GenericJoint(markerNumbers=[fixed, markers["root"]], constrainedAxes=free_about_y)
    )
    sensor = mbs.AddSensor(
        items.SensorMarker(
            markerNumber=markers["tip"],
            outputVariableType=exu.OutputVariableType.Position,
            storeInternal=True,
        )
    )
    return end_in_exudyn(exu, mbs, sensor, STOP, step)


def end_in_exudyn(
    exu: Any, mbs: Any, sensor: Any, stop_time: float, step: float
) -> tuple[np.ndarray, float]:
    """Run an Exudyn system by the generalised-alpha method; return the position at a sensor at the
    end [m] and the processing time [s].
    """
    mbs.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(stop_time / step)
    settings.timeIntegration.endTime = stop_time
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.95
    settings.solutionSettings.writeSolutionToFile = False
    settings.solutionSettings.sensorsWritePeriod = stop_time
    start = time.perf_counter()
    mbs.SolveDynamic(settings)
    seconds = time.perf_counter() - start
    return np.array(mbs.GetSensorStoredData(sensor)[-1, 1:4]), seconds


def time_at(points: list[Point], error: float) -> float:
    """Return the time in which a method reaches an error, interpolated between its runs on
    logarithmic scales; NaN outside their range.
    """
    known = sorted((math.log(p.error), math.log(p.seconds)) for p in points[1:] if p.error > 0.0)
    errors, times = zip(*known, strict=True)
    where = math.log(error)
    return (
        math.exp(np.interp(where, errors, times)) if errors[0] <= where <= errors[-1] else math.nan
    )


def common_errors(here: list[Point], there: list[Point], count: int = 3) -> list[float]:
    """Return errors that the runs of both programs reach, from the largest to the smallest; none if
    their ranges do not overlap.
    """
    ranges = [[p.error for p in points[1:] if p.error > 0.0] for points in (here, there)]
    low, high = max(map(min, ranges)), min(map(max, ranges))
    return [float(each) for each in np.geomspace(high, low, count)] if low <= high else []


def told() -> Iterator[str]:
    """Yield the lines of a table: every run, then times at equal errors."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bar = meshed_bar(folder)
        here = ours(bar, folder)
        there = theirs(bar)
    yield f"floating frame of {len(bar.mesh.nodes)} nodes, 14 modes, {STOP:g} s, beside Exudyn"
    for who, points, what in (("kinetree", here, "tolerance"), ("Exudyn", there, "step [s]")):
        for p in points[1:]:
            yield (
                f"  {who:9} {what:9} {p.setting:8.3g}: error of the tip {p.error:8.2e} m,"
                f" {1e3 * p.seconds:9.3f} ms, {1e6 * p.of_step:7.2f} us a step"
            )
    errors = common_errors(here, there)
    for error in errors:
        ratio = time_at(there, error) / time_at(here, error)
        yield f"  error {error:.1e} m: Exudyn takes {ratio:.0f} times the time"
    if not errors:
        yield "  no run of one is as near as a run of the other: nothing is compared at equal error"
