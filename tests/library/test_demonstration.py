"""The product's main job in one go, with one module: files, pictures, tables and pages."""

from pathlib import Path

import pytest

from kinetree.fmu.archive.build import FmuError
from kinetree.scripts.developer import demo
from kinetree.scripts.studies import carrier_cosim, stabilisation


def test_demonstration_falls_back_to_python_fmus(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture
):
    """Where native FMUs cannot be made the Python back end takes their place, and that is said."""
    monkeypatch.setattr(demo, "MODULES", 1)
    monkeypatch.setattr(demo, "PACE", 0.1)
    whole, read = carrier_cosim.run_carrier, stabilisation.read_comparison
    wanted = read()
    asked = []

    def run(folder: Path, backend: str, *more: object, **settings: object) -> carrier_cosim.Coupled:
        asked.append(backend)
        if backend == "native":
            raise FmuError("no compiler")
        return whole(folder, "native", *more, **settings)

    short = wanted.model_copy(update={"ways": dict(list(wanted.ways.items())[:1])})
    monkeypatch.setattr(carrier_cosim, "run_carrier", run)
    monkeypatch.setattr(stabilisation, "read_comparison", lambda: short)
    assert demo.main(tmp_path / "new") == 0
    said = capsys.readouterr().out
    assert (
        asked == ["native", "python"]
        and "no native FMU on this machine: no compiler; the Python back end takes its place"
        in said
    )
    assert "stable" in said and "slewed and luffed" in said
    written = [Path(line.split()[1]) for line in said.splitlines() if line.startswith("written: ")]
    assert len(written) >= 10 and all(path.stat().st_size > 0 for path in written)
    page = (tmp_path / "new" / "report.html").read_text()
    assert (
        "Coupled FMUs beside one system: largest differences" in page
        and page.count("data:image/png") >= 4
    )
