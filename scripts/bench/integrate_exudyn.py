"""Exudyn models for the benchmark of work against accuracy: a chain of revolute bodies as a
kinematic tree, and N plane four-bars.
"""

import time
from typing import Any

import numpy as np

from kinetree.scripts.bench import dynamics_trees as trees
from kinetree.scripts.bench.loops import TIPS
from kinetree.scripts.bench.loops_peers import exudyn as loops


def tree(bodies: int) -> tuple[Any, Any]:
    """Return the chain of `dynamics_trees` in Exudyn, without sensors: (module, (container,
    system)).
    """
    import exudyn
    from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

    exu: Any = exudyn  # what it offers is known at run time alone
    container = exu.SystemContainer()
    system = container.AddSystem()
    case = trees.chain("revolute", bodies)
    q, u = trees.state(case)
    xx, yy, zz, xy, xz, yz = trees.INERTIA
    turns = {
        "x": exu.JointType.RevoluteX,
        "y": exu.JointType.RevoluteY,
        "z": exu.JointType.RevoluteZ,
    }
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * bodies,
            initialCoordinates=list(q),
            initialCoordinates_t=list(u),
            numberOfODE2Coordinates=bodies,
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[turns[case.axes(i)[0]] for i in range(1, bodies + 1)],
            linkParents=list(np.arange(bodies) - 1),
            jointTransformations=exu.Matrix3DList([np.eye(3)] * bodies),
            jointOffsets=exu.Vector3DList([list(trees.OFFSET)] * bodies),
            linkInertiasCOM=exu.Matrix3DList(
                [np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])] * bodies
            ),
            linkCOMs=exu.Vector3DList([list(trees.COM)] * bodies),
            linkMasses=[trees.MASS] * bodies,
            gravity=[0.0, 0.0, -trees.GRAVITY],
        )
    )
    system.Assemble()
    return exu, (container, system)


def chain_run(bodies: int, stop: float, solver: str, setting: float) -> tuple[np.ndarray, float]:
    """Run the chain in Exudyn; return final coordinates and speeds, and seconds. `setting` is a
    tolerance or a number of steps.
    """
    exu, (_container, system) = tree(bodies)
    settings = exu.SimulationSettings()
    steps = settings.timeIntegration
    steps.endTime, steps.numberOfSteps, steps.verboseMode = stop, int(max(20.0, setting)), 0
    if setting < 1.0:
        steps.automaticStepSize, steps.relativeTolerance, steps.absoluteTolerance = (
            True,
            setting,
            1e-2 * setting,
        )
    settings.solutionSettings.writeSolutionToFile = False
    clock = time.thread_time()
    system.SolveDynamic(settings, solverType=getattr(exu.DynamicSolverType, solver))
    seconds = time.thread_time() - clock
    return np.concatenate(
        (system.systemData.GetODE2Coordinates(), system.systemData.GetODE2Coordinates_t())
    ), seconds


def exudyn_points(
    model: str, stop: float, exact: np.ndarray, scale: np.ndarray, quick: bool
) -> dict[str, list[tuple[float, float, int, float]]]:
    """Return (setting, final error, 0, seconds) of Exudyn's methods; nothing if Exudyn is not
    installed.
    """
    every = 2 if quick else 1
    try:
        if model == "loops":
            runs = [loops(2, stop, 250 * 2**k, TIPS[stop]) for k in range(0, 7, every)]
            return {
                "Exudyn generalised alpha": [
                    (run["steps"], run["error"], 0, run["seconds"]) for run in runs
                ]
            }
        settings = {
            "DOPRI5": 10.0 ** -np.arange(2.0, 11.0, every),
            "RK67": 20.0 * 2.0 ** np.arange(0, 9, every),
        }
        found: dict[str, list[tuple[float, float, int, float]]] = {}
        for solver, values in settings.items():
            points = found[f"Exudyn {solver}"] = []
            for value in map(float, values):
                end, seconds = min(
                    (chain_run(len(exact) // 2, stop, solver, value) for _ in range(3)),
                    key=lambda run: run[1],
                )
                points.append((value, float((np.abs(end - exact) / scale).max()), 0, seconds))
        return found
    except ImportError:
        return {}
