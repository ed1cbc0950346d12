"""Every number of the reports beside a formula or a foreign tool: they are read from the pages themselves, and none may stand there unread."""

import json
import math
from pathlib import Path

import control
import numpy as np
import pytest
from loop_text import SCENARIO
from report_page import Page, numbers
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import spearmanr

from kinetree.scripts import cli
from kinetree.scripts.hil.loop_run import simulate
from kinetree.scripts.hil.report import write_report
from kinetree.scripts.hil.scenario import read_scenario
from kinetree.scripts.studies.samplers import Distribution, drawn

SIX = 6e-6  # pages have six digits
M, K, D = 2.0, 50.0, 3.0  # kg, N/m, N.s/m
DRAWN = 0.1  # m


def slider(force: str, **more) -> dict:
    """A mass on a spring with a damper."""
    return {
        "name": "slider",
        "gravity": [0, 0, 0],
        "parameters": {"m": M, "k": K, "d": D, "push": 0.0, **more.pop("parameters", {})},
        "bodies": {"b": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {
            "j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": "drawn"}]}
        },
        "forces": {"law": {"coordinate": "x", "value": force}},
        **more,
    }


def decay(k: np.ndarray, m: np.ndarray, x0: float, t: np.ndarray) -> np.ndarray:
    """x of m ẍ + D ẋ + k x = 0 from rest at x0."""
    a = D / (2 * m)
    w = np.sqrt(k / m - a * a)
    return x0 * np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))


def test_study_report_lists_statistics(tmp_path: Path):
    """Parameters, measures, percentiles and rank correlations of a damped swing over a grid of 4 x 3 values."""
    (tmp_path / "m.json").write_text(
        json.dumps(slider("-k*x - d*der(x)", parameters={"drawn": DRAWN}))
    )
    text = 'mechanism = "m.json"\nrest = ["growth", "frequency", "damping"]\n[vary]\nk = [30.0, 50.0, 80.0, 100.0]\nm = [1.0, 2.0, 4.0]\n'
    (tmp_path / "s.toml").write_text(
        text
        + '[run]\nstop_time = 1.0\noutput_step = 0.1\ntolerance = 1e-10\n[report]\nx = ["end", "rms", "min"]\n'
    )
    assert (
        cli.main(["study", str(tmp_path / "s.toml"), "-q", "--report", str(tmp_path / "s.html")])
        == 0
    )
    page, time = Page(tmp_path / "s.html"), np.linspace(0.0, 1.0, 11)
    k, m = (
        each.ravel()
        for each in np.meshgrid([30.0, 50.0, 80.0, 100.0], [1.0, 2.0, 4.0], indexing="ij")
    )
    runs = np.array([decay(a, b, DRAWN, time) for a, b in zip(k, m, strict=True)])
    size = np.sqrt(k / m)
    found = {
        "end(x)": runs[:, -1],
        "rms(x)": np.sqrt((runs**2).mean(axis=1)),
        "min(x)": runs.min(axis=1),
    }
    found |= {
        "growth": -D / (2 * m),
        "frequency": size / (2 * np.pi),
        "damping": D / (2 * m) / size,
    }
    rows = np.array([numbers(row) for row in page.rows("k", "m")])
    assert rows == pytest.approx(np.column_stack((k, m, *found.values())), rel=SIX, abs=1e-9)
    measures, ties = page.table("measure", "1 %"), page.table("measure", "k")
    for name, values in found.items():
        ordered = np.sort(values)
        places = [0.01 * share * (len(values) - 1) for share in (1, 5, 50, 95, 99)]
        shares = [np.interp(place, range(len(values)), ordered) for place in places]
        assert numbers(measures[name]) == pytest.approx(
            [*shares, ordered[0], ordered[-1]], rel=SIX, abs=1e-9
        )
        exact = [spearmanr(column, np.round(values, 9)).statistic for column in (k, m)]
        assert numbers(ties[name]) == pytest.approx(exact, abs=2e-5)
    assert page.said("# % of # runs have an unstable equilibrium.") == [0.0, 12.0]
    (scale,) = (text for text in page.texts if "correlation" in text and text.numbers())
    assert sorted(map(float, scale.numbers())) == [0.0, 1.0]  # the ends of the scale
    scale.read = True
    assert page.unread() == [] and (page.facts["samples"], page.facts["seed"]) == ("12", "0")


COMPARISON = """
mechanism = "m.json"
hold = ["x"]
band = 1e-3
energy = "work"
[set]
drawn = 0.0
[run]
stop_time = 4.0
output_step = 0.01
tolerance = 1e-10
[ways.soft]
[ways.stiff]
k = 200.0
"""


def test_comparison_report_lists_variants(tmp_path: Path):
    """A step of 1 N on a spring that is held by 50 and 200 N/m: x = (1 - decay)/k, energy F x; small motions by √(k/m) and d."""
    more = {
        "states": {"work": {"rate": "push*der(x)", "unit": "J"}},
        "outputs": {"place": {"value": "x"}},
    }
    d = slider(
        "if(t > 0, push, 0) - k*x - d*der(x)", parameters={"drawn": 0.0, "push": 1.0}, **more
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "c.toml").write_text(COMPARISON)
    assert (
        cli.main(
            [
                "study",
                str(tmp_path / "c.toml"),
                "-q",
                "--report",
                str(tmp_path / "c.html"),
                "-o",
                str(tmp_path / "c.csv"),
            ]
        )
        == 0
    )
    page, time = Page(tmp_path / "c.html"), np.linspace(0.0, 4.0, 401)
    held, rest = page.table("way", "x [mm]: largest"), page.table("way", "largest growth [1/s]")
    told = "Settled: within # until the next disturbance; what stays outside is marked not. Rms: root of the mean square over the run."
    assert page.said(told) == [1e-3]
    for way, k in (("soft", 50.0), ("stiff", 200.0)):
        x = (1.0 - decay(k, M, 1.0, time)) / k
        late = np.flatnonzero(np.abs(x) > 1e-3)[-1]
        largest, rms, end, settled, energy = held[way]
        assert numbers([largest, rms, end]) == pytest.approx(
            [1e3 * abs(x).max(), 1e3 * math.sqrt((x * x).mean()), 1e3 * x[-1]], rel=6e-4
        )  # four digits
        assert (
            settled == "not"
            if late == 400
            else float(settled.split()[0]) == pytest.approx(time[late] + 0.01, abs=6e-3)
        )
        assert float(energy) == pytest.approx(x[-1], abs=0.5)
        size = math.sqrt(k / M)
        assert numbers(rest[way]) == pytest.approx(
            [0.0, size / (2 * math.pi), D / (2 * M) / size], rel=SIX
        )  # 0: that of the work
    assert "x: least by stiff." in page.texts and page.unread() == []


def test_comparison_report_lists_margins_and_sampled_parameters(tmp_path: Path):
    """A PD holds a free mass: margins by python-control; over spread masses the largest deviation of a critically late step."""
    d = slider(
        "push",
        parameters={"drawn": 0.0, "push": 1.0, "kp": 40.0},
        actuators={"p": {"coordinate": "x"}},
    )
    d["controllers"] = {
        "hold": {"measure": "x", "kp": "kp", "kd": 20.0, "filter": 0.01, "drives": "p"}
    }
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\nhold = ["x"]\nband = 1e-3\nsamples = 8\n[run]\nstop_time = 5.0\noutput_step = 0.05\n'
    (tmp_path / "c.toml").write_text(
        text + "[vary]\nm = { uniform = [1.0, 3.0] }\n[ways.weak]\n[ways.strong]\nkp = 80.0\n"
    )
    assert (
        cli.main(["study", str(tmp_path / "c.toml"), "-q", "--report", str(tmp_path / "c.html")])
        == 0
    )
    page, time = Page(tmp_path / "c.html"), np.linspace(0.0, 5.0, 101)
    rows, held, rest = (
        page.table("way", "controller"),
        page.table("way", "x [mm]: largest"),
        page.table("way", "largest growth [1/s]"),
    )
    spread = {str(row[1]): row[2:] for row in page.rows("", "way")}
    masses = drawn("latin", {"m": Distribution("uniform", 1.0, 3.0)}, 8, 0)["m"]
    s = control.tf("s")
    for way, kp in (("weak", 40.0), ("strong", 80.0)):
        law = kp + 20.0 * s / (0.01 * s + 1)
        gain, phase, modulus, _, crossover, _ = control.stability_margins(law / (M * s * s))
        said = numbers(rows[way][2:])
        assert rows[way][:2] == ["hold", "stable"] and said[0] == pytest.approx(gain, rel=1e-3)
        assert said[1:] == pytest.approx(
            [phase, 1e3 * math.radians(phase) / crossover, modulus], rel=1e-3
        )
        poles = control.poles(1 / (M * s * s + law))
        swings = [pole for pole in poles if abs(pole.imag) > 1e-9 * abs(pole)]
        slowest = min((abs(pole) for pole in swings), default=math.nan) / (2 * math.pi)
        expected = [
            max(pole.real for pole in poles),
            slowest,
            min((-pole.real / abs(pole) for pole in swings), default=math.nan),
        ]
        assert numbers(rest[way]) == pytest.approx(expected, rel=1e-4, nan_ok=True)
        x = 1e3 * np.array(control.step_response(1 / (M * s * s + law), time).outputs)
        assert numbers(held[way][:3]) == pytest.approx(
            [x.max(), math.sqrt((x * x).mean()), x[-1]], rel=6e-4
        )
        assert held[way][3] == "not"  # 1 N moves it further than the band
        largest = [
            1e3 * float(control.step_response(1 / (m * s * s + law), time).outputs.max())
            for m in masses
        ]
        expected = [*np.percentile(largest, (5, 50, 95)), max(largest), 0.0]
        assert numbers(spread[way]) == pytest.approx(expected, rel=1e-4)
    assert page.said(
        "Largest deviations over # runs per variant, parameters from a Latin hypercube:"
    ) == [8.0]
    assert page.said("m: uniform(#, #)") == [1.0, 3.0]
    told = "Settled: within # until the next disturbance; what stays outside is marked not. Rms: root of the mean square over the run."
    assert page.said(told) == [1e-3] and page.unread() == []


LOOP = SCENARIO.format(channel="delay = 0.004")


def test_hil_report_lists_run(tmp_path: Path):
    """Counts of a channel that is only late, and margins of 1/(s (M s + 1)) under a PD with the dead times of the page, from the formula of L."""
    d = slider(
        "f - 1.0*der(x)",
        parameters={"drawn": 0.0},
        inputs={"f": {"start": 0.0}},
        outputs={"place": {"value": "x"}},
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "loop.toml").write_text(LOOP)
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    record.computing, record.lateness = [1e-6 * k for k in range(1, 1002)], [2e-6] * 1001
    page = Page(write_report(record, tmp_path / "l.html"))
    told = "# steps of # ms, simulated, bit for bit repeatable; # frames sent, # commands applied"
    counts = page.said(f"{told}, # frames lost by injection, # steps without a new command (hold)")
    assert counts == [
        300.0,
        10.0,
        301.0,
        299.0,
        0.0,
        0.0,
    ]  # nothing can have come before the first step, the last command is not applied any more
    assert page.said("loop delay: # steps on average, # at most") == [
        0.997,
        1.0,
    ]  # both ways take 8 of 10 ms
    assert numbers(page.table("", "50 %")["computing of a step"]) == pytest.approx(
        [501.0, 991.0, 1000.0, 1001.0]
    )
    assert numbers(page.table("", "50 %")["lateness of a step"]) == pytest.approx([2.0] * 4)
    rows = page.table("loop", "delay [ms]")
    for name, dead in (
        ("continuous", 0.0),
        ("sampled and held", 5.0),
        ("as it ran", 5.0 + 10.0 * 299 / 300),
    ):
        delay, word, gain, phase, wait, modulus = rows[name]

        def loop(w: float, dead: float = dead) -> complex:
            s = 1j * w
            return (8.0 + 4.0 * s / (0.02 * s + 1)) / (s * (M * s + 1.0)) * np.exp(-1e-3 * dead * s)

        one = brentq(lambda w: abs(loop(w)) - 1.0, 0.1, 100.0)
        angle = math.degrees(np.angle(-loop(one)))
        assert (float(delay), word) == (pytest.approx(dead, rel=SIX), "stable")
        assert numbers([phase, wait]) == pytest.approx(
            [angle, 1e3 * math.radians(angle) / one], rel=1e-5
        )
        grid = np.geomspace(1.0, 1000.0, 2000)
        turns = [
            brentq(lambda w: loop(w).imag, a, b)
            for a, b in zip(grid, grid[1:], strict=False)
            if loop(a).imag * loop(b).imag < 0.0
        ]
        factors = [-1.0 / loop(w).real for w in turns if loop(w).real < 0.0]
        assert float(gain) == pytest.approx(min(factors) if dead else math.inf, rel=1e-5)
        least = min(
            minimize_scalar(lambda w: abs(1 + loop(w)), bounds=(low, 2 * low), method="bounded").fun
            for low in np.geomspace(0.5, 300.0, 40)
        )
        assert float(modulus) == pytest.approx(min(least, 1.0), rel=1e-4)
    assert page.said("Up to the #th percentile") == [99.9]
    t, (place, _) = np.array(record.time), np.transpose(record.rows)
    away = np.abs(place - 1.0)
    band = 0.05 * away.max()
    later = [x for k, x in enumerate(t) if (away[k:] <= band).all()]
    (held,) = page.rows("measure", "setpoint")
    assert str(held[0]).startswith("place")
    assert numbers(held[1:]) == pytest.approx([1.0, away.max(), away[-1], later[0], 0.0], rel=1e-3)
    (said,) = (text for text in page.texts if text.startswith("Settled"))
    assert list(map(float, said.numbers())) == [5.0]  # percent of the largest deviation
    said.read = True
    assert page.unread() == []


def test_commands_at_a_limit_are_counted_in_the_report(tmp_path: Path):
    """A force that may not exceed 0.05 N moves 2 kg too slowly: it stands at its limit in every step, and the mass does not settle."""
    d = slider(
        "f - 1.0*der(x)",
        parameters={"drawn": 0.0},
        inputs={"f": {"start": 0.05}},
        outputs={"place": {"value": "x"}},
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "loop.toml").write_text(LOOP + "low = -0.05\nhigh = 0.05\n")
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    page = Page(write_report(record, tmp_path / "l.html"))
    (held,) = page.rows("measure", "setpoint")
    assert str(held[4]) == "no" and numbers(held[1:4] + held[5:]) == pytest.approx(
        [1.0, 1.0, 1.0 - record.rows[-1][0], 100.0], rel=1e-3
    )


def test_hil_report_lists_times(tmp_path: Path):
    """Counts and percentiles of times that are known: three steps ended late, of which one computed for too long and two began late."""
    d = slider(
        "f - 1.0*der(x)",
        parameters={"drawn": 0.0},
        inputs={"f": {"start": 0.0}},
        outputs={"place": {"value": "x"}},
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "loop.toml").write_text(LOOP)
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    record.simulated, record.misses, record.notes = False, 3, []
    record.computing, record.lateness = [1e-4] * 299 + [0.02], [1e-6] * 298 + [0.011, 0.03]
    record.bare, record.trips = [5e-6] * 998 + [0.012] * 2, [0.001, 0.002, 0.003]
    record.gaps = [1e-7] * 150 + [3e-7] * 150
    page = Page(write_report(record, tmp_path / "l.html"))
    assert page.said("# of # steps ended after their deadline") == [3.0, 300.0]
    told = "of these # computed for longer than a step; # steps began a whole step late, as # of # did in the loop that only waits"
    assert page.said(told) == [1.0, 2.0, 2.0, 1000.0]
    at = lambda place, count, low, high: (  # noqa: E731
        low + max(0.0, place * (count - 1) - (count - 2)) * (high - low)
    )
    table = page.table("", "50 %")
    assert numbers(table["computing of a step"]) == pytest.approx(
        [100.0, 100.0, at(0.999, 300, 100.0, 2e4), 2e4]
    )
    assert numbers(table["lateness of a step"]) == pytest.approx(
        [1.0, 1.0, at(0.999, 300, 1.1e4, 3e4), 3e4]
    )
    assert numbers(table["lateness of a loop that only waits"]) == pytest.approx(
        [5.0, 5.0, 12000.0, 12000.0]
    )
    assert numbers(table["taken from the loop while it waits"]) == pytest.approx(
        [0.2, 0.3, 0.3, 0.3]
    )
    assert numbers(table["round trip as seen at the next step"]) == pytest.approx(
        [2000.0, 2980.0, 2998.0, 3000.0]
    )


def test_optimisation_report_lists_result(tmp_path: Path):
    """The damping of the least rms of the decay is known by its formula: the page says value, measure, bounds, start."""
    d = slider(
        "-k*x - d*der(x)", parameters={"drawn": DRAWN}, outputs={"square": {"value": "x**2"}}
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\n[optimize.variables]\nd = { from = 1, to = 40, start = 3 }\n[optimize.measures]\n"integral(square)" = 1.0\n'
    (tmp_path / "o.toml").write_text(
        text + "[run]\nstop_time = 20.0\noutput_step = 0.01\ntolerance = 1e-9\n"
    )
    assert (
        cli.main(
            [
                "optimize",
                str(tmp_path / "o.toml"),
                "-q",
                "--state",
                str(tmp_path / "o.jsonl"),
                "--report",
                str(tmp_path / "o.html"),
            ]
        )
        == 0
    )
    page = Page(tmp_path / "o.html")
    best = math.sqrt(K * M)  # ∫x² = x0² (M/d + d/K)/2, from the Lyapunov equation
    least = DRAWN**2 * math.sqrt(M / K)
    low, high, start, found, word = page.table("variable", "from")["d"]
    assert (low, high, start, word) == ("1", "40", "3", "") and float(found) == pytest.approx(
        best, rel=2e-3
    )
    assert numbers(page.table("measure", "value")["integral(square)"]) == pytest.approx(
        [least, DRAWN**2 * (M / 3 + 3 / K) / 2], rel=1e-3
    )
    (row,) = page.rows("d", "objective")
    assert numbers(row) == pytest.approx([best, least], rel=2e-3)
    objective, evaluations, _ = page.said(
        "objective # after # evaluations in # s (slsqp: Optimization terminated successfully)"
    )
    assert (
        objective == pytest.approx(least, rel=1e-3)
        and evaluations == len((tmp_path / "o.jsonl").read_text().splitlines()) - 1
    )
    assert page.unread() == []


def test_pareto_front_report(tmp_path: Path):
    """∫x² = x0² (M/d + d/K)/2 against ∫ẋ² = K x0²/(2 d), which falls with every d: the page's front is that curve, its bounds evenly spaced."""
    d = slider(
        "-k*x - d*der(x)",
        parameters={"drawn": DRAWN},
        outputs={"square": {"value": "x**2"}, "haste": {"value": "der(x)**2"}},
    )
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\n[optimize]\npareto = 3\n[optimize.variables]\nd = { from = 5, to = 40, start = 8 }\n[optimize.measures]\n'
    text += '"integral(square)" = 1.0\n"integral(haste)" = 1.0\n[run]\nstop_time = 20.0\noutput_step = 0.01\ntolerance = 1e-9\n'
    (tmp_path / "o.toml").write_text(text)
    assert (
        cli.main(["optimize", str(tmp_path / "o.toml"), "-q", "--report", str(tmp_path / "o.html")])
        == 0
    )
    page = Page(tmp_path / "o.html")
    front = np.array([numbers(row) for row in page.rows("d", "integral(square)")])
    curve = [(DRAWN**2 * (M / x + x / K) / 2, K * DRAWN**2 / (2 * x)) for x in front[:, 0]]
    assert len(front) == 3 and front[:, 1:] == pytest.approx(np.array(curve), rel=2e-3)
    ends = [K * DRAWN**2 / (2 * x) for x in (math.sqrt(K * M), 40.0)]
    assert np.sort(front[:, 2]) == pytest.approx(np.linspace(*sorted(ends), 3), rel=5e-3)
