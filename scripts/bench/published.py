"""Compares every value published in the papers that Kinetree follows with ours: operation counts,
tables of the carrier, series, times.

The published values are in `published.toml`; a value that cannot be computed has a row that gives
the reason. Misprints have a remark. The quick selection leaves out the rows whose values are times
of this machine.
"""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import typer

from kinetree.models.analysis.free_decay import DecayMode
from kinetree.models.result.stage_summary import summarise
from kinetree.scripts.bench import dynamics_kinetree, dynamics_trees
from kinetree.scripts.bench.published_counts import (
    beside,
    carriers,
    closed_forms,
    comparisons,
    number,
    steps,
)
from kinetree.scripts.bench.published_data import Row, published
from kinetree.scripts.bench.results_file import write_results
from kinetree.solvers.chain import series_order

HEAD = ("source", "table", "quantity", "published", "ours", "deviation", "remark")
SIGN_OF_12 = (
    "the sign of departure 12 is misprinted: with +1.1761578E-03 mean and standard deviation "
    "come out as printed"
)


def decays() -> Iterator[Row]:
    """Yield the rows of table 5.4: half-lives and mean amplitudes of the modes, computed from the
    printed decays.
    """
    data = published()["decays"]
    modes = [
        DecayMode(frequency, decay, {"slew": slew, "luff": luff}, {})
        for frequency, decay, slew, luff in zip(
            data["frequency"], data["decay"], data["slew"], data["luff"], strict=True
        )
    ]
    for k, mode in enumerate(modes):
        name = f"half-life of mode {k + 1}, s"
        shown, gap = beside(data["half_life"][k], mode.half_life)
        remark = "cut off, not rounded" if gap != "0" else ""
        yield Row("Sh24", data["table"], name, data["half_life"][k], shown, gap, remark)
    for channel in ("slew", "luff"):
        for k, mode in enumerate(modes):
            printed = data[f"mean_{channel}"][k]
            shown, gap = beside(printed, mode.mean_amplitude(data["duration"])[channel])
            remark = f"over {data['duration']:g} s; the span that was averaged is not printed"
            if float(printed) > mode.amplitudes[channel]:
                remark = (
                    f"misprint: a decay from {mode.amplitudes[channel]:g} rad has a smaller mean"
                )
            name = f"mean amplitude of mode {k + 1}, {channel}, rad"
            yield Row(
                "Sh24", data["table"], name, printed, shown, gap, remark if gap != "0" else ""
            )


def identified() -> Iterator[Row]:
    """Yield the rows of table 5.5: deviations between two tests, relative to the larger value."""
    data = published()["identified"]
    columns = ("coefficients", "first", "second", "deviation")
    for name, first, second, printed in zip(*(data[key] for key in columns), strict=True):
        ours = 100.0 * abs(first - second) / max(first, second)
        shown, gap = beside(printed, ours)
        remark = "" if gap == "0" else data["remarks"].get(name, "cut off, not rounded")
        yield Row("Sh24", data["table"], f"deviation of {name}, %", printed, shown, gap, remark)


def salvo() -> Iterator[Row]:
    """Yield the rows of figures 5.5 to 5.7: statistics over the departures, computed from the
    printed rows.
    """
    data = published()["salvo"]
    first = np.array(data["start"])
    for table in data["tables"]:
        over_time = table["kind"] == "max_deviation"
        found = summarise([np.array([row]) for row in table["rows"]], first, table["kind"])
        ours = {
            "mean": found.mean,
            "standard deviation": found.standard_deviation,
            "deviation from the start": found.deviation,
        }
        for name, printed in table["printed"].items():
            for k, quantity in enumerate(data["quantities"]):
                what = f"{name}, {quantity}"
                if over_time:
                    why = "over the whole motion, which is not published"
                    yield Row("Sh24", table["figure"], what, printed[k], "–", "–", why)
                    continue
                shown, gap = beside(printed[k], float(ours[name][k]), data["half_unit"])
                remark = "" if gap == "0" else SIGN_OF_12
                yield Row("Sh24", table["figure"], what, printed[k], shown, gap, remark)


def series() -> Iterator[Row]:
    """Yield the rows of the table of [GG11] (18), (19) and its range of doublings."""
    data = published()["series"]
    for r, step, error in zip(data["order"], data["step"], data["error"], strict=True):
        best, least = series_order.optimum(r)
        yield number("GG11", data["table"], f"best ω_M Δ, order {r}", step, best)
        yield number("GG11", data["table"], f"error, order {r}", error, least)
    data = published()["doublings"]
    for ratio, printed in zip(data["ratio"], data["printed"], strict=True):
        name = f"doublings m for frequencies that spread by {ratio:g}"
        yield number("GG11", data["table"], name, printed, math.log2(ratio))


def missing() -> Iterator[Row]:
    """Yield the rows of published values that cannot be computed, with the reason."""
    for data in published()["missing"]:
        source, table, quantity = data["source"], data["table"], data["quantity"]
        yield Row(source, table, quantity, data["published"], "–", "–", data["remark"])


def times() -> Iterator[Row]:
    """Yield the comparisons of times in the text of section 4.2, measured on this machine.

    The literal forms are compared; DEC is its literal twin DEC-H, since DEC itself runs as the engine, which is written for speed.
    """
    measured: dict[str, dynamics_kinetree.Measured] = {}
    for data in published()["times"]:
        joint = data["joint"]
        if joint not in measured:
            case = dynamics_trees.chain(joint, data["bodies"])
            forms = dynamics_kinetree.Forms(dynamics_trees.system(case))
            measured[joint] = dynamics_kinetree.measure(forms, ("CBM", "ITR-G", "DEC-H", "DEC"))
        us, iterations = measured[joint]
        slower, faster = (
            us["DEC-H" if data[key] == "DEC" else data[key]] for key in ("slower", "faster")
        )
        shown, gap = beside(data["printed"], slower / faster)
        name = (
            f"time of {data['slower']} over {data['faster']}, chain of {data['bodies']}, "
            f"{joint} joints"
        )
        remark = (
            f"literal forms, {slower:.3g} and {faster:.3g} µs with {iterations['ITR-G']:.1f} "
            f"iterations, on this processor; the engine takes {us['DEC']:.2g} µs"
        )
        yield Row("Sh24", data["table"], name, data["printed"], shown, gap, remark)


def rows(quick: bool) -> Iterator[Row]:
    """Yield every row; the quick selection leaves out the times."""
    for part in (closed_forms, steps, comparisons, carriers, decays, identified, salvo, series):
        yield from part()
    yield from missing()
    if not quick:
        yield from times()


def line(cells: tuple[str, ...]) -> str:
    """Return cells as a row of a Markdown table."""
    return "| " + " | ".join(cells).replace("| |", "|  |") + " |"


def run(quick: bool, json_path: Path | None, plots: Path | None) -> None:
    """Print the table of published values, and write it as JSON."""
    found = []
    typer.echo(line(HEAD))
    typer.echo("|" + "---|" * len(HEAD))
    for row in rows(quick):
        found.append(row)
        typer.echo(line(row))
    agree, open_rows = sum(row.agrees for row in found), sum(row.ours == "–" for row in found)
    typer.echo(
        f"\n{len(found)} rows: {agree} agree to the last printed digit, "
        f"{len(found) - agree - open_rows} deviate, {open_rows} cannot be computed."
    )
    write_results(json_path, results=[row._asdict() | {"agrees": row.agrees} for row in found])
