"""`python -m kinetree.scripts.developer.release VERSION [--check]`: the checklist of a release.

The repository and the changelog are checked first. Then version and date are written; tests, wheel
with source distribution and site must succeed; commit and tag are made last. A failure restores
the files. Standard library only, because `scripts/dev.py` starts it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MAX_BULLET_LENGTH = 160
RECIPE = ".github/conda/meta.yaml"
HOSTS = "scripts/bench/hosts.json"  # the table of hosts: mechanisms with the day of their run
STEPS = ("test", "wheel", "docs")  # commands of dev.py that a release needs
VERSIONS = {  # files with the version, and the line where it stands
    "pyproject.toml": r'^version = "(?P<version>[^"]+)"$',
    RECIPE: r'^  version: "(?P<version>[^"]+)"$',
}


class Failure(Exception):
    """A reason why nothing is released, in one line."""


def version_number(text: str) -> tuple[int, ...]:
    """Return the three numbers of a version X.Y.Z."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", text):
        raise Failure(f"version {text!r}: expected three numbers, as in 0.2.0")
    return tuple(map(int, text.split(".")))


def with_version(text: str, name: str, version: str) -> str:
    """Return the text of a file with its version replaced."""
    found = re.search(VERSIONS[name], text, re.MULTILINE)
    if found is None:
        raise Failure(f"{name}: no line with a version found")
    start, end = found.span("version")
    return text[:start] + version + text[end:]


def section(changelog: str, version: str) -> str:
    """Return the unreleased section of the changelog as the section of a version."""
    found = re.search(
        rf"^## {re.escape(version)} \(unreleased\)\n(.*?)(?=^## |\Z)", changelog, re.M | re.S
    )
    if found is None:
        raise Failure(f"CHANGELOG.md: no section '## {version} (unreleased)'")
    bullets = re.findall(r"^- .*$", found[1], re.MULTILINE)
    if not bullets:
        raise Failure(f"CHANGELOG.md: the section of {version} is empty")
    long = [bullet for bullet in bullets if len(bullet) > MAX_BULLET_LENGTH]
    if long:
        raise Failure(
            f"CHANGELOG.md: {len(long)} bullets have more than {MAX_BULLET_LENGTH} characters, "
            f"the first is {long[0][:60]!r}"
        )
    return found[1]


def prepared_files(version: str, day: str) -> dict[Path, str]:
    """Return the new text of every file that states the version, after checking each."""
    current = re.search(
        VERSIONS["pyproject.toml"], (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.M
    )
    if current and version_number(version) <= version_number(current["version"]):
        raise Failure(f"version {version}: not later than {current['version']}")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    section(changelog, version)
    files = {
        ROOT / name: with_version((ROOT / name).read_text(encoding="utf-8"), name, version)
        for name in VERSIONS
    }
    files[ROOT / "CHANGELOG.md"] = changelog.replace(
        f"## {version} (unreleased)", f"## {version} - {day}"
    )
    return files


def git(*arguments: str) -> str:
    """Return the output of a git command."""
    finished = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True)
    if finished.returncode:
        lines = (finished.stderr or finished.stdout).strip().splitlines() or ["no message"]
        raise Failure(f"git {arguments[0]}: {lines[-1]}")
    return finished.stdout.strip()


def check_repository(version: str) -> None:
    """Check that all changes are committed, that the branch is main, and that the tag does not
    exist.
    """
    if git("status", "--porcelain"):
        raise Failure("the tree has changes that are not committed: commit or stash them first")
    branch = git("rev-parse", "--abbrev-ref", "HEAD")
    if branch != "main":
        raise Failure(f"this is branch {branch}: releases are made from main")
    if git("tag", "--list", f"v{version}"):
        raise Failure(f"tag v{version} exists already")


def check_hosts_table(changelog: str) -> None:
    """Check that every row of the table of hosts was run after the last release."""
    path = ROOT / HOSTS
    released = re.findall(r"^## \S+ - (\d{4}-\d\d-\d\d)$", changelog, re.MULTILINE)
    if not path.is_file() or not released:
        return
    rows = json.loads(path.read_text(encoding="utf-8"))
    old = [name for name, row in rows.items() if row["day"] <= max(released)]
    if old:
        raise Failure(
            f"{HOSTS}: {len(old)} rows are not later than the release of {max(released)}: "
            f"kinetree bench hosts {','.join(old)} --json {HOSTS}"
        )


def run_step(name: str) -> None:
    """Run one command of dev.py and print the time it takes."""
    print(f"{name} ...", flush=True)
    start = time.monotonic()
    if subprocess.run([sys.executable, "scripts/dev.py", name], cwd=ROOT).returncode:
        raise Failure(f"{name}: failed, see above; nothing is released")
    print(f"{name}: OK in {time.monotonic() - start:.0f} s", flush=True)


def release(version: str, check: bool) -> None:
    """Check the repository; unless `check` is set, write the version, run the steps, commit and
    tag.
    """
    version_number(version)
    files = prepared_files(version, date.today().isoformat())
    check_repository(version)
    check_hosts_table((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    print(f"Repository and changelog are ready for {version}")
    if check:
        return
    earlier = {path: path.read_text(encoding="utf-8") for path in files}
    try:
        for path, text in files.items():
            path.write_text(text, encoding="utf-8")
        for name in STEPS:
            run_step(name)
    except BaseException:
        for path, text in earlier.items():
            path.write_text(text, encoding="utf-8")
        raise
    git("commit", "--quiet", "--message", f"Release {version}", "--", *map(str, files))
    git("tag", "--annotate", f"v{version}", "--message", f"Kinetree {version}")
    print(f"Released {version}. Publish it with 'git push --follow-tags'; the files are in dist/")


def main(arguments: Sequence[str] | None = None) -> int:
    """Release a version; print the reason and return 1 where that is impossible."""
    parser = argparse.ArgumentParser(prog="dev.py release", description="Release a version.")
    parser.add_argument("version", help="version X.Y.Z")
    parser.add_argument("--check", action="store_true", help="only check whether it is ready")
    options = parser.parse_args(arguments)
    try:
        release(options.version, options.check)
    except Failure as failure:
        print(failure, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
