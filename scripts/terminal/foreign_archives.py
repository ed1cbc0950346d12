"""Safe unpacking of archives from other sources: paths that lead out of the folder, archive bombs
and broken archives are refused.
"""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from kinetree.scripts.terminal.error_messages import BadInput

LARGEST = 2_000_000_000  # bytes of all files together
STRETCH = 200  # unpacked bytes per packed one, of an archive above ALWAYS_UNPACKED
ALWAYS_UNPACKED = 50_000_000  # bytes that are unpacked whatever they were packed from
MOST_FILES = 10_000
LONGEST_NAME = 200  # characters of a part of a path: file systems allow 255 bytes


def unpacked(path: Path, folder: Path, kind: str) -> Path:
    """Unpack an archive into a folder and return the folder; `kind` names the format (FMU, SSP) in
    messages.
    """
    try:
        with ZipFile(path) as archive:
            members = archive.infolist()
            check_members(path, members)
            for member in members:
                take_out(archive, member, folder)
    except (
        BadZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        zlib.error,
        UnicodeError,
    ) as error:
        raise BadInput(f"{path} is not {kind} that can be read: {error}") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be unpacked: {error.strerror or error}") from error
    return folder


def check_archive(path: Path) -> None:
    """Raise BadInput for an archive that is unsafe to unpack."""
    with ZipFile(path) as archive:
        check_members(path, archive.infolist())


def check_members(path: Path, members: list[ZipInfo]) -> None:
    """Raise BadInput for member paths that lead out of the folder, and for implausible sizes."""
    if len(members) > MOST_FILES:
        raise BadInput(f"{path}: {len(members)} files, expected at most {MOST_FILES}")
    for member in members:
        name = member.filename
        if not stays(name):
            raise BadInput(f"{path}: the archive holds '{name[:100]}', which leads out of it")
        if any(len(part) > LONGEST_NAME for part in PurePosixPath(name).parts):
            raise BadInput(
                f"{path}: the name '{name[:60]}...' has a part of more than {LONGEST_NAME} characters"
            )
        if member.external_attr >> 28 == 0o12:
            raise BadInput(f"{path}: '{name[:100]}' is a link")
    packed, unpacked = (
        sum(getattr(member, key) for member in members) for key in ("compress_size", "file_size")
    )
    if unpacked > LARGEST or unpacked > max(ALWAYS_UNPACKED, STRETCH * packed):
        raise BadInput(
            f"{path}: {packed} bytes would become {unpacked}; an archive like this is not unpacked"
        )


def take_out(archive: ZipFile, member: ZipInfo, folder: Path) -> None:
    """Extract one file, at most as large as its declared size."""
    target = folder / member.filename
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)


def stays(name: str) -> bool:
    """Return whether a path stays inside its folder on every operating system."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    return (
        bool(name)
        and not posix.is_absolute()
        and not windows.drive
        and not windows.root
        and ".." not in windows.parts
        and "\0" not in name
    )
