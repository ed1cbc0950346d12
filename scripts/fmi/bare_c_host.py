"""Host programs in C on every platform, built on this machine and run natively, under Wine or QEMU."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote

from kinetree.fmu.native.shell import fmi_headers
from kinetree.scripts.fmi.fmpy_host import Archive
from kinetree.solvers.cache import cache_root
from kinetree.solvers.library.c_compiler import LibraryError, compiler, cross_compiler, has_zig, run
from kinetree.solvers.library.platforms import Platform, this_platform
from kinetree.solvers.library.verified_files import sound, written

ARM_LIBRARIES = Path("/usr/aarch64-linux-gnu")
WINE = ("wine64", "wine", "/usr/lib/wine/wine64")
QEMU = ("qemu-aarch64-static", "qemu-aarch64")


class HostError(Exception):
    """A host that cannot be used, or whose run failed; the message states the reason."""


def found(names: Sequence[str]) -> str | None:
    return next((path for path in map(shutil.which, names) if path), None)


def why_not(target: Platform) -> str:
    """Return why programs for a platform cannot run on this machine and what would help; empty if
    they can.
    """
    if target == this_platform():
        return ""
    if not has_zig():
        return "zig is missing: pip install ziglang"
    if target.name == "win64":
        return "" if found(WINE) else "Wine is missing: apt-get install wine64"
    if target.name == "aarch64-linux":
        if not found(QEMU):
            return "QEMU is missing: apt-get install qemu-user-static"
        return (
            ""
            if ARM_LIBRARIES.exists()
            else "the C library of ARM is missing: apt-get install libc6-arm64-cross"
        )
    return f"this machine cannot run programs for {target.name}"


def no_compiler() -> str:
    """Return why the hosts in C cannot be built for this machine."""
    try:
        compiler()
    except LibraryError as error:
        return str(error)
    return ""


def launcher(target: Platform) -> tuple[list[str], dict[str, str]]:
    """Return the command prefix and environment that run programs of a platform."""
    if reason := why_not(target):
        raise HostError(f"no host for {target.name}: {reason}")
    if target == this_platform():
        return [], {}
    if target.name == "win64":
        prefix = cache_root() / "wine"
        prefix.mkdir(exist_ok=True)
        quiet = {
            "WINEDEBUG": "-all",
            "WINEPREFIX": str(prefix),
            "WINEDLLOVERRIDES": "mscoree,mshtml=",
            "HOME": str(cache_root()),
            "DISPLAY": "",
        }
        return [str(found(WINE))], quiet | {"PATH": os.environ.get("PATH", "/usr/bin:/bin")}
    return [str(found(QEMU)), "-L", str(ARM_LIBRARIES)], {}


def native_program(name: str, target: Platform) -> Path:
    """Return a C host compiled for a platform, building it if needed."""
    source = Path(__file__).with_name(f"{name}.c")
    suffix = ".exe" if target.system == "Windows" else ""
    path = (
        cache_root()
        / "hosts"
        / f"{hashlib.sha256(source.read_bytes()).hexdigest()[:12]}-{target.name}"
        / f"{name}{suffix}"
    )
    if not sound(path):
        own = target == this_platform()
        with written(path) as draft:
            more = [] if target.system == "Windows" else ["-ldl", "-lpthread", "-lm"]
            tool = compiler() if own else cross_compiler(target.zig)
            run(
                [
                    *tool,
                    "-std=c11",
                    "-O1",
                    "-w",
                    f"-I{fmi_headers()}",
                    str(source),
                    "-o",
                    str(draft),
                    *more,
                ]
            )
    return path


def resources_place(archive: Archive, target: Platform) -> str:
    """Return the resource location as FMI 2.0 (URI) or 3.0 (path) expects it on a platform."""
    drive = "Z:" if target.system == "Windows" else ""  # Wine's name of the root folder
    folder = str(Path(archive.folder) / "resources")
    return (
        f"file://{'/' + drive if drive else ''}{quote(folder)}"
        if archive.version == 2
        else f"{drive}{folder}/"
    )


def told(
    command: list[str], environment: dict[str, str], tries: int
) -> subprocess.CompletedProcess[str]:
    """Run a command and return the finished process; Wine's silent failures to start are repeated."""
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=600)
    silent = done.returncode == 1 and not done.stdout + done.stderr
    return told(command, environment, tries - 1) if silent and tries > 1 else done


class BareHost:
    """An unzipped archive in the bare C host of a platform; every call is a process with an empty
    environment.
    """

    def __init__(
        self, archive: Archive, target: Platform, variables: Sequence[str], place: str = ""
    ):
        self.folder, self.target = Path(archive.folder), target
        self.command, self.environment = launcher(target)
        self.program = native_program("bare_host", target)
        self.library = next(
            (self.folder / "binaries" / target.name).glob(f"*{target.extension}"), None
        )
        if self.library is None:
            raise HostError(
                f"the archive has no binary for {target.name}: kinetree fmu --platforms {target.name}"
            )
        self.guid = archive.description.guid
        self.references = ",".join(str(archive.references[name]) for name in variables)
        self.place = place or resources_place(archive, target)

    def run(
        self,
        what: str,
        step: float = 1e-3,
        count: int = 1000,
        file: str | Path = "",
        place: str = "",
    ) -> dict[str, list[str]]:
        """Run one command of the host; return its output lines "name value" as a dictionary."""
        arguments = [
            str(self.library),
            place or self.place,
            self.guid,
            what,
            self.references,
            repr(step),
            str(count),
            str(file),
        ]
        done = told(
            [*self.command, str(self.program), *arguments],
            self.environment,
            2 if self.command else 1,
        )
        if done.returncode:
            raise HostError(
                f"the host for {self.target.name} ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-500:]}"
            )
        lines: dict[str, list[str]] = {}
        for line in done.stdout.splitlines():
            key, _, value = line.partition(" ")
            lines.setdefault(key, []).append(value)
        return lines

    def values(self, what: str, step: float, count: int, file: str | Path = "") -> list[float]:
        """Run one command of the host; return the values of the variables after it."""
        lines = self.run(what, step, count, file)
        if "step" in lines or "reading" in lines or "value" not in lines:
            raise HostError(f"the host for {self.target.name} could not run it: {lines}")
        return [float(text) for text in lines["value"]]
