"""Controllers as C: compiled, and fed with what the block in the mechanism measures, they give its commands and keep its memory."""

import ctypes
import math
import subprocess
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from kinetree.models import load
from kinetree.models.controllers.expansion import Expansion, Made, values_of
from kinetree.models.equations.controllers_c import controllers_in_c
from kinetree.scripts import cli

T = 0.01
LAWS: dict[str, Callable[[float], float]] = {
    "y": lambda t: math.sin(7 * t) + 0.3 * math.cos(31 * t),
    "r": lambda t: 0.5 * math.cos(3 * t),
}
TEXTS = {"y": "sin(7*t) + 0.3*cos(31*t)", "r": "0.5*cos(3*t)"}
TRACKING = {"measure": TEXTS["y"], "setpoint": TEXTS["r"]}
KINDS = {
    "pid": TRACKING | {"kp": "g", "ki": 3.0, "kd": 0.1, "filter": 0.02, "low": -1.5, "high": 1.2},
    "following": TRACKING
    | {"kp": 2.0, "ki": 3.0, "tracking": 0.1, "high": 1.0, "offset": 0.3, "setpoint_weight": 0.5},
    "lead-lag": TRACKING | {"lead": 0.05, "lag_time": 0.01, "gain": "g"},
    "notch": TRACKING | {"kind": "notch", "frequency": 5.0, "depth": 0.1, "width": 0.7},
    "state-feedback": {"gains": {TEXTS["y"]: "g", "2*" + TEXTS["r"]: 0.5}, "low": -1.0},
    "observer": {
        "measures": [TEXTS["y"]],
        "A": [[0.9, 0.1], [-0.2, 0.8]],
        "B": [[0.1], [0.2]],
        "C": [[1, 0]],
        "L": [[0.3], [0.1]],
        "K": [[1, 2]],
    },
    "saturation": {"kind": "saturation", "input": TEXTS["y"], "low": -0.5, "high": 0.7},
    "rate-limit": {"kind": "rate-limit", "input": TEXTS["y"], "rate": 4.0},
}


def described(table: dict) -> dict:
    return {
        "format": "kinetree/1",
        "name": "law",
        "parameters": {"g": 2.5},
        "controllers": {"hold": table},
    }


def library(text: str, folder: Path) -> ctypes.CDLL:
    (folder / "law.c").write_text(text)
    command = [
        "gcc",
        "-std=c99",
        "-O2",
        "-Wall",
        "-Wextra",
        "-Werror",
        "-shared",
        "-fPIC",
        "law.c",
        "-o",
        "law.so",
        "-lm",
    ]
    subprocess.run(command, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "law.so"))


def array(values) -> ctypes.Array:
    return (ctypes.c_double * max(len(values), 1))(*values)


def expansion(table: dict) -> Expansion:
    d = load(described(table)).description.written
    made = Expansion(Made(), "hold", d.controllers["hold"], values_of(d), d, False, False)
    made.commanded()
    return made


def order(table: dict) -> list[str]:
    """Entries of the memory, as they stand in the type."""
    made = expansion(table)
    limited = ["limited"] if "rate" in table and made.sampled else []
    return [*made.law.memory, *limited]


def reads(kind: str) -> tuple[Callable[[float], list[float]], Callable[[float], list[float]]]:
    """What the controller measures and what it is given, over time."""
    y, r = LAWS["y"], LAWS["r"]
    measured = (lambda t: [y(t), 2 * r(t)]) if kind == "state-feedback" else lambda t: [y(t)]
    if kind == "following":
        return measured, lambda t: [0.3, r(t)]
    return measured, lambda t: [r(t)] if "setpoint" in KINDS[kind] else []


@pytest.mark.parametrize("kind", KINDS)
def test_sampled_controller_in_c_matches_block(kind: str, tmp_path: Path):
    """Sample by sample from what the block has read, limits, anti-windup and the first sample included."""
    table = KINDS[kind] | {"period": T}
    law = expansion(table).law
    mechanism = load(described(table))
    c = library(controllers_in_c(mechanism.description), tmp_path)
    count, keys = 60, order(table)
    result = mechanism.compile().simulate(stop_time=count * T, output_step=T / 2, integrator="rk45")
    measured, given = reads(kind)
    memory, commands = array([0.0] * (len(keys) + 1)), array([0.0])
    c.hold_begin(memory, array(measured(0.0)), array(given(0.0)))
    for k in range(count):
        row, t = (
            2 * k + 1,
            k * T + 1e-6 * T,
        )  # when the block samples, but for the resolution of the instants of events
        seen, told = (
            [result[f"hold.{key}"][row] for key in keys_of] for keys_of in (law.samples, law.given)
        )
        assert (*seen, *told) == pytest.approx((*measured(t), *given(t)), abs=1e-10)
        c.hold_sample(memory, array(seen), array(told), commands)
        assert commands[0] == pytest.approx(result["hold"][row], rel=1e-12, abs=1e-12), k
        for place, key in enumerate(keys):
            assert memory[place] == pytest.approx(
                result[f"hold.{key}"][row], rel=1e-12, abs=1e-11
            ), (k, key)
    assert memory[len(keys)] == count


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "observer"])
def test_continuous_controller_in_c_matches_block(kind: str, tmp_path: Path):
    """Rates and commands of the memory that the block has, and the motion that scipy makes of them."""
    table = KINDS[kind] | ({"lag": 0.02} if kind == "rate-limit" else {})
    mechanism = load(described(table))
    c = library(controllers_in_c(mechanism.description), tmp_path)
    keys, (measured, given) = order(table), reads(kind)
    result = mechanism.compile().simulate(
        stop_time=0.6, output_step=0.02, tolerance=1e-11, integrator="rk45"
    )
    memory, rates, commands = array([0.0] * len(keys)), array([0.0] * len(keys)), array([0.0])
    for row, t in enumerate(result.time):
        if t < 0.015:  # the memory begins within a hundredth of a second
            continue
        memory[: len(keys)] = [result[f"hold.{key}"][row] for key in keys]
        c.hold_commands(memory, array(measured(t)), array(given(t)), commands)
        assert commands[0] == pytest.approx(result["hold"][row], rel=1e-12, abs=1e-12)

    def slope(t: float, state: np.ndarray) -> list[float]:
        memory[: len(keys)] = state
        c.hold_rates(memory, array(measured(t)), array(given(t)), rates)
        return list(rates)[: len(keys)]

    if keys:  # otherwise there is no hold_rates
        begin = [result[f"hold.{key}"][1] for key in keys]
        found = solve_ivp(
            slope, (result.time[1], 0.6), begin, rtol=1e-10, atol=1e-12, max_step=1e-3
        ).y[:, -1]
        assert found == pytest.approx(
            [result[f"hold.{key}"][-1] for key in keys], rel=1e-5, abs=1e-7
        )


def test_controllers_export_to_c(tmp_path: Path, capsys: pytest.CaptureFixture):
    """All controllers of a file; other languages, files without controllers and laws with tables are refused in a sentence."""
    import json

    (tmp_path / "m.json").write_text(json.dumps(described(KINDS["pid"] | {"period": T})))
    assert (
        cli.main(
            [
                "equations",
                str(tmp_path / "m.json"),
                "--of",
                "controllers",
                "--to",
                "c",
                "-o",
                str(tmp_path / "m.c"),
            ]
        )
        == 0
    )
    assert "hold_sample" in (tmp_path / "m.c").read_text()
    assert (
        cli.main(["equations", str(tmp_path / "m.json"), "--of", "controllers", "--to", "python"])
        == 2
    )
    assert "--to c" in capsys.readouterr().err
    assert cli.main(["equations", "lib:boom", "--of", "controllers", "--to", "c"]) == 2
    assert "has no [controllers]" in capsys.readouterr().err
