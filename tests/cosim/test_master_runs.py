"""What a run does with a master: times from the count of its steps, what is said of bonds, what ends it."""

import math
from types import SimpleNamespace
from typing import Any, cast

import pytest

from kinetree.scripts.cosim import run_master
from kinetree.scripts.cosim.masters import Master
from kinetree.scripts.cosim.power_bonds import Bond
from kinetree.scripts.cosim.slave import CosimError, Slave


class Steps(Master):
    """A master of nothing: notes its steps, and fails where it shall."""

    def __init__(self, fails: float = math.inf):
        super().__init__([], [])
        self.made, self.fails = [], fails

    def step(self, t: float, h: float) -> None:
        if t >= self.fails:
            raise CosimError("no more")
        self.made.append((t, h))


@pytest.mark.parametrize(
    ("stop", "step", "times"),
    [
        (1.0, 0.25, [0.0, 0.25, 0.5, 0.75, 1.0]), (1.0, 0.375, [0.0, 0.375, 0.75, 1.0]), (0.7, 0.1, [k * 0.1 for k in range(7)] + [0.7]),
        (1.0 + 0.9e-10, 0.1, [k * 0.1 for k in range(10)] + [1.0 + 0.9e-10]), (1.0 + 1.2e-10, 0.1, [k * 0.1 for k in range(11)] + [1.0 + 1.2e-10]),
    ],
)  # fmt: skip
def test_communication_steps_end_with_the_run(stop: float, step: float, times: list[float]):
    """A billionth of a step that would be left belongs to the last one."""
    master, seen = Steps(), list[float]()
    trace = run_master.cosimulate(master, stop, step, [], progress=seen.append)
    assert (
        trace.time.tolist() == times and seen == times[1:] and trace.stable and trace.message == ""
    )
    assert master.made == [
        (a, b - a) for a, b in zip(times, times[1:])
    ] and trace.energy_residual.tolist() == [0.0] * len(times)
    for wrong in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(ValueError, match="expected a positive number"):
            run_master.cosimulate(master, stop, wrong, [])


class Told:
    """A watch that says what it shall in every step, and books a power of so many watts."""

    said: dict[str, list[str]] = {}

    def __init__(self, bond: Bond):
        self.bond, self.residual, self.error, self.steps = bond, 0.0, 0.0, 0

    def look(self, master: Any, now: Any, t: float, h: float) -> str:
        assert (t, h) == (0.25 * self.steps, 0.25)
        self.error = (-3.0, 2.0)[self.steps % 2]
        self.residual += h
        self.steps += 1
        return dict(enumerate(self.said[self.bond.name])).get(self.steps - 1, "")


def watched(
    monkeypatch: pytest.MonkeyPatch,
    meant: bool,
    said: list[str],
    fails: float = math.inf,
    crosses: str = "",
) -> run_master.Trace:
    monkeypatch.setattr(run_master, "Watch", Told)
    Told.said, bond = {"b": said}, Bond("b", 0, 0, meant=meant)
    monkeypatch.setattr(run_master, "crossed", lambda *_: [(bond, crosses)] * 2 if crosses else [])
    return run_master.cosimulate(Steps(fails), 1.0, 0.25, [], [bond])


def test_energy_monitor_stops_run_on_declared_bonds(monkeypatch: pytest.MonkeyPatch):
    """Elsewhere it is a warning, once, and the run goes on; unstable it is called in the end."""
    ended = watched(monkeypatch, True, ["", "unstable: one"])
    assert (ended.message, ended.stable, ended.time.tolist(), ended.warnings) == (
        "unstable: one",
        False,
        [0.0, 0.25, 0.5],
        [],
    )
    assert (
        ended.energies["b"].tolist() == ended.energy_residual.tolist() == [0.0, 0.25, 0.5]
        and ended.residual_power == 3.0
    )
    warned = watched(monkeypatch, False, ["", "unstable: one", "unstable: two"])
    assert (warned.message, warned.stable, warned.time[-1], warned.warnings) == (
        "unstable: one",
        False,
        1.0,
        ["unstable: one"],
    )
    crossing = watched(monkeypatch, False, [], crosses="crossed signs: b")
    assert (crossing.message, crossing.stable, crossing.warnings) == (
        "",
        True,
        ["crossed signs: b"] * 2,
    )
    before = watched(monkeypatch, True, [], crosses="crossed signs: b")
    assert (before.message, before.stable, before.time.tolist()) == (
        "stopped: crossed signs: b",
        False,
        [0.0],
    )
    failed = watched(monkeypatch, True, [], fails=0.5)
    assert (failed.message, failed.stable, failed.time.tolist()) == (
        "stopped: no more",
        False,
        [0.0, 0.25, 0.5],
    )


def test_non_finite_values_end_a_cosimulation():
    """The row in which they are is kept, with the energies up to it; lengths of steps are those that a control wants."""
    values = iter([1.0, 2.0, math.inf, 4.0])
    unit = SimpleNamespace(name="a", get=lambda name: next(values), units={"y": "m"})
    trace = run_master.cosimulate(Steps(), 1.0, 0.25, [(cast(Slave, unit), "y")], [])
    assert trace.message == "unstable: values are no longer finite at t = 0.5 s" and trace[
        "a.y"
    ].tolist() == [1.0, 2.0, math.inf]
    assert trace.units == {"a.y": "m"} and not trace.stable
    lengths = iter([0.5, 0.125, 1.0, 1.0])
    control: Any = SimpleNamespace(following=lambda watches, h: next(lengths))
    assert run_master.cosimulate(Steps(), 1.0, 0.25, [], control=control).time.tolist() == [
        0.0,
        0.25,
        0.75,
        0.875,
        1.0,
    ]
