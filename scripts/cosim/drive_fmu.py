"""Packs the hydraulic drive as an FMU of its own, by pythonfmu."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from kinetree.scripts.cosim.drive import Drive

HERE = Path(__file__).parent
PARTS = ("oil.py", "drive.py", "drive_script.py")


def script_text() -> str:
    """One script out of the modules, without the imports of each other."""
    texts = [(HERE / name).read_text(encoding="utf-8") for name in PARTS]
    return "\n\n".join(re.sub(r"^from kinetree\..*\n", "", text, flags=re.M) for text in texts)


def build_drive_fmu(drive: Drive, path: Path) -> Path:
    """The archive; numbers of the drive travel as a resource and are parameters of the FMU."""
    from pythonfmu.builder import FmuBuilder

    spec = {"cylinder": asdict(drive.cylinder), "valve": asdict(drive.valve), "profile": drive.profile, "inside": drive.inside}
    text, numbers = script_text(), json.dumps(spec)
    name = f"kinetree_drive_{hashlib.sha256((text + numbers).encode()).hexdigest()[:12]}"
    before = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="kinetree-drive-") as scratch:
        script, resource = Path(scratch) / f"{name}.py", Path(scratch) / "drive.json"
        script.write_text(text, encoding="utf-8")
        resource.write_text(numbers, encoding="utf-8")
        try:
            FmuBuilder.build_FMU(script, dest=path, project_files=[resource], canGetAndSetFMUstate="true", needsExecutionTool="false")
        finally:
            sys.path[:] = before
            sys.modules.pop(name, None)
    return path
