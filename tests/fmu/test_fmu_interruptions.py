"""A step of an FMU never keeps its host: it can be cancelled, has a budget, and what failed is named."""

import threading
from pathlib import Path

import pytest
from fmpy.fmi1 import FMICallException

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.fmpy_host import Archive, Host

BODY = {"mass": 1.0, "com": [0, 0, -1.0], "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}


def swing(limit: float) -> dict:
    joint = {"child": "a", "transforms": [{"rotate": "y", "coordinate": "q", "start": 0.5}]}
    return {
        "format": "kinetree/1",
        "name": "swing",
        "bodies": {"a": BODY},
        "joints": {"j": joint},
        "run": {"step_limit": limit},
    }


@pytest.fixture(scope="module")
def archive(tmp_path_factory: pytest.TempPathFactory):
    """Opened archives by limit, version and back end."""
    folder, opened = tmp_path_factory.mktemp("limits"), {}

    def of(limit: float, fmi: int = 2, backend: str = "native") -> Archive:
        key = (limit, fmi, backend)
        if key not in opened:
            path = Path(folder) / f"swing-{limit:.0e}-{fmi}-{backend}.fmu"
            build_fmu(
                load(swing(limit)), path, backend=backend, fmi=fmi, integrator="rk4", step=1e-3
            )
            opened[key] = Archive(path).__enter__()
        return opened[key]

    yield of
    for each in opened.values():
        each.__exit__(None, None, None)


@pytest.mark.parametrize("fmi, backend", [(2, "native"), (3, "native"), (2, "python")])
def test_step_budget_ends_step_with_reason(archive, fmi: int, backend: str):
    """100 steps of 1 ms reach 0.1 s of the 10 s that were asked for; shorter steps go on from a state that was kept."""
    host = Host(archive(100, fmi, backend)).start()
    host.step(0.05)
    kept = host.save()
    with pytest.raises(FMICallException):
        host.step(10.0)
    assert any(
        "100 steps of the integrator do not reach its end: steps are 1.0e-03 s" in message
        for message in host.messages
    ), host.messages
    host.restore(kept)
    for k in range(1, 5):
        host.step(0.05 + 0.05 * k)
    host.fmu.freeInstance()


def test_another_thread_cancels_a_step(archive):
    """1e9 s in steps of 1 ms would take days; the state is then that of the last successful time, and a further step goes on from there."""
    host = Host(archive(1e15)).start()
    timer = threading.Timer(0.5, host.fmu.fmi2CancelStep, (host.fmu.component,))
    timer.start()
    with pytest.raises(FMICallException):
        host.step(1e9)
    timer.join()
    assert any("cancelled by the host" in message for message in host.messages)
    assert abs(host.get(["q"])[0]) < 0.6
    with pytest.raises(FMICallException):
        host.fmu.fmi2CancelStep(host.fmu.component)
    assert any("no step is in progress" in message for message in host.messages)
    host.fmu.freeInstance()


def test_early_return_of_fmi_3_is_granted_at_a_step_of_the_integrator(archive):
    """The host sees every step of 1 ms, reads values there, and leaves after the seventh."""
    seen, asked = [], []

    def update(environment, time, set_requested, get_allowed, finished, may_return, wanted, until):
        seen.append(time)
        asked.append(host.get(["q"])[0])
        wanted[0] = len(seen) == 7

    host = Host(archive(1e6, 3), early_return_allowed=True, intermediate_update=update)
    host.start()
    _, _, early, reached = host.fmu.doStep(0.0, 0.5)
    assert (
        early
        and reached == pytest.approx(0.007, abs=1e-12)
        and seen == pytest.approx([1e-3 * k for k in range(1, 8)])
    )
    assert asked[0] == pytest.approx(0.5, abs=1e-4) and asked[-1] < asked[0]
    host.fmu.freeInstance()


def test_step_interruptions_do_not_change_results(archive):
    """A step with an update after every step of the integrator ends where one without ends, bit for bit."""
    plain, told = (
        Host(archive(1e6, 3)).start(),
        Host(archive(1e6, 3), intermediate_update=lambda *a: None).start(),
    )
    for k in range(1, 6):
        plain.step(0.1 * k)
        told.step(0.1 * k)
    assert plain.get(["q", "der(q)"]) == told.get(["q", "der(q)"])
    plain.fmu.freeInstance()
    told.fmu.freeInstance()


def test_diverged_host_state_is_named(archive):
    """A number that is none, and one so large that inertias overflow: neither is reported as a body without inertia."""
    import ctypes

    opened = archive(1e6)
    host = Host(opened, kind="ModelExchange").start()
    host.fmu.newDiscreteStates()
    host.fmu.enterContinuousTimeMode()
    states, rates = (ctypes.c_double * 2)(0.5, float("nan")), (ctypes.c_double * 2)()
    with pytest.raises(FMICallException):
        host.fmu.setContinuousStates(states, 2)
    assert any("the host's state 'der(q)' is nan" in message for message in host.messages), (
        host.messages
    )
    states[1] = 1e200
    host.fmu.setContinuousStates(states, 2)
    try:
        host.fmu.getDerivatives(rates, 2)
    except FMICallException:
        assert any("'der(q)' has grown to 1e+200" in message for message in host.messages), (
            host.messages
        )
    host.fmu.freeInstance()


@pytest.mark.parametrize(
    "law, doing",
    [
        ("1/zero", "initialization at t = 0:"),
        ("if(t < 0.03, 0, 1/zero)", "evaluation at t = 0.03:"),
    ],
)
def test_undefined_law_is_reported_instead_of_infinite_rate(tmp_path: Path, law: str, doing: str):
    """Integrators of hosts take infinity for a number; here the law has no value from the start, or behind a corner that is carried out."""
    forces = {"lost": {"coordinate": "q", "value": law}}
    build_fmu(
        load(swing(1e6) | {"parameters": {"zero": 0.0}, "forces": forces}),
        tmp_path / "lost.fmu",
        backend="native",
        fmi=2,
    )
    with Archive(tmp_path / "lost.fmu") as opened:
        host = Host(opened, kind="ModelExchange")
        with pytest.raises(FMICallException):
            host.start()
            assert host.fmu.newDiscreteStates()[-1] == 0.03
            host.fmu.enterContinuousTimeMode()
            host.fmu.setTime(0.03)
            host.fmu.enterEventMode()
            host.fmu.newDiscreteStates()
        assert host.messages == [f"{doing} the rate of 'der(q)' is not a finite number"]
        host.fmu.freeInstance()
