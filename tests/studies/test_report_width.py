"""No report is wider than the window of a telephone, whatever its names, commands and tables are."""

import sys
from itertools import product
from pathlib import Path

import pytest
from browser import DESK, PHONE, browser, needs_browser

from kinetree.scripts.reports import html_report as html
from kinetree.scripts.reports.study_page import Section, write_page

LONG = "hydraulic_manipulator_with_a_name_that_nobody_breaks.boom.lift_cylinder.chamber_a.pressure"
HEAD, ROW = ("measure", *(f"{LONG}_{k}" for k in range(5))), (LONG, *(1.23456e-7 for _ in range(5)))


def page_of_a_study(path: Path) -> Path:
    """Everything that a study can write, in one word each."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 2.0))
    figure.subplots().plot([0, 1], [0, 1])
    section = Section(LONG).say(LONG).picture(figure, LONG).table(HEAD, [ROW], LONG)
    beside = Section("Beside").picture(figure, "left").picture(figure, "right")
    beside.beside = True
    return write_page(
        path,
        f"Study {LONG}",
        [section, beside],
        lead=LONG,
        more={"file": f"/far/away/{LONG}.toml", f"way {LONG}": LONG},
    )


def page_of_a_run(path: Path) -> Path:
    return html.write_report(
        path,
        LONG,
        [
            html.paragraph(LONG),
            html.heading(LONG),
            html.table([HEAD, [str(cell) for cell in ROW]], LONG),
        ],
    )


@needs_browser
def test_no_report_is_wider_than_its_window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(
        sys,
        "argv",
        ["kinetree", "optimize", f"/far/away/{LONG}.toml", "--report", f"/far/away/{LONG}.html"],
    )
    paths = page_of_a_study(tmp_path / "study.html"), page_of_a_run(tmp_path / "run.html")
    with browser() as shell:
        for path, size in product(paths, (PHONE, DESK)):
            page = shell.new_page(viewport=size)
            page.goto(path.as_uri())
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
            # a table scrolls inside its frame: no number is broken in two
            assert page.evaluate(
                "Array.from(document.querySelectorAll('.wide td')).every(cell => cell.offsetHeight < 40)"
            )
            page.close()
