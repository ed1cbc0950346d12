"""Shapes, soil and shut oil in FMUs of both back ends, by co-simulation and model exchange, in lanes, and through stages."""

from pathlib import Path

import numpy as np
import pytest
from test_locked_oil import OIL
from test_shapes import box
from test_soil import WHEEL, rig

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.fmi.verify import verify

RUN = {"run": {"stop_time": 0.4, "output_step": 0.02, "tolerances": 1e-8}}


def wheel() -> dict:
    """A wheel that coasts on soft soil with a track."""
    d = rig(
        WHEEL
        | {
            "viscosity": 2e4,
            "stiffness": 2e6,
            "damping": 2e4,
            "track": {"length": 2.0, "cells": 9},
        },
        5e3,
        "0",
    )
    d["joints"]["j"]["transforms"][0] = {"shift": "x", "coordinate": "x", "speed": 1.5}
    d["forces"]["w"] |= {"stiffness": 1e6}
    del d["outputs"]["x"]
    return d | RUN


def jacked() -> dict:
    """A body that drops onto a jack of shut oil on elastic soil."""
    soil = {"strength": 1e4, "hardening": 1e6, "viscosity": 1e5, "stiffness": 1e7, "damping": 5e4}
    return {
        "format": "kinetree/1", "bodies": {"b": {"mass": 2000.0}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "z", "coordinate": "z", "start": 0.91}]}},
        "forces": {"leg": {"kind": "jack", "body": "b", "extension": 0.9, "oil": OIL, "damping": 1e4, "soil": soil}},
        "outputs": {"pa": "leg.pressure_a", "pb": "leg.pressure_b", "load": "force('leg')"},
    } | RUN  # fmt: skip


CASES = {
    "box": lambda: box(0.4, speed=[0.4, 0, 0, 0, 0.3, 2.0]) | RUN,
    "wheel": wheel,
    "jack": jacked,
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("backend", ["native", "python"])
def test_ground_contact_fmus_match_process(case: str, backend: str, tmp_path: Path):
    report = verify(build_fmu(load(CASES[case]()), tmp_path / "unit.fmu", backend))
    assert report.good, [check for check in report.checks if not check.good]


@pytest.mark.parametrize("case", CASES)
def test_ensemble_lanes_match_single_runs_with_ground_contacts(case: str):
    """Eight runs at once of the same law, each with its own weight: what lanes decide differently they compute by themselves."""
    d = CASES[case]()
    body = next(iter(d["bodies"]))
    d["parameters"] = {"m": {"value": d["bodies"][body]["mass"], "unit": "kg"}}
    d["bodies"][body]["mass"] = "m"
    masses = d["parameters"]["m"]["value"] * np.linspace(0.5, 1.5, 5)
    many = load(d).compile().simulate_many({"m": masses}, stop_time=0.2, output_step=0.05)
    for k, mass in enumerate(masses):
        alone = load(d).compile(m=float(mass)).simulate(0.2, output_step=0.05, tolerance=1e-10)
        assert many["load"][k] == pytest.approx(
            alone["load"], rel=1e-3, abs=1e-3 * np.abs(alone["load"]).max()
        )


def test_ground_contacts_leave_with_their_bodies():
    """A stage drops the body that is touched: what stood on it falls."""
    ball = {"mass": 1.0, "inertia": [0.1, 0.1, 0.1, 0, 0, 0]}
    d = {
        "format": "kinetree/1", "bodies": {"table": ball, "ball": ball},
        "joints": {
            "t": {"child": "table", "transforms": [{"shift": "x", "coordinate": "x"}]},
            "j": {"child": "ball", "transforms": [{"shift": "z", "coordinate": "z", "start": 0.2 - 1e-3}]},
        },
        "forces": {"c": {"body": "ball", "shape": {"sphere": 0.2}, "against": {"body": "table", "plane": True}, "stiffness": 9810, "damping": 50}},
        "stages": [{"name": "stands", "ends": {"at": 0.5}, "drop": ["table"]}, {"name": "falls"}],
    }  # fmt: skip
    result = load(d).compile().simulate(1.0, output_step=0.1, tolerance=1e-9)
    assert result["z"][:6] == pytest.approx(0.2 - 1e-3, abs=1e-7)
    assert result["z"][-1] == pytest.approx(0.2 - 1e-3 - 0.5 * 9.81 * 0.25, abs=1e-6)
