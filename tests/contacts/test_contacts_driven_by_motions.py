"""Given motions that drive a body into a surface: where nothing gives way there is no answer, and the run says so; where something does, it does."""

from pathlib import Path
from typing import Any

import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.unit import fmu_unit
from kinetree.models import load
from kinetree.models.engine.status import EvaluationError
from kinetree.scripts.fmi.in_process_reference import InProcess
from kinetree.solvers.layout import Status

BALL = {"mass": 1.0, "inertia": [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]}
WALL = {"body": "ram", "at": [0.5, 0.0, 0.0], "normal": [-1.0, 0.0, 0.0], "restitution": 0.3}


def ram(given: str, free: bool = False, **more: Any) -> dict[str, Any]:
    """A body that a given motion pushes at a wall; free: it may give way against that motion."""
    parts: list[dict[str, Any]] = [
        {"shift": "x", "by": given},
        *([{"shift": "x", "coordinate": "back"}] if free else []),
    ]
    tables = {
        "joints": {"push": {"child": "ram", "transforms": parts}},
        "contacts": {"wall": WALL},
        "outputs": {"gap": "wall.gap"},
    }
    return {"format": "kinetree/1", "gravity": [0, 0, 0], "bodies": {"ram": BALL}} | tables | more


def crank() -> dict[str, Any]:
    """All that could give way is held by a loop: a slider on a rod whose crank turns as given."""
    turn = {"child": "crank", "transforms": [{"rotate": "z", "by": "2*t"}]}
    rod = {"between": [{"body": "crank", "point": [0.3, 0.0, 0.0]}, {"body": "ram"}], "length": 0.5}
    slide = {"child": "ram", "transforms": [{"shift": "x", "coordinate": "x", "start": -0.2}]}
    joints = {"turn": turn, "slide": slide}
    wall = WALL | {"at": [-0.5, 0.0, 0.0], "normal": [1.0, 0.0, 0.0]}
    return ram(
        "0",
        bodies={"crank": BALL, "ram": BALL},
        joints=joints,
        couplings={"rod": rod},
        contacts={"wall": wall},
    )


@pytest.mark.parametrize("integrator", ["adams", "rk45", "radau", "rk4"])
@pytest.mark.parametrize(
    ("description", "instant"),
    [(ram("t"), 0.5), (ram("0.5 + max(0, t - 0.2)**2"), 0.2), (crank(), None)],
    ids=["t", "t²", "loop"],
)
def test_driven_penetration_is_an_error(
    description: dict[str, Any], instant: float | None, integrator: str
):
    """It went on through the wall without a word: an impulse that nothing takes was none, a force that changes nothing was none."""
    with pytest.raises(
        EvaluationError, match="contact 'wall': given motions.* nothing gives way"
    ) as told:
        load(description).compile().simulate(1.0, output_step=0.05, integrator=integrator)
    assert told.value.status == Status.DRIVEN_TOGETHER
    if instant is not None:
        assert told.value.result is not None and told.value.result.time[-1] == pytest.approx(
            instant, abs=0.051
        )


def test_movable_wall_bounces_from_given_motion():
    """The wall stops what a given motion of 1 m/s carries: from 0.5 s on it goes back by e = 0.3."""
    result = load(ram("t", free=True)).compile().simulate(1.0, output_step=0.05)
    assert result["gap"].min() > -1e-9
    assert result["gap"][-1] == pytest.approx(0.5 * 0.3, abs=1e-9)


def test_body_driven_to_a_wall_rests_there():
    """Neither a touch without approach nor rounding is one that is driven together."""
    result = load(ram("0.5*sin(min(t, pi/2))")).compile().simulate(2.0, output_step=0.05)
    assert abs(result["gap"][-1]) < 1e-12


def test_hosts_receive_contact_errors(tmp_path: Path):
    from kinetree.scripts.fmi.fmpy_host import Archive, Host

    unit = InProcess(fmu_unit(load(ram("t")), integrator="adams")).start()
    with pytest.raises(Exception, match="nothing gives way"):
        unit.step(0.7)
    with Archive(build_fmu(load(ram("t")), tmp_path / "ram.fmu", "native")) as archive:
        host = Host(archive).start()
        with pytest.raises(Exception, match="(?s)contact 1.*nothing gives way|fmi2DoStep"):
            host.step(0.7)
