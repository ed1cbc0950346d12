"""Links the specialised code of a mechanism into native FMU binaries."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from kinetree.fmu.native.binaries import Binaries, silent
from kinetree.fmu.native.shell import link
from kinetree.fmu.variables import FmuError
from kinetree.models.specialised.llvm_compiler import object_code
from kinetree.models.specialised.specialised_rates import Motion, llvm_text
from kinetree.solvers.library.build import objects_for
from kinetree.solvers.library.c_compiler import LibraryError
from kinetree.solvers.library.platforms import Platform, levels_for
from kinetree.solvers.library.processor_levels import suffix_of


@contextmanager
def specialised(
    motions: Sequence[Motion | str],
    token: str,
    platforms: Iterable[Platform],
    say: Callable[[str], None] = silent,
) -> Iterator[Binaries]:
    """Context manager that yields, from a temporary folder, binaries with the specialised code of a
    model.
    """
    with tempfile.TemporaryDirectory(prefix="kinetree") as scratch:
        try:
            yield {
                target: linked(motions, token, target, Path(scratch), say) for target in platforms
            }
        except LibraryError as error:
            raise FmuError(f"the specialised binary cannot be built: {error}") from error


def linked(
    motions: Sequence[Motion | str],
    token: str,
    target: Platform,
    scratch: Path,
    say: Callable[[str], None],
) -> Path:
    """Return the binary with specialised code for one platform."""
    folder = scratch / target.name
    folder.mkdir()
    say(f"compiling and linking the equations for {target.name}")
    own = []
    for level in levels_for(target):
        own.append(folder / f"own-{level}.o")
        own[-1].write_bytes(
            object_code(llvm_text(motions, suffix_of(level), table=True), target.triple, level)
        )
    binary = folder / f"engine{target.extension}"
    link(
        binary,
        [*objects_for(target, say), *own],
        target,
        levels_for(target),
        ["-DKINETREE_OWN", f'-DKINETREE_OWN_OF="{token}"'],
    )
    return binary
