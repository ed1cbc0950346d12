"""Machines with controllers of every kind from starts up to 1e6 s and steps from 1e-5 to 10 s, in ways that must agree.

Their linear systems and gradients are compared with differences. The seeds here are fixed; the kinds `controlled` and `slopes` of the fuzzer draw on.
"""

import copy
from collections import Counter

import numpy as np
import pytest
from controlled import (
    CONTROLLED,
    CONTROLLED_LONG,
    DRAWN,
    communication_points,
    controlled,
    in_process,
)
from differences import Difference, case_of, findings, later, start_time
from slopes import gradient, linear_flow, slope_findings


@pytest.mark.parametrize("seed", [1, 3, 14])
def test_controlled_machines_agree_from_every_start(seed: int):
    """A sensor, continuous and sampled PIDs, lead-lag, notch, observer, state feedback."""
    assert not list(findings(controlled(seed), seed, CONTROLLED))


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20, 26))
def test_controlled_machines_agree_in_hosts(seed: int):
    """Co-simulation by two back ends, model exchange, the engine as C99."""
    assert not list(findings(controlled(seed), seed, CONTROLLED_LONG))


@pytest.mark.parametrize("seed", [8, 10])
def test_derivatives_of_controlled_machines_match_differences(seed: int):
    """A sensor in steps; an observer, a sampled PID and a lead-lag. Both found something once, in the fuzzer or in the engine."""
    assert not slope_findings(controlled(seed), seed)


def test_every_kind_of_controller_is_drawn():
    """Continuous and sampled, with limits, delays, noise, feed-forward, events and stages; starts and steps of every size."""
    seen = Counter[str]()
    for seed in range(60):
        d = controlled(seed)
        for law in d["controllers"].values():
            seen[law["kind"] + (", sampled" if "period" in law else "")] += 1
            seen.update(key for key in law if key in ("high", "rate", "delay", "noise", "jitter"))
        seen.update(key for key in ("events", "stages", "states") if d.get(key))
        seen[f"step {d['run']['output_step']:g}"] += 1
    wanted = [kind + end for kind in DRAWN for end in ("", ", sampled")]
    wanted.remove("sensor")  # sampled alone
    wanted += ["high", "rate", "delay", "noise", "jitter", "events", "stages", "step 1e-05"]
    assert all(seen[kind] >= 2 for kind in wanted), seen
    rng = np.random.default_rng(5)
    begins = np.array([start_time(rng) for _ in range(300)])
    assert np.abs(begins).max() <= 1e6 and (begins < -1e5).any() and (begins > 1e5).any()
    gaps = np.concatenate([np.diff(communication_points(20.0, rng)) for _ in range(60)])
    assert gaps.min() < 2e-5 and gaps.max() > 5.0


def test_time_laws_shift_with_start_time():
    """A name that ends in t, a table and the end of a stage."""
    moved = later({"law": "2*t + tilt + table('t', t)", "stages": [{"ends": {"at": 1.5}}, {}]}, 4.0)
    assert moved["law"] == "2*(t - (4.0)) + tilt + table('t', (t - (4.0)))"
    assert moved["stages"][0]["ends"]["at"] == 5.5


def test_fuzzer_detects_changed_controllers():
    """A gain that is a hundredth larger in the host, and a slope of another machine."""
    description = controlled(3)
    case = case_of(description)
    assert case is not None
    other = copy.deepcopy(description)
    pid = next(law for law in other["controllers"].values() if law["kind"] == "pid")
    pid["kp"] = "2.5*gain"
    case.description = other
    with pytest.raises(Difference):
        in_process(case, np.random.default_rng(0))


def test_fuzzer_detects_wrong_derivatives(monkeypatch):
    """A linear system of one time and a flow of another time constant; a gradient times 1.001."""
    import slopes

    from kinetree.models.result.result import Result

    flow, exact = slopes.flow_slopes, Result.gradient
    monkeypatch.setattr(slopes, "flow_slopes", lambda *each: 1.01 * flow(*each))
    with pytest.raises(Difference):
        linear_flow(controlled(1), np.random.default_rng(1))
    monkeypatch.setattr(Result, "gradient", lambda self, *each: 1.001 * exact(self, *each))
    with pytest.raises(Difference):
        gradient(controlled(1), np.random.default_rng(1))
