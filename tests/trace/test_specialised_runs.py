"""Straight-line right-hand sides of whole runs: the same motion as the general engine, through stages, loops, inputs and other parameters."""

import numpy as np
import pytest

from kinetree.fmu.archive.build import build_fmu
from kinetree.fmu.archive.payload import with_checksum
from kinetree.models import load
from kinetree.models.run.simulation import Options, simulate
from kinetree.models.run.simulation_unit import make_unit
from kinetree.models.specialised.llvm_compiler import compiled
from kinetree.models.specialised.specialised_rates import Motion, attach, motions, own_place
from kinetree.scripts.fmi.fmpy_host import Archive, Host

# other operations in the same steps: a rounding per step, which a regular motion of a second hardly magnifies
ROUNDED = 1e-9
REGULAR = (
    "puma560",
    "regulator",
    "boom",
    "four-bar",
    "mobile-robot",
    "elasto-gap",
    "delta",
    "chain6",
    "bouncing-ball",
    "rolling-disc",
)


def deviation(a, b) -> float:
    """Largest difference of the coordinates, speeds and states, in units of each one's size or of 1."""
    names = [name for name in a if not name.endswith(("_residual", "residual"))]
    return max(
        float(np.max(np.abs(a[name] - b[name])) / max(1.0, np.max(np.abs(a[name]))))
        for name in names
    )


@pytest.mark.parametrize("name", REGULAR)
def test_specialised_runs_match_engine(name):
    system = load(f"lib:{name}").compile()
    fast = system.specialise()
    options = {"integrator": "rk4", "step": 1e-3, "stop_time": 1.0}
    assert deviation(system.simulate(**options), fast.simulate(**options)) < ROUNDED
    assert all(isinstance(each, Motion) for each in fast.motions)


def test_staged_mechanism_has_code_per_structure():
    """Time since the stage began, values of locked joints and released bodies are read where they stand, not built in."""
    system = load("lib:carrier", modules=2).compile()
    fast = system.specialise()
    a, b = (each.simulate(integrator="rk4", step=1e-3, stop_time=4.0) for each in (system, fast))
    assert len(fast.motions) > 2 and all(isinstance(each, Motion) for each in fast.motions)
    assert [event.stage for event in a.events] == [event.stage for event in b.events] and len(
        a.events
    ) > 2
    assert max(abs(x.time - y.time) for x, y in zip(a.events, b.events, strict=True)) < ROUNDED
    # what leaves carries the roundings of contacts on
    assert deviation(a, b) < 1e-6


LOCKING = {
    "format": "kinetree/1",
    "gravity": [0, 0, -9.81],
    "bodies": {
        "a": {"mass": 2.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]},
        "b": {"mass": 1.0, "com": [0, 0, -0.5]},
    },
    "joints": {
        "slide": {
            "parent": "ground",
            "child": "a",
            "transforms": [{"shift": "x", "coordinate": "s", "speed": 1.0}],
        },
        "hinge": {
            "parent": "a",
            "child": "b",
            "transforms": [{"rotate": "y", "coordinate": "p", "start": 0.4}],
        },
    },
    "stages": [{"name": "swing", "ends": {"when": "s > 0.3"}, "lock": ["slide"]}, {"name": "held"}],
}


def test_locked_joint_keeps_position_in_code():
    system = load(LOCKING).compile()
    fast = system.specialise()
    a, b = (
        each.simulate(stop_time=1.0, integrator="rk4", step=1e-3, output_step=0.01)
        for each in (system, fast)
    )
    assert a["s"][-1] == pytest.approx(0.3, abs=0.01) and deviation(a, b) < ROUNDED


def test_moving_inputs_are_evaluated_between_outputs():
    system = load("lib:boom").compile()
    fast = system.specialise()
    name = system.compiled.inputs[0]
    given = {name: lambda t: 2e4 + 1e3 * np.sin(9.0 * t)}
    a, b = (
        each.simulate(stop_time=0.5, integrator="rk4", step=1e-3, output_step=0.05, inputs=given)
        for each in (system, fast)
    )
    held = system.simulate(
        stop_time=0.5, integrator="rk4", step=1e-3, output_step=0.05, inputs={name: 2e4}
    )
    assert deviation(a, b) < ROUNDED < deviation(a, held)


GROWING = """define i32 @own_0(double %t, ptr %y, ptr %val, ptr %out) {
  store double 1.0, ptr %out
  %second = getelementptr double, ptr %out, i64 1
  store double 0.0, ptr %second
  %third = getelementptr double, ptr %out, i64 2
  store double 0.0, ptr %third
  ret i32 STATUS
}
"""


@pytest.mark.parametrize("status", [0, 1])
def test_specialised_code_is_used_unless_it_fails(status):
    """Code that says 'the coordinate grows by one' in place of a pendulum: it is believed with status 0, with another the engine answers."""
    system = load("lib:pendulum").compile()
    machine = compiled(GROWING.replace("STATUS", str(status)))
    found = motions(make_unit(system))
    options = Options.of(system, 0.5, None, None, "rk4", "auto", None, 1e-3, None)
    a = simulate(system, options, {}, None, lambda unit: attach(unit, found, machine))
    b = simulate(system, options, {}, None)
    name = system.coordinates[0]
    if status:
        assert np.array_equal(a[name], b[name])
    else:
        assert a[name] == pytest.approx(a[name][0] + a.time, abs=1e-9)


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """The same boom by the general engine and with code of its own."""
    folder, boom = tmp_path_factory.mktemp("own"), load("lib:boom")
    paths = {own: folder / f"{own}.fmu" for own in (False, True)}
    for own, path in paths.items():
        build_fmu(boom, path, "native", 2, "rk4", 1e-3, specialised=own)
    return paths


def stepped(path, parameters: dict[str, float], at: float = 0.0) -> np.ndarray:
    """Angle and speed over half a second; parameters set at a time."""
    with Archive(path) as archive:
        host = Host(archive).start()
        host.set({"lift.force": 2e4})
        rows = []
        for k in range(50):
            if k * 0.01 >= at and parameters:
                host.set(parameters)
                parameters = {}
            host.step((k + 1) * 0.01)
            rows.append(host.get(["luff", "der(luff)"]))
        host.close()
        return np.array(rows)


@pytest.mark.parametrize("parameters", [{}, {"friction": 1000.0}])
def test_specialised_archive_handles_parameter_change(archives, parameters):
    """A parameter that the host changes in the middle of the run has the engine answer from then on."""
    a, b = (stepped(path, dict(parameters), 0.2) for path in archives.values())
    assert np.max(np.abs(a - b)) < 1e-12
    assert not parameters or np.max(np.abs(a - stepped(archives[False], {}))) > 1e-3


def test_specialised_object_files_contain_no_addresses(archives, tmp_path):
    """An address of code in a payload, with a right checksum, is not called: the library writes its own or none."""
    from zipfile import ZipFile

    bad = tmp_path / "bad.fmu"
    with ZipFile(archives[False]) as source, ZipFile(bad, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith(".kinetree"):
                words = np.frombuffer(content, dtype="<i8").copy()
                ints = words[32:]
                place = own_place(ints, 0)
                assert ints[place] == 0
                ints[place] = 0x1234
                content = with_checksum(words.tobytes())
            target.writestr(name, content)
    assert np.array_equal(stepped(bad, {}), stepped(archives[False], {}))


def test_mechanisms_without_straight_line_code_run_by_engine():
    """Couplings that follow inputs need the rates of these, which only the engine forms: the reason is told, the run is the engine's."""
    driven = {
        "child": "b",
        "transforms": [
            {"shift": "x", "coordinate": "x"},
            {"rotate": "y", "coordinate": "a", "start": 0.3},
        ],
    }
    description = {
        "format": "kinetree/1",
        "bodies": {"b": {"mass": 1.0, "com": [0, 0, -1]}},
        "joints": {"j": driven},
    }
    system = load(
        {**description, "inputs": {"deck": 0.0}, "couplings": {"c": "x - deck"}}
    ).compile()
    fast = system.specialise()
    a, b = (each.simulate(stop_time=0.2) for each in (system, fast))
    assert "rates of inputs" in fast.motions[0] and all(
        np.array_equal(a[name], b[name]) for name in system.coordinates
    )


@pytest.mark.parametrize("name", ["rocking-block", "newtons-cradle"])
def test_mechanisms_with_contacts_run_by_engine(name):
    """With friction they were traced before they were refused, which ended in an error of the tracer."""
    system = load(f"lib:{name}").compile()
    a, b = (each.simulate(stop_time=0.3) for each in (system, system.specialise()))
    assert all(np.array_equal(a[each], b[each]) for each in system.coordinates)
