"""Compiles data/bare_host.c and runs it on an FMI 2.0 archive with an empty environment."""

import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

from fmpy import read_model_description

from kinetree.fmu.native.shell import fmi_headers
from kinetree.solvers.library.tools import compiler

SOURCE = Path(__file__).parents[1] / "data" / "bare_host.c"


def bare_runner(path: Path, folder: Path, variable: str) -> Callable[..., dict[str, list[str]]]:
    """run(command, step, count, file, place): lines "name value" of the host's output, by name; `variable` is the one it reads."""
    program = folder / "bare_host"
    subprocess.run([*compiler(), "-std=c11", "-O1", f"-I{fmi_headers()}", str(SOURCE), "-o", str(program), "-ldl", "-lpthread"], check=True)
    with zipfile.ZipFile(path) as archive:
        archive.extractall(folder)
    description = read_model_description(str(folder))
    library = next((folder / "binaries" / "linux64").glob("*.so"))
    reference = next(v.valueReference for v in description.modelVariables if v.name == variable)
    uri = (folder / "resources").as_uri()

    def run(command: str, step: float = 1e-3, count: int = 1000, file: str = "", place: str = uri) -> dict[str, list[str]]:
        arguments = [str(program), str(library), place, description.guid, command, str(reference), str(step), str(count), file]
        done = subprocess.run(arguments, capture_output=True, text=True, env={}, timeout=300)
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, list[str]] = {}
        for line in done.stdout.splitlines():
            key, _, value = line.partition(" ")
            found.setdefault(key, []).append(value)
        return found

    return run
