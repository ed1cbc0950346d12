"""Packs a program of this project as an FMU of its own, by pythonfmu: the texts of its modules become one script, its numbers a resource."""

from __future__ import annotations

import hashlib
import json
import re
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kinetree.fmu.archive.container import write_archive
from kinetree.fmu.slave.loader import usable, with_loaders
from kinetree.models.description.units import parse_unit

HERE = Path(__file__).parent
CAPABILITIES = {"canGetAndSetFMUstate": "true", "canHandleVariableCommunicationStepSize": "true", "needsExecutionTool": "false"}


def script_text(parts: Sequence[str]) -> str:
    """One script out of the modules, without the imports of each other."""
    texts = [(HERE / name).read_text(encoding="utf-8") for name in parts]
    return "\n\n".join(re.sub(r"^from kinetree\..*\n", "", text, flags=re.M) for text in texts)


def unit_tables(of: Mapping[str, str]) -> dict[str, Any]:
    """Units by variable, and the exponents of their base units."""
    base = {}
    for unit in set(of.values()) - {""}:
        known = parse_unit(unit)
        base[unit] = {key: str(exponent) for key, exponent in known.base.items()} | ({"factor": repr(known.factor)} if known.factor != 1.0 else {})
    return {"of": dict(of), "base": base}


def pack_program(name: str, parts: Sequence[str], spec: Mapping[str, Any], units: Mapping[str, str], path: Path) -> Path:
    """The archive; `spec` travels as a resource, and its numbers are parameters of the FMU."""
    from pythonfmu.builder import FmuBuilder

    text, numbers = script_text(parts), json.dumps({**spec, "units": unit_tables(units)})
    module = f"kinetree_{name}_{hashlib.sha256((text + numbers).encode()).hexdigest()[:12]}"
    before = list(sys.path)
    with tempfile.TemporaryDirectory(prefix="kinetree-program-") as scratch:
        script, resource = Path(scratch) / f"{module}.py", Path(scratch) / "program.json"
        script.write_text(text, encoding="utf-8")
        resource.write_text(numbers, encoding="utf-8")
        try:
            packed = FmuBuilder.build_FMU(script, dest=Path(scratch) / "packed.fmu", project_files=[resource], **CAPABILITIES)
        finally:
            sys.path[:] = before
            sys.modules.pop(module, None)
        with zipfile.ZipFile(packed) as archive:
            entries = {name: archive.read(name) for name in archive.namelist()}
    return write_archive(path, with_loaders(entries, usable()))
