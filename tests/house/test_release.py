"""The checklist of a release, in a small repository of its own."""

import subprocess
from pathlib import Path

import pytest

from kinetree.scripts.developer import release

CHANGELOG = (
    "# Changes\n\n## 0.2.0 (unreleased)\n\n### Added\n- Flexible beams.\n\n## 0.1.0\n- First.\n"
)


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed tree with version 0.1.0, whose steps succeed unless a test says otherwise."""
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.1.0"\n')
    (tmp_path / release.RECIPE).parent.mkdir(parents=True)
    (tmp_path / release.RECIPE).write_text('package:\n  version: "0.1.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(CHANGELOG)
    monkeypatch.setattr(release, "ROOT", tmp_path)
    monkeypatch.setattr(release, "STEPS", ())
    release.git("init", "--quiet", "--initial-branch", "main")
    for key, value in (("user.name", "Tester"), ("user.email", "tester@example.org")):
        release.git("config", key, value)
    release.git("add", ".")
    release.git("commit", "--quiet", "--message", "Start")
    return tmp_path


def test_release_writes_version_and_date_and_tags(repository: Path):
    assert release.main(["0.2.0"]) == 0
    assert 'version = "0.2.0"' in (repository / "pyproject.toml").read_text()
    assert 'version: "0.2.0"' in (repository / release.RECIPE).read_text()
    changelog = (repository / "CHANGELOG.md").read_text()
    assert "(unreleased)" not in changelog and "## 0.2.0 - 20" in changelog
    assert release.git("tag", "--list") == "v0.2.0"
    assert release.git("status", "--porcelain") == ""


def test_release_check_changes_no_files(repository: Path):
    head = release.git("rev-parse", "HEAD")
    assert release.main(["0.2.0", "--check"]) == 0
    assert release.git("rev-parse", "HEAD") == head and release.git("tag", "--list") == ""


@pytest.mark.parametrize(("day", "status"), [("2026-01-01", 1), ("2026-01-02", 0)])
def test_table_of_hosts_is_newer_than_the_last_release(repository: Path, day: str, status: int):
    (repository / "CHANGELOG.md").write_text(f"{CHANGELOG}\n## 0.0.9 - 2026-01-01\n- Zeroth.\n")
    (repository / release.HOSTS).parent.mkdir(parents=True)
    (repository / release.HOSTS).write_text(f'{{"pendulum": {{"day": "{day}", "cells": {{}}}}}}')
    release.git("add", ".")
    release.git("commit", "--quiet", "--message", "A table")
    assert release.main(["0.2.0", "--check"]) == status


def test_failed_release_step_restores_files(repository: Path, monkeypatch: pytest.MonkeyPatch):
    (repository / "scripts").mkdir()
    (repository / "scripts" / "dev.py").write_text("raise SystemExit(3)\n")
    release.git("add", ".")
    release.git("commit", "--quiet", "--message", "A step that fails")
    monkeypatch.setattr(release, "STEPS", ("test",))
    assert release.main(["0.2.0"]) == 1
    assert release.git("status", "--porcelain") == "" and release.git("tag", "--list") == ""


@pytest.mark.parametrize(
    ("version", "wrong"),
    [("two", "two"), ("0.1.0", "not later"), ("0.3.0", "CHANGELOG.md")],
    ids=["no numbers", "not later", "no section"],
)
def test_invalid_release_versions_are_refused(
    repository: Path, capsys: pytest.CaptureFixture, version: str, wrong: str
):
    assert release.main([version]) == 1
    assert wrong in capsys.readouterr().err


@pytest.mark.parametrize(
    "prepare",
    [
        lambda tree: (tree / "new.txt").write_text("not committed"),
        lambda tree: release.git("checkout", "--quiet", "-b", "other"),
        lambda tree: release.git("tag", "v0.2.0"),
        lambda tree: subprocess.run(
            "sed -i 's/Flexible beams/'$(printf 'x%.0s' $(seq 200))'/' CHANGELOG.md"
            " && git commit --quiet --all --message long",
            shell=True,
            check=True,
            cwd=tree,
        ),
    ],
    ids=["changes", "branch", "tag", "long bullet"],
)
def test_release_of_unready_repository_is_refused(repository: Path, prepare):
    prepare(repository)
    assert release.main(["0.2.0"]) == 1
    assert 'version = "0.1.0"' in (repository / "pyproject.toml").read_text()
