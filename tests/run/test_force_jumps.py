"""Laws that jump with the state: steps end there, hosts are told, nothing else happens."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.engine.flat_blocks import model_fields
from kinetree.solvers.layout import Guard
from kinetree.solvers.model_records import GUARD

VARIABLE = ("auto", "radau", "rk45", "tsit5", "verner65")
TOLERANCE = 1e-6


def slider(law: str | dict, **more) -> dict:
    """A unit mass on a line from x = 1 at rest, with one force."""
    force = {"coordinate": "x", "value": law} if isinstance(law, str) else law
    return {
        "format": "kinetree/1",
        "name": "slider",
        "gravity": [0, 0, 0],
        "bodies": {"m": {"mass": 1.0}},
        "joints": {
            "j": {"child": "m", "transforms": [{"shift": "x", "coordinate": "x", "start": 1.0}]}
        },
        "forces": {"f": force},
        **more,
    }


def swing(t: float) -> float:
    """x with x'' = -2 sign(x) from 1 at rest: parabolas of two seconds."""
    s = t % 4.0
    return 1.0 - s * s if s < 1.0 else (s - 2.0) ** 2 - 1.0 if s < 3.0 else 1.0 - (4.0 - s) ** 2


def jump_guards(system) -> list[str]:
    """The guards of jumps of a compiled mechanism, by their texts."""
    c = system.compiled
    rows = GUARD.rows(model_fields(c.ints, c.floats).guards)
    return [text for text, row in zip(c.guards, rows, strict=True) if row.kind == Guard.JUMP]


LAWS = {
    "sign": "-2*sign(x)",
    "condition": "if(x > 0, -2, 2)",
    "comparison": "2 - 4*(x >= 0)",
    "conditions": "if(x > 0 and x > -3, -2, 2)",
}


@pytest.mark.parametrize("integrator", VARIABLE)
def test_error_at_force_jumps_stays_within_tolerance(integrator: str):
    """Five jumps; a step over one of them would be wrong by a hundred tolerances [each 25 s after it]."""
    system = load(slider(LAWS["sign"])).compile()
    for tolerance in (1e-5, 1e-7):
        result = system.simulate(10.0, output_step=10.0, integrator=integrator, tolerance=tolerance)
        assert abs(result["x"][-1] - swing(10.0)) < tolerance


@pytest.mark.parametrize("law", LAWS.values(), ids=LAWS)
def test_every_notation_of_a_jump_is_detected(law: str):
    system = load(slider(law)).compile()
    result = system.simulate(10.0, output_step=0.5, integrator="rk45", tolerance=TOLERANCE)
    assert result["x"] == pytest.approx([swing(t) for t in result.time], abs=TOLERANCE)
    assert not result.events


def test_jump_inside_an_output_used_by_a_force_is_detected():
    outputs = {"side": {"value": "sign(x)"}, "idle": {"value": "sign(x - 0.3)"}}
    system = load(slider("-2*side", outputs=outputs)).compile()
    assert len(jump_guards(system)) == 1
    result = system.simulate(10.0, output_step=10.0, integrator="radau", tolerance=TOLERANCE)
    assert abs(result["x"][-1] - swing(10.0)) < TOLERANCE


def test_rounding_functions_have_a_jump_at_every_step():
    """The force of a staircase, -floor(4 x)/4 - 1/8, has a potential, the stairs' integral."""
    system = load(slider("-floor(4*x)/4 - 0.125")).compile()
    result = system.simulate(8.0, output_step=0.05, integrator="rk45", tolerance=1e-8)
    x, n = result["x"], np.floor(4 * result["x"])
    potential = n * (n - 1) / 32 + n / 4 * (x - n / 4) + x / 8
    assert np.ptp(0.5 * result["der(x)"] ** 2 + potential) < 1e-6 and np.ptp(n) > 6


def test_jumps_in_time_or_parameters_only_create_no_guard():
    parameters = {"p": 1.0}
    system = load(slider("if(t > 1, 1, 0)*sign(p) - x", parameters=parameters)).compile()
    assert jump_guards(system) == []


def test_undamped_and_continuous_force_laws_have_no_jump_guards():
    contact = {"kind": "contact", "body": "m", "stiffness": 1e4, "normal": [1, 0, 0]}
    assert jump_guards(load(slider(contact)).compile()) == []
    assert jump_guards(load(slider(contact | {"dissipation": 0.3})).compile()) == []
    assert len(jump_guards(load(slider(contact | {"damping": 10.0})).compile())) == 1


DAMPED = {
    "contact": {
        "kind": "contact",
        "body": "m",
        "stiffness": 1e4,
        "damping": 20.0,
        "normal": [1, 0, 0],
    },
    "buffer": {
        "between": [{"body": "ground", "point": [-2, 0, 0]}, {"body": "m"}],
        "stiffness": 1e4,
        "damping": 20.0,
        "length": 2.0,
        "compression_only": True,
    },
}


@pytest.mark.parametrize("force", DAMPED.values(), ids=DAMPED)
def test_damped_impact_restitution_matches_damping(force: dict):
    """Restitution of a spring-damper that never pulls, at arrival with 1 m/s: exp(-ζ/√(1 - ζ²) φ), φ = the angle at which the load is zero."""
    mechanism = slider(force)
    mechanism["joints"]["j"]["transforms"][0] |= {"start": 0.5, "speed": -1.0}
    for integrator in ("radau", "rk45"):
        result = (
            load(mechanism)
            .compile()
            .simulate(1.0, output_step=1.0, integrator=integrator, tolerance=1e-7)
        )
        zeta = 0.1
        root = np.sqrt(1 - zeta**2)
        angle = np.arctan2(
            2 * zeta * root, 2 * zeta**2 - 1
        )  # of the damped oscillation, at release
        kept = np.exp(-zeta / root * angle)
        assert result["der(x)"][-1] == pytest.approx(kept, abs=1e-5)
        assert not result.events


def test_event_moving_the_state_over_a_jump_is_handled():
    """The state is thrown over the jump and comes back: the side is read anew."""
    events = {"throw": {"when": "x < 0.5", "set": {"x": -0.5, "der(x)": 0.0}}}
    system = load(slider("-2*sign(x)", events=events)).compile()
    result = system.simulate(2.0, output_step=0.1, integrator="rk45", tolerance=TOLERANCE)
    (record,) = result.events
    t = record.time
    assert t == pytest.approx(np.sqrt(0.5), abs=1e-6)
    crossed = t + np.sqrt(0.5)
    expected = -((2.0 - crossed) ** 2) + 2 * np.sqrt(0.5) * (2.0 - crossed)
    assert result["x"][-1] == pytest.approx(expected, abs=2 * TOLERANCE)
