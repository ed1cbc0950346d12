"""Linear chains of a description: couplings, walls, matrices, forces, mistakes, the command line."""

import math
from pathlib import Path

import numpy as np
import pytest

from kinetree.models import ModelError, load
from kinetree.models.system.chain_mechanism import chain_mechanism
from kinetree.scripts import cli
from kinetree.solvers import chain as matrix_method
from kinetree.solvers.chain import ChainError

TRAIN = """
format = "kinetree/1"
name = "train"
[parameters]
m = 20e3
k = 2e6
[chain]
count = 5
mass = "m"
stiffness = ["k", "k", "k", "k", "k", 0]
start = [0.01, 0.0, 0.0, 0.0, 0.0]
forces = { x5 = "1e4*sin(3*t)" }
[run]
stop_time = 4
output_step = 0.05
"""


def train(**chain):
    return load(
        {"name": "train", "chain": {"count": 5, "mass": 2e4, "stiffness": 2e6} | chain}
    ).chain()


def test_modes_of_clamped_train_match_closed_form():
    """ω_r = 2 √(k/M) sin((2r-1) π / (2 (2n+1)))."""
    system = train(stiffness=[2e6] * 5 + [0.0])
    expected = [20 * math.sin((2 * r - 1) * math.pi / 22) / (2 * math.pi) for r in range(1, 6)]
    assert system.frequencies() == pytest.approx(expected, rel=1e-12)


def test_equivalent_chain_descriptions_agree():
    couplings = train(stiffness=[2e6] * 4, damping=3e3)
    matrix = np.diag([1.0, 2, 2, 2, 1]) - np.diag(np.ones(4), 1) - np.diag(np.ones(4), -1)
    rows = train(
        count=None,
        mass=[2e4] * 5,
        stiffness=(2e6 * matrix).tolist(),
        damping=(3e3 * matrix).tolist(),
        names=list("abcde"),
    )
    for name in ("mass", "stiffness", "damping"):
        assert np.array_equal(getattr(couplings, name), getattr(rows, name))
    assert rows.coordinates == tuple("abcde") and couplings.coordinates[0] == "x1"


def test_chain_started_in_a_mode_stays_in_it():
    """A start in the first mode stays in it and keeps its energy."""
    system = train(stiffness=[2e6] * 5 + [0.0])
    values, vectors = np.linalg.eigh(system.stiffness / 2e4)
    shape = vectors[:, 0]
    result = train(stiffness=[2e6] * 5 + [0.0], start=shape.tolist()).simulate(
        stop_time=7.0, output_step=0.03
    )
    assert result.time[-1] == 7.0 and result.time[1] <= 0.03
    assert result["x3"] == pytest.approx(
        shape[2] * np.cos(math.sqrt(values[0]) * result.time), abs=1e-9
    )
    assert np.ptp(result["energy"]) < 1e-9 * result["energy"][0]


def test_force_on_a_free_train_moves_its_centre():
    """The centre of mass follows the force alone: 1e4 N sin(3t) on 1e5 kg."""
    result = train(forces={"x2": "1e4*sin(3*t)"}).simulate(stop_time=4.0, output_step=0.05)
    centre = np.mean([result[f"x{k}"] for k in range(1, 6)], axis=0)
    t = result.time
    assert centre == pytest.approx(
        0.1 * (t / 3 - np.sin(3 * t) / 9), abs=1e-7
    )  # parabolas: (3 dt)^4/384 of 1e-2 m


@pytest.mark.parametrize(
    ("chain", "words"),
    [
        ({"stiffness": [1.0, 2.0]}, "4 or 6 for 5 masses"),
        ({"start": [1.0]}, "5 for 5 masses"),
        ({"forces": {"x9": 1.0}}, "a coordinate: x1"),
        ({"stiffness": [[1.0, 2.0], [3.0]]}, "square matrix"),
        ({"stiffness": "q"}, "unknown name 'q'"),
        ({"rigidity": 1.0}, "rigidity"),
        ({"forces": {"x1": "x2"}}, "only parameters, t and inputs"),
        ({"supports": {"x9": {"stiffness": 1.0}}}, "a coordinate: x1"),
        ({"supports": {"x1": {"motion": 1.0}}}, "stiffness"),
        ({"names": ["a", "b", "t", "d", "e"]}, "meaning in expressions"),
    ],
)
def test_chain_description_mistakes_are_named(chain: dict, words: str):
    with pytest.raises(ModelError, match=words):
        train(**chain)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"bodies": {"a": {"mass": 1.0, "inertia": [1, 1, 1, 0, 0, 0]}}}, "belongs to bodies"),
        ({"outputs": {"w": {"quantity": "energy"}}}, "an expression over the coordinates"),
        ({"outputs": {"w": "x7"}}, "unknown name 'x7'"),
        ({"outputs": {"x1": 1.0}}, "already a coordinate of the chain"),
    ],
)
def test_chain_allows_only_compatible_sections(more: dict, words: str):
    with pytest.raises(ModelError, match=words):
        load({"chain": {"count": 2, "mass": 1.0, "stiffness": 1.0}} | more)


def shaken():
    return load(
        {
            "inputs": {"pull": 2.0},
            "chain": {
                "mass": [1.0, 2.0],
                "stiffness": [9.0],
                "forces": {"x2": "pull*t"},
                "supports": {"x1": {"stiffness": 4.0, "motion": "0.1*t**2"}},
            },
            "outputs": {
                "stretch": {"value": "x2 - x1", "unit": "m"},
                "load": "9*stretch + 0*der(x1)",
            },
        }
    ).chain()


@pytest.mark.parametrize("wall", [0.0, 1e-3])
def test_soft_springs_stay_accurate_beside_stiff_ones(wall: float):
    """1e-3 N/m between two pairs that 1e8 N/m hold together: the pairs swing against each other, or against a wall, as bodies of 2 kg. The diagonal
    of the matrix, 100000000.001, knows 1e-3 to 7 parts in a million only."""
    stiffness = [1e8, 1e-3, 1e8] if not wall else [wall, 1e8, 1e-3, 1e8, 0.0]
    d = {
        "format": "kinetree/1",
        "chain": {"mass": [1.0] * 4, "stiffness": stiffness, "start": [0.0, 0.0, 0.1, 0.1]},
    }
    d["run"] = {"stop_time": 100.0, "output_step": 1.0}
    exact = (
        load(
            {
                **d,
                "chain": {
                    "mass": [2.0, 2.0],
                    "stiffness": [1e-3] if not wall else [wall, 1e-3, 0.0],
                    "start": [0.0, 0.1],
                },
            }
        )
        .chain()
        .simulate()
    )
    result = load(d).chain().simulate()
    for pair, (a, b) in {"x1": ("x1", "x2"), "x2": ("x3", "x4")}.items():
        assert (result[a] + result[b]) / 2 == pytest.approx(exact[pair], abs=1e-10)
    assert result["energy"] == pytest.approx(
        np.full(result.time.size, result["energy"][0]), rel=1e-9
    )
    sliders = load(d).compile()
    assert sliders.accelerations(0.0, np.full(4, 0.1), np.zeros(4)) == pytest.approx(
        [-wall * 0.1, 0, 0, 0], abs=1e-20
    )


@pytest.mark.parametrize("accuracy", [0.0, 1.0, -1e-9, math.nan])
def test_invalid_chain_accuracies_are_refused(accuracy: float):
    with pytest.raises(ChainError, match="between 0 and 1"):
        train().simulate(1.0, accuracy=accuracy)
    for solve in (
        lambda: matrix_method.matrices(np.ones(2), None, np.eye(2), 0.1, accuracy=accuracy),
        lambda: matrix_method.linear_chain(np.ones(2), None, np.eye(2), 0.1, accuracy=accuracy),
        lambda: matrix_method.simulate_varying(
            lambda t, x, v: (np.ones(2), None, np.eye(2)),
            np.zeros(2),
            np.zeros(2),
            0.1,
            1,
            accuracy=accuracy,
        ),
        lambda: matrix_method.simulate_piecewise(
            np.ones(2), None, np.eye(2), (), np.zeros(2), np.zeros(2), 0.1, 1, accuracy=accuracy
        ),
    ):
        with pytest.raises(ChainError, match="between 0 and 1"):
            solve()


def test_moving_support_equals_force_on_a_stiffer_chain():
    result = shaken().simulate(stop_time=3.0, output_step=0.05)
    twin = train(
        count=None,
        mass=[1.0, 2.0],
        stiffness=[4.0, 9.0, 0.0],
        forces={"x1": "0.4*t**2", "x2": "2*t"},
    ).simulate(stop_time=3.0, output_step=0.05)
    for name in ("x1", "x2", "der(x1)", "der(x2)"):
        assert result[name] == pytest.approx(twin[name], abs=1e-12)
    assert result["stretch"] == pytest.approx(
        result["x2"] - result["x1"], abs=1e-15
    ) and np.array_equal(result["load"], 9 * result["stretch"])


def test_chain_on_fixed_support_conserves_energy():
    system = train(
        count=2, stiffness=[5.0], mass=1.0, start=[1.0, 0.0], supports={"x2": {"stiffness": 3.0}}
    )
    energy = system.simulate(stop_time=5.0, output_step=0.1)["energy"]
    assert energy[0] == 2.5 and np.ptp(energy) < 1e-9


def test_chain_inputs_are_constants_or_functions_of_time():
    held, given, moving = (
        shaken().simulate(stop_time=1.0, output_step=0.1, inputs=i)["x2"]
        for i in (None, {"pull": 2.0}, {"pull": lambda t: 2.0})
    )
    assert np.array_equal(held, given) and np.array_equal(given, moving)
    assert shaken().simulate(stop_time=1.0, inputs={"pull": 0.0})["x2"][-1] != held[-1]
    with pytest.raises(KeyError, match="pull"):
        shaken().simulate(stop_time=1.0, inputs={"push": 1.0})


def test_compiled_chain_equals_mechanism_of_sliders():
    """Same motion from the engine's own integrator; parabolas through the force err by (3 dt)^4/384 of it."""
    description = {"parameters": {"k": 2e3}, "outputs": {"stretch": "x2 - x1"}}
    chain = {
        "mass": [4.0, 1.0, 2.0],
        "stiffness": "k",
        "damping": "0.01*k",
        "start": [0.1, 0, 0],
        "speed": [0, 0, 1],
    }
    mechanism = load(
        description
        | {
            "chain": chain
            | {
                "forces": {"x3": "5*sin(3*t)"},
                "supports": {"x1": {"stiffness": "k/2", "motion": "0.1*t"}},
            }
        }
    )
    sliders = mechanism.compile().simulate(stop_time=2.0, output_step=0.02, tolerance=1e-11)
    for name, column in (
        (name, mechanism.chain().simulate(stop_time=2.0, output_step=0.02)[name])
        for name in ("x1", "x2", "der(x3)", "stretch")
    ):
        assert sliders[name] == pytest.approx(column, abs=1e-6)


def test_parameters_behind_the_matrices_are_constants_of_the_mechanism():
    parameters = {"k0": 5.0, "k": "2*k0", "pull": {"value": 1.0, "tunable": True}}
    description = load(
        {
            "parameters": parameters,
            "chain": {"count": 2, "mass": 1.0, "stiffness": "k", "forces": {"x1": "pull"}},
        }
    )
    kept = chain_mechanism(description.chain()).description.parameters
    assert [isinstance(kept[name].value, str) for name in ("k0", "k", "pull")] == [
        True,
        True,
        False,
    ] and kept["pull"].tunable


def test_chain_with_full_mass_matrix_cannot_become_sliders():
    with pytest.raises(ModelError, match="one number each"):
        load({"chain": {"mass": [[2.0, 1.0], [1.0, 2.0]], "stiffness": 1.0}}).compile()


def test_chain_file_runs(tmp_path: Path, capsys: pytest.CaptureFixture):
    path = tmp_path / "train.toml"
    path.write_text(TRAIN)
    assert cli.main(["check", str(path)]) == 0
    assert cli.main(["info", str(path)]) == 0
    assert "0.453002 Hz" in capsys.readouterr().out
    assert (
        cli.main(
            [
                "run",
                str(path),
                "--set",
                "k=1e6",
                "-o",
                str(tmp_path / "train.csv"),
                "--plot",
                str(tmp_path / "train.png"),
            ]
        )
        == 0
    )
    assert "x5" in capsys.readouterr().out
    lines = (tmp_path / "train.csv").read_text().splitlines()
    assert lines[0].startswith("time,x1,") and len(lines) == 82
