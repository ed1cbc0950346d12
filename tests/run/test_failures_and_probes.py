"""Which number is to blame for a failure; what actuators hold, and the masses they find; which code gives the rates; on hand-made records."""

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest
from noted_calls import FAILURE, Noted
from plain_kernels import plain

from kinetree.solvers import layout as L
from kinetree.solvers.layout import Status
from kinetree.solvers.model_records import INSTRUCTION, LATCH, PROBE, SENSOR

F, P, O = (
    plain("instance.failures"),
    plain("instance.actuator_probes"),
    plain("instance.derivatives"),
)
NAN, INF = math.nan, math.inf


def evaluated(**values: float) -> tuple[SimpleNamespace, SimpleNamespace]:
    """Coordinates in 2, 3, a speed in 4, a state in 5; sensors to 6, the vector 7, 8, 9, one that is late to 10; results in 11, 12."""
    ws = SimpleNamespace(
        val=np.ones(16),
        q=np.zeros(2),
        u=np.zeros(1),
        x=np.zeros(1),
        head=SimpleNamespace(item=-5.0),
    )
    for name, value in values.items():
        ws.val[int(name[1:])] = value
    header = SimpleNamespace(r_q=2, r_u=4, r_x=5, late_sensors=2, phase=[0, 1, 2, 3, 4, 5])
    sensors = [
        *SENSOR.filled(register=6, axis=0),
        *SENSOR.filled(register=7, axis=L.WHOLE),
        *SENSOR.filled(register=10, axis=0),
    ]
    code = [number for dst in (13, 11, 12, 14, 15) for number in INSTRUCTION.filled(dst=dst)]
    return SimpleNamespace(header=header, sensors=np.array(sensors), code=np.array(code)), ws


NOBODY = -1.0
ONES = (Status.NOT_A_NUMBER, Status.SINGULAR_JOINT, Status.SINGULAR_BODY, Status.NO_CONVERGENCE)


@pytest.mark.parametrize("register", range(16))
def test_first_non_finite_value_is_named(register):
    """States count as lost when they have grown out of all proportion; what is late, or nobody's, is not looked at."""
    for value, status in itertools.product((NAN, INF, -INF, 1e100, -1e100, 0.99e100), Status):
        lost = register in (2, 3, 4, 5) and not abs(value) < 1e100
        measured = register in (6, 7, 8, 9, 11, 12) and not math.isfinite(value)
        model, ws = evaluated(**{f"_{register}": value})
        found = F.find_cause(model, ws, int(status))
        if status not in ONES or not (lost or status == Status.NOT_A_NUMBER):
            assert found == status and ws.head.item == -5.0
        else:
            assert found == Status.NOT_A_NUMBER and ws.head.item == (
                register if lost or measured else NOBODY
            )


def test_failing_states_are_blamed_first():
    order = [2, 3, 4, 5, 6, 7, 8, 9, 11, 12]
    for k, first in enumerate(order):
        model, ws = evaluated(**{f"_{register}": NAN for register in order[k:]})
        assert (
            F.find_cause(model, ws, int(Status.NOT_A_NUMBER)) == Status.NOT_A_NUMBER
            and ws.head.item == first
        )


def test_actuators_latch_measured_values():
    model = SimpleNamespace(
        header=SimpleNamespace(latches=2),
        latches=np.array([*LATCH.filled(source=1, kept=4), *LATCH.filled(source=2, kept=5)]),
    )
    ws = SimpleNamespace(val=np.arange(7.0))
    P.latch_actuators(model, ws)
    assert ws.val.tolist() == [0, 1, 2, 3, 1, 2, 6]


@pytest.mark.parametrize("fails", ["", "load", "accelerations_of", "finish"])
def test_effective_mass_is_inverse_of_unit_response(monkeypatch, fails):
    """Two probes with forces in 0, 1, accelerations in 2, 3 and masses in 4, 5: 0.25 F₁ and 2 F₂ on top of 3 and 5."""
    rows = [
        *PROBE.filled(force=0, acceleration=2, mass=4),
        *PROBE.filled(force=1, acceleration=3, mass=5),
    ]
    model = SimpleNamespace(header=SimpleNamespace(probes=2), probes=np.array(rows))
    ws = SimpleNamespace(val=np.zeros(6))

    def finish(model, ws):
        ws.val[2], ws.val[3] = 3.0 + 0.25 * ws.val[0], 5.0 + 2.0 * ws.val[1]
        return 0

    calls = Noted(monkeypatch, P, "load", "accelerations_of", finish=finish, fails=fails)
    assert P.probe_actuators(model, ws, 2.0) == (FAILURE if fails else 0)
    whole = ["load 2", "accelerations_of", "finish"]
    assert calls.told == (
        2 * whole if not fails else whole[: [each.split()[0] for each in whole].index(fails) + 1]
    )
    assert ws.val[:2].tolist() == [0.0, 0.0]
    if not fails:
        finish(model, ws)
        P.compute_effective_masses(model, ws)
        assert ws.val[4:].tolist() == [4.0, 0.5]


@pytest.mark.parametrize(
    "form, on_constraints, sloped, status, gave",
    [
        (0, 0, 0, 0, True),
        (0, 0, 1, 0, True),
        (0, 0, 0, 3, False),
        (1, 0, 0, 0, False),
        (0, 1, 0, 0, False),
    ],
)
def test_specialised_code_gives_rates(monkeypatch, form, on_constraints, sloped, status, gave):
    """Inputs that move are where they are by now."""
    calls = Noted(
        monkeypatch,
        O,
        "move_inputs",
        call_own=lambda address, t, y, val, ydot: status if address == 77 else 9,
    )
    model = SimpleNamespace(header=SimpleNamespace(own=77))
    ws = SimpleNamespace(
        head=SimpleNamespace(form=form, on_constraints=on_constraints, sloped=sloped, given_at=0.5),
        val=np.zeros(1),
    )
    assert O.specialised_rates(np.zeros(1), model, ws, 2.0, np.zeros(1)) == gave
    asked = not form and not on_constraints
    assert calls.told == ([*(["move_inputs 1.5"] if sloped else []), "call_own 2"] if asked else [])
