"""Where compiled code is kept: the user's own folder, or a temporary one; nothing damaged is loaded or packed."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from stub_unit import stub_shell

from kinetree.fmu.native.shell import linked
from kinetree.models import load
from kinetree.solvers import cache
from kinetree.solvers.cache import cache_root, usable
from kinetree.solvers.library import c_compiler, verified_files
from kinetree.solvers.library.c_compiler import LibraryError, compiler, cross_compiler, has_zig, run
from kinetree.solvers.library.load import load_library
from kinetree.solvers.library.processor_levels import level
from kinetree.solvers.library.verified_files import (
    library_folder,
    library_path,
    seal,
    sound,
    written,
)

posix = pytest.mark.skipif(
    os.name != "posix", reason="owners and modes of files are those of POSIX"
)


def test_unusable_cache_folder_is_replaced_and_named(tmp_path, monkeypatch, capsys):
    """It ended every command."""
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    root = cache_root()
    assert root.is_dir() and root.parent == tmp_path
    said = capsys.readouterr().err
    assert (
        "KINETREE_CACHE" in said and str(tmp_path / "file" / "cache") in said and str(root) in said
    )
    assert cache_root() == root and capsys.readouterr().err == ""  # said once


@posix
def test_cache_folder_is_private_to_the_user(tmp_path, monkeypatch):
    """Whoever could write into it could plant code that others run."""
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "new"))
    assert stat.S_IMODE(cache_root().stat().st_mode) & 0o022 == 0
    loose = tmp_path / "loose"
    loose.mkdir()
    loose.chmod(0o777)
    monkeypatch.setattr(cache, "default_root", lambda: loose)
    assert usable(loose) == loose
    assert stat.S_IMODE(loose.stat().st_mode) & 0o022 == 0


@posix
@pytest.mark.parametrize("mode", [0o777, 0o775, 0o1777])
def test_cache_folder_writable_by_others_is_not_used(tmp_path, monkeypatch, capsys, mode):
    """It was made for something else: another one serves, and its own mode stays."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    shared = tmp_path / f"shared{mode:o}"
    shared.mkdir()
    shared.chmod(mode)
    assert usable(shared) != shared and stat.S_IMODE(shared.stat().st_mode) == mode
    assert list(shared.iterdir()) == []
    said = capsys.readouterr().err
    assert str(shared) in said and "others may write" in said


@posix
def test_cache_folder_of_another_user_is_not_used(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("os.getuid", lambda: os.stat(tmp_path).st_uid + 4711)
    (tmp_path / "theirs").mkdir()
    if os.stat(tmp_path).st_uid == 0:
        os.chown(tmp_path / "theirs", 12345, -1)
    root = usable(tmp_path / "theirs")
    assert root != tmp_path / "theirs"
    assert "belongs to another user" in capsys.readouterr().err


def test_cached_file_is_valid_only_as_written(tmp_path):
    path = tmp_path / "library.so"
    with written(path) as draft:
        draft.write_bytes(bytes(range(256)) * 8)
    assert sound(path)
    for damage in (lambda b: b[:-1], lambda b: b[:100] + b"x" + b[101:], lambda b: b""):
        content = path.read_bytes()
        path.write_bytes(damage(content))
        os.utime(path, ns=(1, path.stat().st_size))
        assert not sound(path)
        path.write_bytes(content)
        seal(path)
        assert sound(path)
    assert not sound(tmp_path / "nothing")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["library.so", "library.so.sum"]


def test_failed_cache_write_keeps_old_file(tmp_path):
    path = tmp_path / "library.so"
    with written(path) as draft:
        draft.write_bytes(b"good")
    with (
        pytest.raises(LibraryError, match="library.so cannot be written: No space left"),
        written(path) as draft,
    ):
        draft.write_bytes(b"half")
        raise OSError(28, "No space left on device")
    assert sound(path) and path.read_bytes() == b"good"


@pytest.mark.skipif(
    load_library("core") is None, reason="the engine library of the present sources is not built"
)
@pytest.mark.parametrize("size", [0, 1000, -4096])
def test_truncated_engine_is_not_loaded(tmp_path, size):
    """A library cut short ended the process by SIGBUS while it was loaded."""
    folder = tmp_path / "library" / library_folder().name
    folder.mkdir(parents=True)
    for name in (library_path("core", level()).name, f"{library_path('core', level()).name}.sum"):
        shutil.copy(library_folder() / name, folder)
    code = "from kinetree.solvers.library.load import load_library; print(load_library('core'))"
    ask = lambda: subprocess.run(  # noqa: E731
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "KINETREE_CACHE": str(tmp_path)},
    )
    assert "Shared" in ask().stdout
    library = folder / library_path("core", level()).name
    content = library.read_bytes()
    library.write_bytes(content[:size])
    done = ask()
    assert (done.returncode, done.stdout.strip()) == (0, "None"), done.stderr


def test_truncated_shell_is_linked_again():
    """It was packed as it was, and ended its host."""
    whole = stub_shell()
    content = whole.read_bytes()
    whole.write_bytes(content[:5000])
    again = linked([Path(whole).parent / "engine.o"])
    assert again == whole and sound(again) and len(again.read_bytes()) == len(content)


@pytest.mark.skipif(
    load_library("core") is None, reason="the engine library of the present sources is not built"
)
def test_packaged_engine_needs_no_compiler(tmp_path, monkeypatch):
    """A wheel may carry what was built elsewhere: it is taken where the user's cache has nothing, unless it is damaged."""
    name = library_path("core", level()).name
    shipped = tmp_path / "built" / library_folder().name
    shipped.mkdir(parents=True)
    for each in (name, f"{name}.sum"):
        shutil.copy(library_path("core", level()).parent / each, shipped)
    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(verified_files, "SHIPPED", tmp_path / "built")
    monkeypatch.setenv("PATH", "")
    assert library_path("core", level()) == shipped / name and sound(shipped / name)
    load_library.cache_clear()
    assert load_library("core") is not None
    (tmp_path / "short").write_bytes((shipped / name).read_bytes()[:-1])
    (tmp_path / "short").replace(
        shipped / name
    )  # this process has loaded what lay there, and needs it until it ends
    load_library.cache_clear()
    assert load_library("core") is None
    load_library.cache_clear()


@pytest.mark.skipif(
    not sound(library_path("core", level()).with_suffix(".o")),
    reason="there is no object code of the present sources",
)
def test_object_code_is_used_without_linker(tmp_path):
    """Without compiler and zig the engine is object code, which LLVM links in memory; what cannot be loaded ends no process."""
    folder = tmp_path / "library" / library_folder().name
    folder.mkdir(parents=True)
    objects = library_path("core", level()).with_suffix(".o")
    for name in (objects.name, f"{objects.name}.sum"):
        shutil.copy(objects.with_name(name), folder)
    code = (
        "from kinetree.models import load; from kinetree.models.engine.entry_points import kind\n"
        "print(kind(), load('lib:boom').compile().simulate(stop_time=0.1)['luff'][-1])"
    )
    own = {**os.environ, "KINETREE_CACHE": str(tmp_path), "PATH": "", "KINETREE_ENGINE": ""}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=own)
    expected = load("lib:boom").compile().simulate(stop_time=0.1)["luff"][-1]
    assert done.stdout.split() == ["library", repr(float(expected))], done.stderr
    assert done.stderr == "", "nothing was built"
    with written(folder / objects.name) as draft:
        draft.write_bytes(b"no object code")
    code = "from kinetree.solvers.library.load import load_library; print(load_library('core'))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=own)
    assert (done.returncode, done.stdout.strip()) == (0, "None"), done.stderr


def test_failed_linking_falls_back_to_object_code(tmp_path, monkeypatch):
    """A compiler without its headers and libraries is as good as none."""
    from kinetree.solvers.library import build, compile_ahead

    monkeypatch.setenv("KINETREE_CACHE", str(tmp_path))
    monkeypatch.setattr(build, "make_code", lambda library: b"")
    monkeypatch.setattr(compile_ahead, "emit", lambda code, draft, *rest: draft.write_bytes(b"o"))
    monkeypatch.setattr(build, "compiler", lambda: [sys.executable, "-c", "raise SystemExit(1)"])
    build.make_library("core")
    path = library_path("core", level())
    assert not path.exists() and sound(path.with_suffix(".o"))

    def none() -> list[str]:
        raise LibraryError("no C compiler found")

    assert not build.ready("core")
    monkeypatch.setattr(build, "compiler", none)
    assert build.ready("core") and build.linker() is None


def test_missing_compiler_error_names_a_remedy(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CC", raising=False)
    assert compiler()[1:3] == ["-m", "ziglang"] if has_zig() else True
    monkeypatch.setattr(c_compiler, "has_zig", lambda: False)
    with pytest.raises(LibraryError, match="pip install ziglang"):
        compiler()
    with pytest.raises(LibraryError, match="pip install ziglang"):
        cross_compiler("x86_64-windows-gnu")


@pytest.mark.slow
def test_zig_and_system_compiler_build_equal_functions(tmp_path, monkeypatch):
    """The only linker that is ever needed comes from pip."""
    if not has_zig():
        pytest.skip("zig is not installed: pip install ziglang")
    monkeypatch.setattr(c_compiler.shutil, "which", lambda name: None)
    (tmp_path / "x.c").write_text("double twice(double x) { return 2 * x; }")
    run([*compiler(), "-shared", "-fPIC", str(tmp_path / "x.c"), "-o", str(tmp_path / "x.so")])
    twice = ctypes.CDLL(str(tmp_path / "x.so")).twice
    twice.restype, twice.argtypes = ctypes.c_double, [ctypes.c_double]
    assert twice(1.5) == 3.0


def test_cached_code_is_loaded_without_numba(tmp_path):
    """numba tells LLVM of this machine when it is imported; code from the cache is emitted by a process that never imports it."""
    code = """
import llvmlite.binding as llvm
from kinetree.solvers.library import build
from kinetree.solvers.library.platforms import this_platform
text = 'define double @kt_x(double %a) { ret double %a }'
build.make_code = lambda library: llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"' + chr(10) + text).as_bitcode()
print(build.make_object('core', this_platform().name, this_platform().levels[0]).stat().st_size > 100)
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "KINETREE_CACHE": str(tmp_path)},
    )
    assert done.stdout.strip() == "True", done.stderr
