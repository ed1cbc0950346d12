"""The loader crane at rest against virtual work, and its motion with flexible and with rigid parts; the flexible boom beside the rigid one."""

import numpy as np
import pytest

from kinetree.models import load
from kinetree.models.library.loader_crane import CYLINDERS, LENGTHS, describe, mass_of

INPUTS = {"lift": lambda t: 0.5 * (1 < t < 3), "slew_rate": lambda t: 0.2 * (t > 1)}


def test_rigid_crane_starts_in_equilibrium():
    """The forces of the cylinders are those of virtual work: nothing moves while the valves are shut."""
    result = load("lib:loader-crane", flexible=0).compile().simulate(stop_time=2.0)
    for name in ("boom_angle", "jib_angle", "out"):
        assert np.ptp(result[name]) < 1e-4


def test_rigid_crane_on_pads_starts_in_equilibrium():
    system = load("lib:loader-crane", flexible=0, pads=1).compile()
    result = system.simulate(stop_time=1.0, output_step=0.1)
    for name in ("boom_angle", "jib_angle", "out", "lifted", "pitch"):
        assert np.ptp(result[name]) < 1e-3
    assert result["force('front_pad_z')"][-1] > result["force('rear_pad_z')"][-1] > 5e3


@pytest.mark.slow
def test_crane_on_pads_with_play_extends_like_crane_on_rails():
    pull = INPUTS | {"telescope": lambda t: 0.8 * (t > 0.5)}
    ends = {}
    for pads in (0, 1):
        description = describe(pads=pads)
        description["run"]["prepare"] = [{"name": "at rest"}]
        if pads:
            description["parameters"]["pad_clearance"]["value"] = 1e-3
        result = load(description).compile().simulate(stop_time=3.0, inputs=pull)
        residual, energy = (np.asarray(result[k]) for k in ("energy_residual", "energy"))
        assert np.abs(residual).max() < 1e-6 * np.ptp(energy)
        ends[pads] = np.array([result[f"tip[{k}]"][-1] for k in (1, 2, 3)])
        assert result["out"][-1] - result["out"][0] > 0.8
    assert 5e-3 < ends[0][2] - ends[1][2] < 0.15  # what is in the jib weighs, and the play tilts
    assert ends[1][:2] == pytest.approx(ends[0][:2], abs=0.1)


@pytest.mark.slow
def test_prepared_crane_rests_and_carries_its_load():
    description = describe()
    description["run"]["prepare"] = [{"name": "at rest"}]
    result = load(description).compile().simulate(stop_time=1.0)
    assert np.ptp(result["boom_sag"]) < 1e-5
    weight = 9.81 * (500.0 + sum(mass_of(name) for name in LENGTHS))
    description["outputs"]["load"] = {
        "quantity": "section_load", "beam": "jib", "station": LENGTHS["jib"] - 1e-3, "axis": "vz",
    }  # fmt: skip
    beyond = load(description).compile().simulate(stop_time=0.02)["load"][0]
    assert -weight < beyond < -9.81 * 500.0 * 0.9


@pytest.mark.slow
def test_flexible_crane_moves_like_rigid_crane_except_for_sag():
    ends = {}
    for flexible in (0, 1):
        system = load("lib:loader-crane", flexible=flexible).compile()
        result = system.simulate(stop_time=4.0, inputs=INPUTS)
        ends[flexible] = result["boom_angle"][-1], result["tip[3]"][-1]
        assert result["lift_cylinder.length"].max() < CYLINDERS["lift"]["stroke"][1]
    assert ends[1][0] == pytest.approx(ends[0][0], abs=1e-2)
    assert 0.01 < ends[0][1] - ends[1][1] < 0.1


@pytest.mark.slow
def test_working_crane_balances_energy():
    result = load("lib:loader-crane").compile().simulate(stop_time=3.0, inputs=INPUTS)
    assert np.abs(result["energy_residual"]).max() < 1e-6 * np.abs(result["energy"]).max()


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python", "source"])
def test_crane_becomes_fmu(backend: str, tmp_path):
    from kinetree.fmu.archive.build import build_fmu
    from kinetree.scripts.fmi.verify import verify

    description = describe(segments=1)  # straight at the start: it sags and swings
    description["run"] |= {"stop_time": 0.5, "tolerances": 1e-7}
    given = {}
    if backend == "source":  # from rest, as the swinging needs more steps than fmpy's CVode takes
        description["run"]["prepare"] = [{"name": "at rest"}]
        given = {"integrator": "semi-implicit", "step": 1e-3}
    report = verify(build_fmu(load(description), tmp_path / "crane.fmu", backend, **given))
    assert report.good, [check for check in report.checks if not check.good]


def worked(path, kind: str, stop: float, given: dict[str, float], names: list[str]) -> np.ndarray:
    """Rows of an FMU under constant inputs, every 20 ms, driven by a host."""
    from fmpy import simulate_fmu

    from kinetree.scripts.fmi.fmpy_host import Archive, Host

    with Archive(path) as archive:
        if kind == "CoSimulation":
            host, rows = Host(archive).start(given), []
            for k in range(1, round(stop / 0.02) + 1):
                host.step(0.02 * k)
                rows.append(host.get(names))
            host.close()
            return np.array(rows)
        assert archive.description.modelExchange is not None
        result = simulate_fmu(
            archive.folder, stop_time=stop, fmi_type=kind, solver="CVode", relative_tolerance=1e-7,
            output_interval=0.02, output=names, start_values=given, record_events=False,
        )  # fmt: skip
        return np.column_stack([result[name][1:] for name in names])


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["native", "python", "source"])
def test_working_crane_balances_energy_in_every_fmu_kind(backend: str, tmp_path):
    """Co-simulation and model exchange of three back ends beside the process, while the boom is lifted and the column turns.

    Hosts that integrate themselves do not integrate the work: their energy is compared with that of the process, whose books close.
    """
    from kinetree.fmu.archive.build import build_fmu

    stop, given = 1.5, {"lift": 0.5, "slew_rate": 0.2}
    names = ["energy", "tip[1]", "tip[2]", "tip[3]", "boom_stress", "energy_residual"]
    description = describe()
    description["run"] |= {"stop_time": stop, "prepare": [{"name": "at rest"}]}
    run = load(description).compile().simulate(inputs=given)
    expected = np.column_stack([run[name][1:] for name in names])
    gained = np.ptp(expected[:, 0])
    assert gained > 4e3
    assert np.abs(expected[:, 5]).max() < 1e-6 * gained
    fixed = {"integrator": "semi-implicit", "step": 1e-3} if backend == "source" else {}
    path = build_fmu(load(description), tmp_path / "crane.fmu", backend, **fixed)
    ways = ["CoSimulation"] if backend == "python" else ["CoSimulation", "ModelExchange"]
    for kind in ways:
        found = worked(path, kind, stop, given, names)
        assert found.shape == expected.shape
        assert np.abs(found - expected)[:, 0].max() < (1e-3 if fixed else 1e-5) * gained
        assert np.abs(found - expected)[:, 1:4].max() < 1e-4
        assert np.abs(found - expected)[:, 4].max() < 2e5  # Pa, of 1e8
        if kind == "CoSimulation":
            assert np.abs(found[:, 5]).max() < (3e-4 if fixed else 1e-6) * gained


def test_flexible_boom_oscillates_about_rigid_motion():
    tips = {}
    for flexible in (0, 1):
        system = load("lib:boom", flexible=flexible).compile()
        result = system.simulate(stop_time=0.5)
        tips[flexible] = result["tip"]
    assert 0.0 < np.abs(tips[1] - tips[0]).max() < 0.01
