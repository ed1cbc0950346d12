"""Safe unpacking of foreign archives: no escaping paths, no decompression bombs."""

from __future__ import annotations

import shutil
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath
from zipfile import BadZipFile, ZipFile, ZipInfo

from kinetree.scripts.ssp.structure import MAIN
from kinetree.scripts.terminal.error_messages import BadInput

LARGEST = 2_000_000_000  # bytes of all files together
STRETCH = 200  # unpacked bytes per packed one, of an archive above SMALL
SMALL = 50_000_000  # bytes that are unpacked whatever they were packed from
MOST_FILES = 10_000
LONGEST_NAME = 200  # characters of a part of a path: file systems allow 255 bytes


def unpack(path: Path, folder: Path) -> Path:
    """Unpack a system structure and return the folder of SystemStructure.ssd."""
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
        raise BadInput(f"{path} is not an SSP archive that can be read: {error}") from error
    except OSError as error:
        raise BadInput(f"{path} cannot be unpacked: {error.strerror or error}") from error
    if not (folder / MAIN).is_file():
        raise BadInput(f"{path} holds no {MAIN}")
    return folder


def check_members(path: Path, members: list[ZipInfo]) -> None:
    """Names that stay inside, and sizes that are believable."""
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
    if unpacked > LARGEST or unpacked > max(SMALL, STRETCH * packed):
        raise BadInput(
            f"{path}: {packed} bytes would become {unpacked}; an archive like this is not unpacked"
        )


def take_out(archive: ZipFile, member: ZipInfo, folder: Path) -> None:
    """Extract one file, at most as large as declared."""
    target = folder / member.filename
    if member.is_dir():
        target.mkdir(parents=True, exist_ok=True)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with archive.open(member) as source, target.open("wb") as sink:
        shutil.copyfileobj(source, sink)


def stays(name: str) -> bool:
    """Return whether a path stays below its folder on every system."""
    posix, windows = PurePosixPath(name), PureWindowsPath(name)
    return (
        bool(name)
        and not posix.is_absolute()
        and not windows.drive
        and not windows.root
        and ".." not in windows.parts
        and "\0" not in name
    )


def is_inside(folder: Path, source: str) -> bool:
    """Return whether a source is a file below the folder: no URL, absolute path or link out of it."""
    if not stays(source) or "://" in source or source.startswith(("#", "file:")):
        return False
    return (folder / source).resolve().is_relative_to(folder.resolve())
