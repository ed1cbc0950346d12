"""What an FMU is asked as a slave, call by call: values that wait, slopes that are new, what is read at once, derivatives of a step."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.linalg import expm

from kinetree.scripts.cosim import fmu_slave
from kinetree.scripts.cosim.fmu_slave import FmuSlave
from kinetree.scripts.cosim.slave import CosimError
from kinetree.scripts.terminal.error_messages import BadInput


class Refused(Exception):
    """What a library of hosts raises."""

    status = 3


class Instance:
    """Notes what it is called; `fails` names the call that is refused."""

    def __init__(self, *_: Any):
        self.calls: list[tuple[Any, ...]] = []
        self.fails, self.time, self.fmu, self.rates = "", 0.0, self, np.zeros((0, 0))

    def note(self, name: str, *facts: Any) -> None:
        self.calls.append((name, *facts))
        if name == self.fails:
            raise Refused(name)

    def start(self, values: Any) -> None:
        self.note("start", dict(values))

    def set(self, values: dict[str, float]) -> None:
        self.note("set", dict(values))

    def setRealInputDerivatives(
        self, numbers: list[int], orders: list[int], values: list[float]
    ) -> None:
        self.note("slopes", tuple(numbers), tuple(orders), tuple(values))

    def setInteger(self, numbers: list[int], values: list[int]) -> None:
        self.note("integer", numbers[0], values[0])

    def setBoolean(self, numbers: list[int], values: list[bool]) -> None:
        self.note("boolean", numbers[0], type(values[0]), values[0])

    def getInteger(self, numbers: list[int]) -> list[int]:
        self.note("read integer", numbers[0])
        return [7]

    def step(self, target: float) -> None:
        self.note("step", self.time, target)

    def save(self) -> str:
        self.note("save")
        return "state"

    def restore(self, state: str) -> None:
        self.note("restore", state)

    def forget(self, state: str) -> None:
        self.note("forget", state)

    def close(self) -> None:
        self.note("close")

    def getDirectionalDerivative(
        self, unknowns: list[int], knowns: list[int], seed: list[float]
    ) -> list[float]:
        self.note("derivative")
        return list(self.rates[np.ix_(unknowns, knowns)] @ np.array(seed))

    def new(self) -> list[tuple[Any, ...]]:
        """Calls since it was asked last."""
        found, self.calls = self.calls, []
        return found


class Reading:
    """Reads what it was made for: numbers are references."""

    def __init__(self, host: Instance, references: list[int]):
        self.host, self.references = host, references

    def read(self) -> list[float]:
        self.host.note("read", *self.references)
        return [10.0 * number for number in self.references]


VARIABLES = (
    ("x", "local", "Real"), ("z", "local", "Real"), ("der(x)", "local", "Real"), ("der(z)", "local", "Real"), ("u", "input", "Real"),
    ("w", "input", "Real"), ("der(w)", "input", "Real"), ("der(q)", "input", "Real"), ("n", "input", "Integer"), ("s", "input", "String"),
    ("y", "output", "Real"), ("k", "output", "Integer"), ("t", "output", "String"), ("c", "calculatedParameter", "Real"), ("p", "parameter", "Real"),
    ("b", "input", "Boolean"),
)  # fmt: skip


def slave(
    monkeypatch: pytest.MonkeyPatch,
    folder: Path,
    version: int = 2,
    xml: str = "<a><CoSimulation/></a>",
    **kind: Any,
) -> tuple[FmuSlave, Instance]:
    (folder / "modelDescription.xml").write_text(xml)
    variables = [
        SimpleNamespace(
            name=name,
            causality=causality,
            type=type_,
            unit=None,
            declaredType=None,
            valueReference=k,
        )
        for k, (name, causality, type_) in enumerate(VARIABLES)
    ]
    variables[0].unit, variables[1].declaredType = "m", SimpleNamespace(unit="kg")
    for rate, state in ((2, 0), (3, 1)):
        variables[rate].derivative = variables[state]
    facts = {
        "canGetAndSetFMUstate": False,
        "canInterpolateInputs": False,
        "providesDirectionalDerivative": False,
    } | kind
    derivatives = [SimpleNamespace(variable=variables[2]), SimpleNamespace(variable=variables[3])]
    description = SimpleNamespace(
        coSimulation=SimpleNamespace(**facts), modelVariables=variables, derivatives=derivatives
    )
    references = {v.name: v.valueReference for v in variables}
    archive = SimpleNamespace(
        description=description,
        folder=str(folder),
        version=version,
        references=references,
        __exit__=lambda *_: None,
    )
    monkeypatch.setattr(fmu_slave, "Archive", lambda path: archive)
    monkeypatch.setattr(fmu_slave, "Host", Instance)
    monkeypatch.setattr(fmu_slave, "Reals", Reading)
    made = FmuSlave("x.fmu", "s")
    made.failure = Refused  # pyright: ignore[reportAttributeAccessIssue]
    return made, made.host  # type: ignore[return-value]


def test_fmu_capabilities_are_detected(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Numbers are inputs and outputs; a slope belongs to its input, one of nothing is an input like others."""
    made, _ = slave(monkeypatch, tmp_path)
    assert made.inputs == ("u", "w", "der(q)", "n", "b") and made.outputs == (
        "x",
        "z",
        "der(x)",
        "der(z)",
        "y",
        "k",
        "c",
    )
    assert (
        made.ramped == ("w",)
        and made.units["x"] == "m"
        and made.units["z"] == "kg"
        and made.units["u"] == ""
    )
    assert (made.rolls_back, made.interpolates, made.derives, made.states) == (
        False,
        False,
        False,
        [(0, 2), (1, 3)],
    )
    assert slave(monkeypatch, tmp_path, canInterpolateInputs=True)[0].ramped == made.inputs
    assert slave(monkeypatch, tmp_path, 3, canInterpolateInputs=True)[0].ramped == ("w",), (
        "version 3.0 has no such calls"
    )
    assert slave(monkeypatch, tmp_path, providesDirectionalDerivative=True)[0].derives
    for word, derives in (("true", True), ("1", True), ("false", False)):
        assert (
            slave(
                monkeypatch,
                tmp_path,
                3,
                f'<a><CoSimulation providesDirectionalDerivatives="{word}"/></a>',
            )[0].derives
            is derives
        )
    assert not slave(monkeypatch, tmp_path, 3, "<a/>")[0].derives


def test_pending_values_are_sent_in_one_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """What was ever read is read in one call, once after a change; slopes of der(X) are values beside those of X."""
    made, host = slave(monkeypatch, tmp_path)
    made.set("u", 1.0, 5.0)
    made.set("w", 2.0, 0.5)
    assert host.new() == [] and made.get("y") == 100.0
    assert host.new() == [("set", {"u": 1.0, "w": 2.0, "der(w)": 0.5}), ("read", 10)]
    assert (made.get("y"), host.new()) == (100.0, []) and (made.get("x"), host.new()) == (
        0.0,
        [("read", 10, 0)],
    )
    made.set("u", 3.0)
    assert (made.get("x"), made.get("y")) == (0.0, 100.0) and host.new() == [
        ("set", {"u": 3.0}),
        ("read", 10, 0),
    ]
    made.set("u", 4.0)
    made.step(0.5, 0.25)
    assert host.new() == [("set", {"u": 4.0}), ("step", 0.5, 0.75)] and host.time == 0.5
    assert made.get("y") == 100.0 and host.new() == [("read", 10, 0)]
    made.set("n", 2.6)
    made.set("u", 1.0)
    assert made.get("k") == 7.0 and host.new() == [
        ("integer", 8, 3),
        ("set", {"u": 1.0}),
        ("read integer", 11),
    ]
    made.set("b", 2.0)
    assert host.new() == [("boolean", 15, bool, True)]
    for wrong in (float("nan"), float("inf")):
        with pytest.raises(CosimError, match="s.u is given"):
            made.set("u", wrong)


def test_slopes_are_sent_only_when_changed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """None that is zero, and was; after a state has been put back nobody knows which there are."""
    made, host = slave(monkeypatch, tmp_path, canInterpolateInputs=True, canGetAndSetFMUstate=True)

    def stepped(*given: tuple[str, float]) -> list[Any]:
        for name, slope in given:
            made.set(name, 1.0, slope)
        made.step(0.0, 1.0)
        return [call[1:] for call in host.new() if call[0] == "slopes"]

    assert stepped(("u", 0.0), ("w", 2.0)) == [((5,), (1,), (2.0,))] and stepped(
        ("u", 0.0), ("w", 0.0)
    ) == [((5,), (1,), (0.0,))]
    assert (
        stepped(("u", 0.0), ("w", 0.0)) == []
        and stepped(("u", 1.0), ("w", 2.0)) == [((4, 5), (1, 1), (1.0, 2.0))]
        and stepped() == []
    )
    made.set("u", 5.0, 1.0)
    assert made.save() == "state" and [call[0] for call in host.new()] == ["set", "slopes", "save"]
    made.set("u", 9.0, 9.0)
    made.get("y")
    host.new()
    made.set("u", 9.0, 9.0)
    made.restore("state")
    made.forget("state")
    assert host.new() == [("restore", "state"), ("forget", "state")] and stepped() == []
    assert (
        made.get("y") == 100.0
        and host.new() == [("read", 10)]
        and stepped(("u", 0.0)) == [((4,), (1,), (0.0,))]
    )


def test_fmu_start_values_are_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    made, host = slave(monkeypatch, tmp_path)
    made.start({"p": 2, "n": 1.6, "u": 0.5})
    assert host.new() == [("integer", 8, 2), ("start", {"p": 2.0, "u": 0.5})]
    with pytest.raises(BadInput, match="s has no variable 'yy' to start with; did you mean 'y'"):
        made.start({"yy": 1.0})


def test_fmu_failure_includes_its_message(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """By what the FMU said last, else by what the host says; a step that it discards may be made smaller. Its end may fail, too."""
    made, host = slave(monkeypatch, tmp_path)
    host.fails = "step"
    with pytest.raises(CosimError, match="^s failed in the step of 0.25 s at t = 0.5 s: step$"):
        made.step(0.5, 0.25)
    made.messages += ["first", " no oil \n"]
    with pytest.raises(CosimError, match="^s failed in the step of 0.25 s at t = 0.5 s: no oil$"):
        made.step(0.5, 0.25)
    monkeypatch.setattr(Refused, "status", 2)
    with pytest.raises(
        CosimError,
        match="^s discarded the step of 0.25 s at t = 0.5 s: no oil; it may accept a smaller one$",
    ):
        made.step(0.5, 0.25)
    with pytest.raises(CosimError, match="s cannot go back"):
        made.save()
    host.fails, made.rolls_back = "close", True
    made.close()
    assert made.save() == "state"


def derived(
    monkeypatch: pytest.MonkeyPatch, folder: Path, scale: float
) -> tuple[FmuSlave, Instance, tuple[np.ndarray, ...]]:
    """x' = A x + B u, y = C x + D u of two states."""
    made, host = slave(monkeypatch, folder, providesDirectionalDerivative=True)
    rng = np.random.default_rng(2)
    A, B, C, D = (
        scale * rng.normal(size=(2, 2)),
        rng.normal(size=(2, 1)),
        rng.normal(size=(1, 2)),
        rng.normal(size=(1, 1)),
    )
    host.rates = np.zeros((15, 15))
    host.rates[2:4, 0:2], host.rates[2:4, 4:5], host.rates[10:11, 0:2], host.rates[10:11, 4:5] = (
        A,
        B,
        C,
        D,
    )
    return made, host, (A, B, C, D)


@pytest.mark.parametrize("ramp", [True, False])
@pytest.mark.parametrize("h", [0.5, 0.01])
def test_step_derivatives_match_matrix_exponential(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ramp: bool, h: float
):
    """Of what is read at the end by the end of a ramp, and by that of a mean which is half of it and held; a series to its billionth."""
    made, _, (A, B, C, D) = derived(monkeypatch, tmp_path, 1.0)
    whole = np.zeros((4, 4))  # of x, u and its slope
    whole[:2, :2], whole[:2, 2:3], whole[2, 3] = A, B, 1.0
    end = expm(whole * h) @ np.array([0.0, 0.0, 0.0, 1.0 / h] if ramp else [0.0, 0.0, 0.5, 0.0])
    expected = C @ end[:2] + D[:, 0] * (1.0 if ramp else 0.5)
    assert made.ramp_response("u", ["y"], h, ramp) == pytest.approx(list(expected), rel=1e-8)
    assert made.ramp_response("u", [], h, ramp) == []


def test_step_derivatives_of_too_long_steps_are_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """After thirty terms steps are repeated instead; so they are without derivatives or states."""
    made, host, _ = derived(monkeypatch, tmp_path, 1e3)
    assert made.ramp_response("u", ["y"], 1.0, True) is None and len(host.new()) == 1 + 30
    made.states = []
    assert made.ramp_response("u", ["y"], 0.01, True) is None
    made, host, _ = derived(monkeypatch, tmp_path, 1.0)
    made.derives = False
    assert made.ramp_response("u", ["y"], 0.01, True) is None and host.new() == []
    made.set("u", 1.0)
    assert made.directional([2], [4], [1.0]).shape == (1,) and [call[0] for call in host.new()] == [
        "set",
        "derivative",
    ]
    assert (
        made.directional([2, 3], [], []).tolist() == [0.0, 0.0]
        and made.directional([], [4], [1.0]).tolist() == []
        and host.new() == []
    )
