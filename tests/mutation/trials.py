"""A copy of the tree in which one file at a time is changed, and what tests say to it."""

from __future__ import annotations

import math
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import reached_plugin
from call_sequences import Program, built, compiled, linked
from private_cache import private_cache

ROOT = Path(__file__).resolve().parents[2]
QUICK = ("-O1",)
LONGEST = 40.0  # seconds of the processor for a test: what takes longer does not end
WAITING = 10.0  # how much longer tests may take than they may compute, on a machine that does other things too
ENDED = "pytest ended with "
NOT_FOUND = f"{ENDED}4"  # its word for a test that is not there
LAYERS = {"solvers": "solvers", "models": "models", "fmu_src": "fmu", "scripts": "scripts"}


def ended(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], limit: float
) -> int | None:
    """How a process ended; None where it took more seconds of the processor than the limit, or waited, and its children have ended with it."""
    import resource  # of POSIX alone

    seconds = math.ceil(limit)
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
    )  # fmt: skip
    try:
        code = process.wait(WAITING * limit)
        return None if code == -signal.SIGXCPU else code
    except subprocess.TimeoutExpired:
        return None
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Copy:
    """A copy of the tree whose packages are found before those of the installation, with a cache of its own."""

    def __init__(self, folder: Path):
        self.folder = folder / "tree"
        self.cache = private_cache(folder / "cache")
        self.fit: dict[
            tuple[str, bool], bool
        ] = {}  # by test, whether it passes here without any change
        for name in (*LAYERS, "tests", "docs", "examples"):
            shutil.copytree(
                ROOT / name, self.folder / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        for name in ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", "constraints.txt"):
            shutil.copy(ROOT / name, self.folder)
        packages = self.folder / "packages" / "kinetree"
        packages.mkdir(parents=True)
        for source, name in LAYERS.items():
            (packages / name).symlink_to(self.folder / source, target_is_directory=True)
        for path in (self.folder / "scripts" / "kinetree").glob("*.py"):
            (packages / path.name).symlink_to(path)

    def tried(
        self, name: str, changed: bytes, rounds: Sequence[tuple[Sequence[str], float]]
    ) -> tuple[str, str]:
        """'killed', 'survived', 'endless', 'unreached' or 'invalid', and the test that said so. Rounds: tests, and seconds of the processor."""
        if not rounds:
            return "unreached", ""
        if name.endswith(".c") and (verdict := self.compiled(name, changed)):
            return verdict, ""
        if name.endswith(".c") and (said := self.played(name, changed)):
            return "killed", said
        said = [self.judged(name, changed, tests, limit) for tests, limit in rounds[:1]]
        for tests, limit in rounds[1:]:
            if said[-1][0] not in ("survived", "unreached"):
                break
            said.append(self.judged(name, changed, tests, limit))
        return next((each for each in reversed(said) if each[0] != "unreached"), said[-1])

    def judged(
        self, name: str, changed: bytes, tests: Sequence[str], limit: float
    ) -> tuple[str, str]:
        """What some tests say; 'unreached' when none of them passes here without any change."""
        path, plain = self.folder / name, name.startswith("solvers/")
        source = path.read_bytes()
        left = list(tests)
        while left:
            path.write_bytes(changed)
            failed = self.failed(left, plain, limit)
            path.write_bytes(source)
            if failed is None:
                return "survived", ""
            if failed == "":
                return "endless", ""
            if failed == NOT_FOUND and (there := self.there(left, plain)) != left:
                left = there
                continue
            if name.endswith(".c") or self.passes(failed, plain):
                return "killed", failed
            left = [test for test in left if test != failed]
        return "unreached", ""

    def command(self, plain: bool, *more: str) -> tuple[list[str], dict[str, str]]:
        """Pytest over the copy, and its environment."""
        path = os.pathsep.join(
            (str(self.folder / "packages"), str(Path(reached_plugin.__file__).parent))
        )
        environment = os.environ | {
            "PYTHONPATH": path,
            "PYTHONDONTWRITEBYTECODE": "1",
            "KINETREE_CACHE": str(self.cache),
        }
        if plain:
            environment["NUMBA_DISABLE_JIT"] = "1"
        marks = "not slow and not platforms" + (" and not host" if plain else "")
        options = [
            "-q",
            "-x",
            "--tb=no",
            "-p",
            "no:cacheprovider",
            "-p",
            "reached_plugin",
            "-m",
            marks,
        ]
        return [sys.executable, "-m", "pytest", *options, *more], environment

    def there(self, tests: Sequence[str], plain: bool) -> list[str]:
        """Those of some tests that pytest finds in the copy as it stands: others have gone since they were measured."""
        command, environment = self.command(
            plain, "--collect-only", *sorted({test.partition("::")[0] for test in tests})
        )
        found = set(
            subprocess.run(
                command, cwd=self.folder, env=environment, capture_output=True, text=True
            ).stdout.splitlines()
        )
        return [test for test in tests if test in found]

    def failed(
        self, tests: Sequence[str], plain: bool, limit: float, collect: bool = False
    ) -> str | None:
        """The first test that fails, '' when they do not end, None when all pass."""
        wanted = self.folder / "wanted.txt"
        wanted.write_text("\n".join(tests) + "\n", encoding="utf-8")
        told = self.folder / "failed.txt"
        told.unlink(missing_ok=True)
        command, environment = self.command(
            plain, f"@{wanted}", *(["--collect-only"] if collect else [])
        )
        environment |= {reached_plugin.FAILED: str(told), reached_plugin.LIMIT: str(LONGEST)}
        code = ended(command, self.folder, environment, limit)
        if code is None:
            return ""
        if code in (0, 5):
            return None
        return (
            told.read_text(encoding="utf-8").split("\n")[0] if told.exists() else f"{ENDED}{code}"
        )

    def passes(self, test: str, plain: bool) -> bool:
        """Whether a test, or a file of them that cannot be read, passes in this copy without any change; a process that died does."""
        if not test.startswith("tests/"):
            return True
        if (test, plain) not in self.fit:
            self.fit[test, plain] = (
                self.failed([test], plain, 300.0, collect="::" not in test) is None
            )
        return self.fit[test, plain]

    @cached_property
    def calls(self) -> Program:
        """The sequences of calls without sanitizers: what breaks their expectations does so with them, later."""
        return built(self.folder / "calls", QUICK)

    def played(self, name: str, changed: bytes) -> str:
        """What goes wrong in the sequences that the tests play; one source is compiled for that."""
        folder = self.calls.folder
        source = folder / Path(name).name
        try:
            for content, play in ((changed, True), ((self.folder / name).read_bytes(), False)):
                source.write_bytes(content)
                compiled(folder, source, QUICK)
                if play:
                    linked(folder, QUICK)
                    broken = [
                        name
                        for name in self.calls.places
                        if self.calls.played(
                            name, "run", 20, 0, 120, folder / "progress", limit=200.0
                        )[0]
                    ]
        except subprocess.TimeoutExpired:
            return "sequences of calls that do not end"
        return f"sequences of calls: {broken[0]}" if broken else ""

    def compiled(self, name: str, changed: bytes) -> str:
        """'invalid' when it does not compile, 'same' when the compiler makes the same code of it."""
        from kinetree.fmu.native import shell
        from kinetree.solvers.library.c_compiler import LibraryError, compiler, run

        codes = []
        (self.folder / "unit_layout.h").write_text(shell.layout_header())
        for content in ((self.folder / name).read_bytes(), changed):
            source, code = self.folder / "mutant.c", self.folder / "mutant.o"
            source.write_bytes(content)
            define = [f"-DKINETREE_{level}" for level in ("BASE", "V3", "V4")]
            try:
                includes = [f"-I{self.folder}", f"-I{shell.HERE}", f"-I{shell.fmi_headers()}"]
                run(
                    [
                        *compiler(),
                        *shell.FLAGS,
                        "-w",
                        *define,
                        *includes,
                        "-c",
                        str(source),
                        "-o",
                        str(code),
                    ]
                )
            except LibraryError:
                return "invalid"
            codes.append(code.read_bytes())
        return "same" if codes[0] == codes[1] else ""
