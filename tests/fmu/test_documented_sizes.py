"""docs/fmu.md: the sizes that its table claims are those of archives built here."""

import os
import re

import pytest
from tree import ROOT

from kinetree.fmu.archive.build import build_fmu
from kinetree.models import load
from kinetree.scripts.bench.fmu import chain
from kinetree.solvers.library.platforms import this_platform

ROW = re.compile(
    r"^\| (regulator|chain of \d+) \| (native|python) \| [^|]*\| ([\d.]+) (kB|MB) \|", re.M
)
CLOSE = 0.1  # processors and compilers change a few per cent of the code


def rows() -> list[tuple[str, str, float]]:
    """Model, back end and size in kB, as the page says."""
    page = (ROOT / "docs" / "fmu.md").read_text(encoding="utf-8")
    return [
        (model, backend, float(size) * (1000 if unit == "MB" else 1))
        for model, backend, size, unit in ROW.findall(page)
    ]


@pytest.mark.skipif(
    this_platform() is None or this_platform().name != "linux64",
    reason="the table is that of Linux on x86-64",
)
@pytest.mark.skipif(
    "KINETREE_LEVELS" in os.environ,
    reason="archives carry fewer processor levels than those of the table",
)
@pytest.mark.parametrize(
    ("model", "backend", "claimed"),
    [row for row in rows() if row[0] in ("regulator", "chain of 24")],
)
def test_archive_sizes_match_documentation(model, backend, claimed, tmp_path):
    source = "lib:regulator" if model == "regulator" else chain(int(model.split()[-1]))
    path = build_fmu(
        load(source),
        tmp_path / "m.fmu",
        backend,
        integrator="auto" if model == "regulator" else "rk4",
        platforms=["linux64"],
    )
    assert path.stat().st_size / 1e3 == pytest.approx(claimed, rel=CLOSE)


def test_size_table_has_both_back_ends():
    assert {backend for _, backend, _ in rows()} == {"native", "python"} and len(rows()) > 6
