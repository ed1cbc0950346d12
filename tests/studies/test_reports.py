"""Every number of the reports beside a formula or a foreign tool: tables are read from the pages themselves."""

import json
import math
from html.parser import HTMLParser
from pathlib import Path

import control
import numpy as np
import pytest
from loop_text import SCENARIO
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import spearmanr

from kinetree.scripts import cli
from kinetree.scripts.hil.loop import simulate
from kinetree.scripts.hil.report import write_report
from kinetree.scripts.hil.scenario import read_scenario

SIX = 6e-6  # pages have six digits
M, K, D = 2.0, 50.0, 3.0  # kg, N/m, N.s/m
DRAWN = 0.1  # m


class Page(HTMLParser):
    """Tables as lists of rows of texts, and paragraphs."""

    def __init__(self, path: Path):
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.texts: list[str] = []
        self.cell = self.text = False
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "p":
            self.texts.append("")
        self.cell = self.cell or tag in ("td", "th")
        self.text = self.text or tag == "p"

    def handle_endtag(self, tag: str) -> None:
        self.cell = self.cell and tag not in ("td", "th")
        self.text = self.text and tag != "p"

    def handle_data(self, data: str) -> None:
        if self.cell:
            self.tables[-1][-1][-1] += data
        elif self.text:
            self.texts[-1] += data

    def table(self, *head: str) -> dict[str, list[str]]:
        """The rows of the table whose head begins so, by their first cell."""
        found = [rows for rows in self.tables if rows[0][: len(head)] == list(head)]
        assert len(found) == 1, [rows[0] for rows in self.tables]
        return {row[0]: row[1:] for row in found[0][1:]}


def numbers(texts: list[str]) -> list[float]:
    return [float(text) for text in texts]


def slider(force: str, **more) -> dict:
    """A mass on a spring with a damper."""
    return {
        "name": "slider",
        "gravity": [0, 0, 0],
        "parameters": {"m": M, "k": K, "d": D, "push": 0.0, **more.pop("parameters", {})},
        "bodies": {"b": {"mass": "m", "inertia": [1, 1, 1, 0, 0, 0]}},
        "joints": {"j": {"child": "b", "transforms": [{"shift": "x", "coordinate": "x", "start": "drawn"}]}},
        "forces": {"law": {"coordinate": "x", "value": force}},
        **more,
    }


def decay(k: np.ndarray, m: np.ndarray, x0: float, t: np.ndarray) -> np.ndarray:
    """x of m ẍ + D ẋ + k x = 0 from rest at x0."""
    a = D / (2 * m)
    w = np.sqrt(k / m - a * a)
    return x0 * np.exp(-a * t) * (np.cos(w * t) + a / w * np.sin(w * t))


def test_a_study(tmp_path: Path):
    """Parameters, measures, percentiles and rank correlations of a damped swing over a grid of 4 x 3 values."""
    (tmp_path / "m.json").write_text(json.dumps(slider("-k*x - d*der(x)", parameters={"drawn": DRAWN})))
    text = 'mechanism = "m.json"\nrest = ["growth", "frequency", "damping"]\n[vary]\nk = [30.0, 50.0, 80.0, 100.0]\nm = [1.0, 2.0, 4.0]\n'
    (tmp_path / "s.toml").write_text(text + '[run]\nstop_time = 1.0\noutput_step = 0.1\ntolerance = 1e-10\n[report]\nx = ["end", "rms", "min"]\n')
    assert cli.main(["study", str(tmp_path / "s.toml"), "-q", "--report", str(tmp_path / "s.html")]) == 0
    page, time = Page(tmp_path / "s.html"), np.linspace(0.0, 1.0, 11)
    k, m = (each.ravel() for each in np.meshgrid([30.0, 50.0, 80.0, 100.0], [1.0, 2.0, 4.0], indexing="ij"))
    runs = np.array([decay(a, b, DRAWN, time) for a, b in zip(k, m, strict=True)])
    size = np.sqrt(k / m)
    found = {"end(x)": runs[:, -1], "rms(x)": np.sqrt((runs**2).mean(axis=1)), "min(x)": runs.min(axis=1)}
    found |= {"growth": -D / (2 * m), "frequency": size / (2 * np.pi), "damping": D / (2 * m) / size}
    rows = np.array([row for table in page.tables if table[0][:2] == ["k", "m"] for row in table[1:]], dtype=float)
    assert rows == pytest.approx(np.column_stack((k, m, *found.values())), rel=SIX, abs=1e-9)
    measures, ties = page.table("measure", "1 %"), page.table("measure", "k")
    for name, values in found.items():
        ordered = np.sort(values)
        places = [0.01 * share * (len(values) - 1) for share in (1, 5, 50, 95, 99)]
        shares = [np.interp(place, range(len(values)), ordered) for place in places]
        assert numbers(measures[name]) == pytest.approx([*shares, ordered[0], ordered[-1]], rel=SIX, abs=1e-9)
        exact = [spearmanr(column, np.round(values, 9)).statistic for column in (k, m)]
        assert numbers(ties[name]) == pytest.approx(exact, abs=2e-5)
    assert any(text.startswith("0 % of 12 runs") for text in page.texts)


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


def test_a_comparison_of_ways(tmp_path: Path):
    """A step of 1 N on a spring that is held by 50 and 200 N/m: x = (1 - decay)/k, energy F x; small motions by √(k/m) and d."""
    more = {"states": {"work": {"rate": "push*der(x)", "unit": "J"}}, "outputs": {"place": {"value": "x"}}}
    d = slider("if(t > 0, push, 0) - k*x - d*der(x)", parameters={"drawn": 0.0, "push": 1.0}, **more)
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "c.toml").write_text(COMPARISON)
    assert cli.main(["study", str(tmp_path / "c.toml"), "-q", "--report", str(tmp_path / "c.html"), "-o", str(tmp_path / "c.csv")]) == 0
    page, time = Page(tmp_path / "c.html"), np.linspace(0.0, 4.0, 401)
    held, rest = page.table("way", "x [mm]: largest"), page.table("way", "largest growth [1/s]")
    for way, k in (("soft", 50.0), ("stiff", 200.0)):
        x = (1.0 - decay(k, M, 1.0, time)) / k
        late = np.flatnonzero(np.abs(x) > 1e-3)[-1]
        largest, rms, end, settled, energy = held[way]
        assert numbers([largest, rms, end]) == pytest.approx(
            [1e3 * abs(x).max(), 1e3 * math.sqrt((x * x).mean()), 1e3 * x[-1]], rel=6e-4
        )  # four digits
        assert settled == "not" if late == 400 else float(settled.split()[0]) == pytest.approx(time[late] + 0.01, abs=6e-3)
        assert float(energy) == pytest.approx(x[-1], abs=0.5)
        size = math.sqrt(k / M)
        assert numbers(rest[way]) == pytest.approx([0.0, size / (2 * math.pi), D / (2 * M) / size], rel=SIX)  # 0: that of the work
    assert "x: least by stiff." in page.texts


def test_ways_with_controllers_and_spread_parameters(tmp_path: Path):
    """A PD holds a free mass: margins by python-control; over spread masses the largest deviation of a critically late step."""
    d = slider("push", parameters={"drawn": 0.0, "push": 1.0, "kp": 40.0}, actuators={"p": {"coordinate": "x"}})
    d["controllers"] = {"hold": {"measure": "x", "kp": "kp", "kd": 20.0, "filter": 0.01, "drives": "p"}}
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\nhold = ["x"]\nband = 1e-3\nsamples = 8\n[run]\nstop_time = 5.0\noutput_step = 0.05\n'
    (tmp_path / "c.toml").write_text(text + "[vary]\nm = { uniform = [1.0, 3.0] }\n[ways.weak]\n[ways.strong]\nkp = 80.0\n")
    assert cli.main(["study", str(tmp_path / "c.toml"), "-q", "--report", str(tmp_path / "c.html")]) == 0
    page = Page(tmp_path / "c.html")
    rows, spread = page.table("way", "controller"), next(table for table in page.tables if table[0][:2] == ["", "way"])
    s = control.tf("s")
    for way, kp in (("weak", 40.0), ("strong", 80.0)):
        loop = (kp + 20.0 * s / (0.01 * s + 1)) / (M * s * s)
        gain, phase, modulus, _, crossover, _ = control.stability_margins(loop)
        said = numbers(rows[way][2:])
        assert rows[way][:2] == ["hold", "stable"] and said[0] == pytest.approx(gain, rel=1e-3)
        assert said[1:] == pytest.approx([phase, 1e3 * math.radians(phase) / crossover, modulus], rel=1e-3)
        row = next(row for row in spread[1:] if row[1] == way)
        assert float(row[3]) == pytest.approx(1e3 / kp, rel=2e-2) and row[-1] == "0"  # 1 N on kp, hardly beyond it


LOOP = SCENARIO.format(channel="delay = 0.004")


def test_a_run_in_the_loop(tmp_path: Path):
    """Counts of a channel that is only late, and margins of 1/(s (M s + 1)) under a PD with the dead times of the page, from the formula of L."""
    d = slider("f - 1.0*der(x)", parameters={"drawn": 0.0}, inputs={"f": {"start": 0.0}}, outputs={"place": {"value": "x"}})
    (tmp_path / "m.json").write_text(json.dumps(d))
    (tmp_path / "loop.toml").write_text(LOOP)
    record = simulate(read_scenario(tmp_path / "loop.toml"))
    record.computing, record.lateness = [1e-6 * k for k in range(1, 1002)], [2e-6] * 1001
    page = Page(write_report(record, tmp_path / "l.html"))
    assert page.texts[0].startswith("300 steps of 10 ms") and "301 frames sent, 299 commands applied, 0 frames lost" in page.texts[0]
    assert "0.997 steps old on average, 1 at most" in page.texts[1]  # both ways take 8 of 10 ms; the first step has none
    assert numbers(page.table("", "50 %")["computing of a step"]) == pytest.approx([501.0, 991.0, 1000.0, 1001.0])
    assert numbers(page.table("", "50 %")["lateness of a step"]) == pytest.approx([2.0] * 4)
    rows = page.table("loop", "delay [ms]")
    for name, dead in (("continuous", 0.0), ("sampled and held", 5.0), ("as it ran", 5.0 + 10.0 * 299 / 300)):
        delay, word, gain, phase, wait, modulus = rows[name]

        def loop(w: float, dead: float = dead) -> complex:
            s = 1j * w
            return (8.0 + 4.0 * s / (0.02 * s + 1)) / (s * (M * s + 1.0)) * np.exp(-1e-3 * dead * s)

        one = brentq(lambda w: abs(loop(w)) - 1.0, 0.1, 100.0)
        angle = math.degrees(np.angle(-loop(one)))
        assert (float(delay), word) == (pytest.approx(dead, rel=SIX), "stable")
        assert numbers([phase, wait]) == pytest.approx([angle, 1e3 * math.radians(angle) / one], rel=1e-5)
        grid = np.geomspace(1.0, 1000.0, 2000)
        turns = [brentq(lambda w: loop(w).imag, a, b) for a, b in zip(grid, grid[1:], strict=False) if loop(a).imag * loop(b).imag < 0.0]
        factors = [-1.0 / loop(w).real for w in turns if loop(w).real < 0.0]
        assert float(gain) == pytest.approx(min(factors) if dead else math.inf, rel=1e-5)
        least = min(minimize_scalar(lambda w: abs(1 + loop(w)), bounds=(low, 2 * low), method="bounded").fun for low in np.geomspace(0.5, 300.0, 40))
        assert float(modulus) == pytest.approx(min(least, 1.0), rel=1e-4)


def test_an_optimisation(tmp_path: Path):
    """The damping of the least rms of the decay is known by its formula: the page says value, measure, bounds, start."""
    d = slider("-k*x - d*der(x)", parameters={"drawn": DRAWN}, outputs={"square": {"value": "x**2"}})
    (tmp_path / "m.json").write_text(json.dumps(d))
    text = 'mechanism = "m.json"\n[optimize.variables]\nd = { from = 1, to = 40, start = 3 }\n[optimize.measures]\n"integral(square)" = 1.0\n'
    (tmp_path / "o.toml").write_text(text + "[run]\nstop_time = 20.0\noutput_step = 0.01\ntolerance = 1e-9\n")
    assert cli.main(["optimize", str(tmp_path / "o.toml"), "-q", "--report", str(tmp_path / "o.html")]) == 0
    page = Page(tmp_path / "o.html")
    best = math.sqrt(K * M)  # ∫x² = x0² (M/d + d/K)/2, from the Lyapunov equation
    least = DRAWN**2 * math.sqrt(M / K)
    low, high, start, found, word = page.table("variable", "from")["d"]
    assert (low, high, start, word) == ("1", "40", "3", "") and float(found) == pytest.approx(best, rel=2e-3)
    assert numbers(page.table("measure", "value")["integral(square)"]) == pytest.approx([least], rel=1e-3)
    assert numbers(page.table("d", "objective")[found]) == pytest.approx([least], rel=1e-3)
