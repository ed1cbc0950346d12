"""Printing of errors by the command line: readable lines without a traceback."""

import errno
import sys

DISK_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO)


class BadInput(Exception):
    """Unusable input by the user; the message names it and what was expected."""


def report(error: BaseException) -> None:
    """Print one line per problem; unexpected errors are named by their type."""
    text = str(error).strip()
    if isinstance(error, FileNotFoundError) and error.filename:
        text = f"no such file: {error.filename}"
    elif isinstance(error, OSError) and error.errno in DISK_ERRORS:
        text = f"{error.filename or 'a file'} cannot be written: {error.strerror}"
    elif isinstance(error, OSError) and error.filename:
        text = f"{error.filename}: {error.strerror}"
    elif not text:
        text = type(error).__name__
    elif type(error) in (
        KeyError,
        IndexError,
        AttributeError,
        TypeError,
        ZeroDivisionError,
        AssertionError,
        RecursionError,
    ):
        text = f"{type(error).__name__}: {text} (a defect of Kinetree; --debug shows where)"
    for line in text.splitlines():
        print(
            f"kinetree: {line.removesuffix('; ').removesuffix(';')}", file=sys.stderr
        )  # behind which a suggestion would stand


def exit_code(error: BaseException) -> int:
    """Return 2 for bad input, 1 for a failure while running."""
    from kinetree.models.language.errors import ModelError
    from kinetree.solvers.layout import Status

    unusable = (BadInput, ModelError, ValueError, FileNotFoundError, IsADirectoryError)
    slides = getattr(error, "status", None) == Status.SLIDING  # the law has to be written otherwise
    return 2 if slides or isinstance(error, unusable) else 1
