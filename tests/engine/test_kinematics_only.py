"""Sensors and guards are placed by kinematics alone, and a vector is measured once whatever number of its parts is told."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import allocate, model_fields
from kinetree.models.trace.symbolic_kernels import PlainKernels
from kinetree.solvers import layout as L
from kinetree.solvers.model_records import HEADER, SENSOR


def placed(description):
    """Plain kernels on a fresh workspace at the start, its model, and what the compiled engine finds there."""
    system = load(description).compile()
    instance = system._fast
    q, u = system.start()
    instance.set_state(q, u)
    instance.call("outputs", 0, 0.0)
    model = model_fields(instance.ints, system.compiled.floats)
    model.header = HEADER.of(instance.ints)
    _, ws = allocate(instance.ints, system.compiled.floats)
    kernels = PlainKernels(symbolic=False)
    ws.q[:], ws.u[:], ws.added[:] = q, u, 0.0
    assert kernels.kernel("engine.derived_constants", "prepare")(model, ws) == 0
    return kernels, model, ws, instance.ws


def registers_of(sensors: list) -> list[int]:
    """What sensors write: one register, or three of a vector."""
    return [
        sensor.register + k for sensor in sensors for k in range(3 if sensor.axis == L.WHOLE else 1)
    ]


@pytest.mark.parametrize("name", ["pendulum_stop", "boom", "spacecraft", "slider_crank_spatial"])
def test_kinematic_queries_need_no_inertia(name: str):
    """Positions, velocities and early sensors are those of a whole evaluation; what the elimination would begin with is not touched."""
    kernels, model, ws, expected = placed(f"lib:{name.replace('_', '-')}")
    assert kernels.kernel("engine.evaluation", "look")(model, ws, 0.0) == 0
    rows, known = ws.row.reshape(-1, L.ROW), expected.row.reshape(-1, L.ROW)
    if (
        model.header.forces > 0 or model.header.idle_sensors > 0
    ):  # otherwise nothing that moves reads them
        for first, count in ((L.W_R, 9), (L.W_OM, 3), (L.W_P, 3), (L.W_V, 3)):
            assert np.allclose(
                rows[1:, first : first + count],
                known[1:, first : first + count],
                rtol=1e-12,
                atol=1e-12,
            )
    assert np.isnan(rows[1:, L.W_J : L.W_J + 21]).all()
    early = registers_of(list(SENSOR.rows(model.sensors))[: model.header.late_sensors])
    assert np.allclose(ws.val[early], expected.val[early], rtol=1e-12, atol=1e-12)


def test_vector_sensors_are_evaluated_once():
    """Three components and the length of one point's velocity are one measurement; another frame is another one."""
    description = {
        "format": "kinetree/1",
        "name": "arm",
        "bodies": {"arm": {"mass": 1, "com": [0, 0, 1], "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "turn": {
                "child": "arm",
                "type": "revolute",
                "axis": "x",
                "coordinates": ["q"],
                "start": 0.3,
            }
        },
        "outputs": {
            "v": {"quantity": "velocity", "body": "arm", "point": [0, 0.5, 1]},
            "own": {"quantity": "velocity", "body": "arm", "point": [0, 0.5, 1], "frame": "body"},
        },
    }
    kernels, model, ws, expected = placed(description)
    module = kernels.module("kinetree.solvers.sensors.measure")
    calls, whole = [], module.vector

    def counted(*arguments):
        calls.append(arguments[2].register)
        return whole(*arguments)

    module.vector = counted
    assert kernels.kernel("engine.evaluation", "look")(model, ws, 0.0) == 0
    kernels.kernel("engine.kinematics", "velocities")(model, ws)
    kernels.kernel("engine.evaluation", "tell")(model, ws)  # only results read them
    told = registers_of(list(SENSOR.rows(model.sensors)))
    assert np.allclose(ws.val[told], expected.val[told], rtol=1e-12, atol=1e-12)
    assert len(told) >= 6 and len(calls) == 2
