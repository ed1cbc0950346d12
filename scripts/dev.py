#!/usr/bin/env python3
"""Developer's commands: set up, demonstrate, test. Needs a bare Python 3.11 or newer and the package registry, nothing else.

python3 scripts/dev.py demo       install what it needs, run the product's main job
python3 scripts/dev.py setup      make .venv and install everything
python3 scripts/dev.py test       set up if needed, lint, check types, run the fast tests (--all: the slow ones too)
python3 scripts/dev.py --help     what else there is
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
STAMP = VENV / "kinetree-setup.stamp"
EVERYTHING = "plots,tables,view,films,studio,control,studies,cluster,optimize,learning,docs,peers,cad,flexible,modelica,robots,cross,dev"
LITTLE = "plots,view"  # what the demonstration needs
SIZES = {  # MB that are downloaded and that lie in .venv afterwards, measured on Linux with Python 3.11
    LITTLE: (215, 790),
    EVERYTHING: (1100, 3900),
}
TOP = "scripts/kinetree"  # what `import kinetree` finds; the rooms under their names beside it
FOLDERS = {"solvers": "solvers", "models": "models", "fmu": "fmu_src", "scripts": "scripts"}
OLDEST = (3, 11)


class Failure(Exception):
    """A problem that the developer must solve, as one line of text."""


def fingerprint(extras: str = EVERYTHING) -> str:
    """Return a hash of what determines the installation: its input files and the Python version."""
    digest = hashlib.sha256(f"{sys.version_info[:2]} {ROOT} {extras}".encode())
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def installed(extras: str = EVERYTHING) -> bool:
    """Return whether the environment has the given extras."""
    keys = {fingerprint(extras), fingerprint()}
    return STAMP.exists() and STAMP.read_text() in keys and program("python").exists()


def program(name: str) -> Path:
    return BIN / (name + (".exe" if os.name == "nt" else ""))


ENGINE: list[str | Path] = [program("python"), "-m", "kinetree.solvers.library", "build"]


def quietly(title: str, command: list[str | Path], required: bool = True) -> bool:
    """Run a program with its output in a log and a progress line; on failure print the end of the
    log.
    """
    log = VENV / "setup.log"
    return follow(title, begin(command, log), log, required)


def begin(command: list[str | Path], log: Path) -> subprocess.Popen:
    """Start a program whose output goes to a log."""
    with open(log, "wb") as stream:
        return subprocess.Popen(
            [str(part) for part in command], cwd=ROOT, stdout=stream, stderr=subprocess.STDOUT
        )


def follow(title: str, process: subprocess.Popen, log: Path, required: bool = True) -> bool:
    """Wait for a program and print the time it took."""
    live = sys.stdout.isatty()
    start = said = time.monotonic()
    print(f"{title} ...", end="" if live else "\n", flush=True)
    while process.poll() is None:
        time.sleep(0.2)
        now = time.monotonic()
        if now - said > (1 if live else 30):
            said = now
            text = f"{title} ... {now - start:.0f} s"
            print(f"\r{text}" if live else text, end="" if live else "\n", flush=True)
    seconds = time.monotonic() - start
    print(f"\r{title}: " if live else f"{title}: ", end="")
    print(f"done in {seconds:.1f} s" if process.returncode == 0 else "failed")
    if process.returncode and required:
        tail = log.read_text(errors="replace").splitlines()[-20:]
        raise Failure("\n".join([*tail, f"'{title}' failed; the whole output is in {log}"]))
    return process.returncode == 0


def make_environment(extras: str = EVERYTHING) -> None:
    """Create the virtual environment with the project in editable mode.

    What the engine needs is installed first, so that it is compiled while the rest is downloaded.
    """
    try:
        import ensurepip  # noqa: F401
        import venv
    except ImportError:
        version = f"{sys.version_info[0]}.{sys.version_info[1]}"
        raise Failure(
            f"Python's venv module is missing: install it with 'apt-get install python{version}-venv'"
        ) from None
    if not program("python").exists():
        venv.create(VENV, with_pip=True)
    if subprocess.run(
        [str(program("python")), "-m", "pip", "--version"], capture_output=True
    ).returncode:
        raise Failure(
            f"{VENV} is not a usable environment: delete it and run 'python3 scripts/dev.py setup' again"
        )
    STAMP.unlink(missing_ok=True)
    down, there = SIZES[extras]
    print(f"To be downloaded: about {down} MB, of which {there} MB become in {VENV.name}")
    pip = [
        program("python"),
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        "--constraint",
        ROOT / "constraints.txt",
    ]
    quietly("Installing the packaging tools", [*pip, "pip", "setuptools"])
    own = [*pip, "--no-build-isolation", "--editable"]
    quietly("Installing Kinetree", [*own, ROOT])
    link_for_types()
    log = VENV / "engine.log"
    engine = begin(ENGINE, log)
    try:
        title = (
            "Installing what the demonstration uses" if extras == LITTLE else "Installing the rest"
        )
        quietly(title, [*own, f"{ROOT}[{extras}]"])
    except BaseException:
        engine.terminate()
        raise
    follow("Engine library", engine, log, required=False)
    STAMP.write_text(fingerprint(extras))


def link_for_types() -> None:
    """Create links under the import names of the packages for type checkers."""
    folder = ROOT / "build" / "types" / "kinetree"
    folder.mkdir(parents=True, exist_ok=True)
    names = {path.name: f"{TOP}/{path.name}" for path in (ROOT / TOP).glob("*.py*")} | FOLDERS
    for name, target in names.items():
        link = folder / name
        if not link.exists():
            try:
                link.symlink_to(ROOT / target, target_is_directory=name in FOLDERS)
            except OSError as error:
                print(f"No link {link} ({error}): the type check will know less")


def check_compiler() -> None:
    if not any(
        shutil.which(name)
        for name in filter(None, (os.environ.get("CC"), "cc", "gcc", "clang", "cl"))
    ):
        hint = (
            "xcode-select --install"
            if sys.platform == "darwin"
            else "apt-get install gcc libc6-dev"
        )
        print(
            f"A C compiler is missing, which native FMUs need (the engine does without): install it with '{hint}'"
        )


def install_tbb() -> None:
    """Install libtbb12, which one of the FMI hosts in the tests needs, if possible."""
    known = (
        subprocess.run(["ldconfig", "-p"], capture_output=True, text=True).stdout
        if shutil.which("ldconfig")
        else ""
    )
    if "libtbb.so.12" not in known:
        install_packages(["libtbb12"])


def install_packages(names: list[str]) -> bool:
    """Install Debian packages if the user may; return whether that succeeded."""
    if not sys.platform.startswith("linux") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return False
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *names]
    for command in (install, ["apt-get", "update", "-qq"], install):
        try:
            finished = subprocess.run(command, env=environment, capture_output=True, timeout=600)
        except (OSError, subprocess.TimeoutExpired):
            return False
        if finished.returncode == 0 and "install" in command:
            return True
    return False


FOREIGN = {
    "wine64": ("wine64", "wine"),
    "qemu-user-static": ("qemu-aarch64-static",),
    "libc6-arm64-cross": (),
}


def wheel(options: argparse.Namespace) -> int:
    """Build wheel and sdist in dist/, and try the wheel in an empty environment without a
    compiler.
    """
    setup()
    return run(
        program("python"), "-m", "kinetree.scripts.developer.distribution", "build", "installed"
    )


def dependencies(options: argparse.Namespace) -> int:
    """Test the wheel with the oldest allowed dependencies and with the newest Python."""
    return wheel(options) or run(
        program("python"), "-m", "kinetree.scripts.developer.distribution", "oldest", "newest"
    )


def platforms(options: argparse.Namespace) -> int:
    """Run the tests of other platforms under Wine and QEMU; those that cannot be installed are
    skipped.
    """
    setup()
    there = {"libc6-arm64-cross": Path("/usr/aarch64-linux-gnu").exists()}
    wanted = [
        name
        for name, programs in FOREIGN.items()
        if not there.get(name, any(map(shutil.which, programs)))
    ]
    if wanted and not install_packages(wanted):
        print(
            f"Not installed, so its platform is skipped: {', '.join(wanted)} (apt-get install {' '.join(wanted)}, as root)"
        )
    return run(
        program("python"),
        "-m",
        "pytest",
        "-q",
        "-m",
        "platforms",
        "-rs",
        "tests/fmu",
        *options.rest,
    )


def install_browser() -> None:
    """Install Chromium for tests of HTML pages, if possible."""
    if not shutil.which("chromium"):
        install_packages(["chromium"])


def build_engine() -> None:
    """Compile the engine library, once per state of the sources."""
    quietly("Engine library", ENGINE, required=False)


def setup(options: argparse.Namespace | None = None, extras: str = EVERYTHING) -> int:
    if not installed(extras):
        check_compiler()
        make_environment(extras)
        if extras == EVERYTHING:
            install_tbb()
            install_browser()
    else:
        build_engine()
    if options is not None:  # asked for by itself
        print(
            f"Ready. '{'' if os.name == 'nt' else '. '}{BIN.relative_to(ROOT) / 'activate'}' puts kinetree on this terminal's path"
        )
    return 0


def run(*command: str | Path) -> int:
    return subprocess.run(command, cwd=ROOT).returncode


def lint(options: argparse.Namespace) -> int:
    if not installed():
        setup()
    link_for_types()
    failed = [name for name, command in CHECKS.items() if run(program(command[0]), *command[1:])]
    if failed:
        print(f"Not clean: {', '.join(failed)}")
    return 1 if failed else 0


CHECKS = {
    "lint": ["ruff", "check", "--quiet", "."],
    "format": ["ruff", "format", "--check", "--quiet", "."],
    "types": ["pyright", "--level", "error"],
}


def fix(options: argparse.Namespace) -> int:
    if not installed():
        setup()
    return run(program("ruff"), "check", "--fix", ".") or run(program("ruff"), "format", ".")


def test(options: argparse.Namespace) -> int:
    setup()
    lint_status = lint(options)
    select = ["-m", "not platforms" if options.all else "not slow and not platforms"]
    workers = (
        []
        if "-n" in options.rest
        else ["-n", str(min(os.cpu_count() or 1, 8)), "--dist", "loadfile"]
    )
    return (
        run(program("python"), "-m", "pytest", "-q", *select, *workers, *options.rest)
        or lint_status
    )


def demo(options: argparse.Namespace) -> int:
    setup(extras=LITTLE)
    return run(program("python"), "-m", "kinetree.scripts.developer.demo")


def bench(options: argparse.Namespace) -> int:
    setup()
    return run(program("kinetree"), "bench", *options.rest)


def docs(options: argparse.Namespace) -> int:
    setup()
    return run(program("python"), "-m", "kinetree.scripts.site", *options.rest)


def release(options: argparse.Namespace) -> int:
    """Run the checklist of a release, which ends with a commit and a tag."""
    setup()
    return run(program("python"), "-m", "kinetree.scripts.developer.release", *options.rest)


def with_tests(*path: str, rest: list[str]) -> int:
    """Run a tool that is stored among the tests."""
    setup()
    rooms = ("support", "mutation", "reached", "fuzz", "fuzz/calls", "fuzz/motions")
    os.environ["PYTHONPATH"] = os.pathsep.join(str(ROOT / "tests" / room) for room in rooms)
    return run(program("python"), ROOT.joinpath("tests", *path), *rest)


def mutants(options: argparse.Namespace) -> int:
    return with_tests("mutation", "mutants.py", rest=options.rest)


def fuzz(options: argparse.Namespace) -> int:
    return with_tests("fuzz", "fuzz.py", rest=options.rest)


def coverage(options: argparse.Namespace) -> int:
    tool = "shell_lines.py" if "--c" in options.rest else "python_lines.py"
    return with_tests(
        "reached", tool, rest=[argument for argument in options.rest if argument != "--c"]
    )


COMMANDS = {
    "demo": (demo, "install what it needs; run the product's main job, ending with a report"),
    "setup": (setup, "make .venv and install everything"),
    "test": (test, "lint, check types and run the tests; further arguments go to pytest"),
    "platforms": (platforms, "run the FMUs' binaries of every platform, under Wine and QEMU"),
    "wheel": (
        wheel,
        "make a wheel that carries the engine for all platforms and the sdist; try the wheel without a compiler",
    ),
    "dependencies": (
        dependencies,
        "the same, then the oldest dependencies and the newest Python (long)",
    ),
    "docs": (
        docs,
        "build the documentation as a site in out/site; --renew runs the tutorials for their pictures",
    ),
    "release": (
        release,
        "VERSION: check changelog and tree, test, build wheel, sdist and site, commit, tag; --check: only check",
    ),
    "lint": (lint, "ruff and pyright only"),
    "fix": (fix, "let ruff repair and format"),
    "mutants": (
        mutants,
        "small wrong changes made on purpose: which do the tests see? Arguments go to the tool",
    ),
    "coverage": (
        coverage,
        "lines that the fast tests reach, at least 97 %%; which none reaches: --missed; --c: lines and branches of the C shell",
    ),
    "fuzz": (fuzz, "all fuzzers for a while: --minutes N, --kinds"),
    "bench": (bench, "the same as 'kinetree bench'"),
}
TOOLS = (
    "docs",
    "release",
    "mutants",
    "coverage",
    "fuzz",
    "bench",
)  # have arguments, and a help, of their own


def main() -> int:
    if sys.version_info < OLDEST:
        print(
            f"Kinetree needs Python 3.11 or newer; this is {sys.version.split()[0]} ({sys.executable})",
            file=sys.stderr,
        )
        return 2
    parser = argparse.ArgumentParser(prog="dev.py", description=str(__doc__).splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    subs = {
        name: commands.add_parser(name, help=text, add_help=name not in TOOLS)
        for name, (_, text) in COMMANDS.items()
    }
    subs["test"].add_argument("--all", action="store_true", help="run the slow tests too")
    options, options_rest = parser.parse_known_args()
    options.rest = options_rest
    if options_rest and options.command not in (*TOOLS, "test", "platforms"):
        parser.error(f"unknown arguments: {' '.join(options_rest)}")
    try:
        return COMMANDS[options.command][0](options)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return 130


if __name__ == "__main__":
    sys.exit(main())
