"""Links the specialised code of a mechanism into native FMU binaries."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from kinetree.fmu.native.binaries import Binaries, silent
from kinetree.fmu.native.shell import link
from kinetree.fmu.unit import FmuUnit
from kinetree.fmu.variables import FmuError
from kinetree.models.run.simulation_unit import make_unit
from kinetree.models.specialised.engine_choice import for_archive
from kinetree.models.specialised.llvm_compiler import object_code
from kinetree.models.specialised.specialised_rates import Motion, llvm_text, motions
from kinetree.solvers.library.build import objects_for
from kinetree.solvers.library.c_compiler import LibraryError, compiler
from kinetree.solvers.library.platforms import WEBASSEMBLY, Platform, levels_for
from kinetree.solvers.library.processor_levels import suffix_of


def code_that_pays(
    unit: FmuUnit, token: str, carried: Binaries, say: Callable[[str], None], kept: ExitStack
) -> Binaries:
    """Return binaries with straight-line code of a unit, there as long as `kept` is open, where they
    can be built and neither that nor the archive becomes long; else none, and why is said.
    """
    platforms = [each for each in carried if each != WEBASSEMBLY]
    if unit.chain is not None or unit.description.reduced or not platforms:
        return {}
    good, why = for_archive(unit.compiled, sum(len(levels_for(each)) for each in platforms))
    own: Binaries = {}
    if good:
        try:
            compiler()  # before time goes into tracing
            found = motions(make_unit(unit.system, unit.run.integrator))
            if reasons := [each for each in found if isinstance(each, str)]:
                why = f"the engine for {len(reasons)} of {len(found)} structures: {reasons[0]}"
            if len(reasons) < len(found):
                own = kept.enter_context(specialised(found, token, platforms, say))
        except (FmuError, LibraryError) as error:
            why = f"the engine: {str(error).splitlines()[0]}"
    say(why)
    return own


def code_asked_for(
    unit: FmuUnit, token: str, carried: Binaries, say: Callable[[str], None], kept: ExitStack
) -> Binaries:
    """Return binaries with straight-line code of a traced unit, there as long as `kept` is open;
    none for a linear chain, which has no such code.
    """
    if not unit.motions:
        say("a linear chain steps by matrices: there is nothing to specialise")
        return {}
    for reason in {each for each in unit.motions if isinstance(each, str)}:
        say(f"the general engine stays for some structures: {reason}")
    if WEBASSEMBLY in carried:
        say(f"{WEBASSEMBLY.name}: the general engine stays")
    platforms = [each for each in carried if each != WEBASSEMBLY]
    return kept.enter_context(specialised(unit.motions, token, platforms, say))


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
            made = {
                target: linked(motions, token, target, Path(scratch), say) for target in platforms
            }
        except (LibraryError, OSError, RuntimeError) as error:  # also of LLVM, of the linker
            raise FmuError(f"the specialised binary cannot be built: {error}") from error
        yield made


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
