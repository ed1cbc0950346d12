"""Builds an FMU: compiles the mechanism, writes the table of variables, and packs everything into
the archive of the chosen back end.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.fmu.archive.capabilities import NATIVE_2, NATIVE_3, PYTHON_2, PYTHON_3
from kinetree.fmu.archive.container import write_archive
from kinetree.fmu.archive.documentation import index_html
from kinetree.fmu.archive.licences import licences
from kinetree.fmu.archive.payload import payload, token_of
from kinetree.fmu.archive.terminals import FOLDER, terminal_entries
from kinetree.fmu.component.assemble import MANIFEST, component, manifest
from kinetree.fmu.model_description import Facts, write_xml
from kinetree.fmu.names import imported
from kinetree.fmu.native.binaries import Binaries, binaries, place_of, platforms_of, silent
from kinetree.fmu.variables import FmuError, Table, variable_table
from kinetree.models.checks.loader import generated, is_generated, read
from kinetree.models.description.reading.table_files import fill_tables, names_files
from kinetree.models.language.errors import ModelError
from kinetree.solvers.integrate.kinds import FIXED
from kinetree.solvers.library.platforms import PLATFORMS, WEBASSEMBLY, Platform, this_platform

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism

BACKENDS = ("python", "native", "source")
ALIASES = {"pythonfmu": "python"}  # other names of back ends
OFFERED = {
    ("python", 2): PYTHON_2,
    ("python", 3): PYTHON_3,
    ("native", 2): NATIVE_2,
    ("native", 3): NATIVE_3,
}
HERE = Path(__file__).parent
ICON = HERE / "icon.png"


def build_fmu(
    mechanism: Mechanism,
    path: str | Path,
    backend: str = "python",
    fmi: int | str = 2,
    integrator: str = "auto",
    step: float | None = None,
    tolerance: float | None = None,
    platforms: str | Sequence[str] | None = None,
    say: Callable[[str], None] = silent,
    interpreter: str = "",
    plain_names: bool = False,
    specialised: bool | None = False,
) -> Path:
    """Pack a mechanism as an FMU: `backend` python, native or source, each for co-simulation and model exchange in FMI 2.0 or 3.0.

    The back end python has no model exchange in FMI 2.0, because pythonfmu has none.

    Sources are for real-time targets: with integrator auto they step by rk4.

    `platforms`: names, or "all"; what is missing is built, which is said. Left out: this machine's and those that are there.
    `interpreter`: the Python that hosts without one start for an archive of the back end `python`; left out: the first that is found there.
    `plain_names`: no commas in names of variables, for hosts whose tables are separated by commas: der(x,2) is called der(der(x)).
    `specialised`: co-simulation runs by straight-line code of this mechanism, compiled and linked
    now (native; sources always carry it); None: where it is judged to pay
    (`own_code.code_that_pays`), which is said.
    """
    from kinetree.fmu.unit import fmu_unit

    backend = backend_of(backend)
    if specialised and backend == "python":
        raise FmuError(
            "straight-line code is for the back ends native and source: take --backend native"
        )
    if backend == "source" and platforms is not None:
        raise FmuError(
            "sources are compiled by the host: --platforms is for the back ends python and native"
        )
    if backend == "source" and integrator == "auto":
        integrator = fixed_integrator(mechanism)
    options: dict[str, Any] = {"integrator": integrator, "step": step, "tolerance": tolerance}
    carried = {} if backend == "source" else binaries_for(Path(path), backend, fmi, platforms, say)
    unit = fmu_unit(
        mechanism, integrator, step, tolerance, bool(specialised) or backend == "source"
    )
    with ExitStack() as kept:
        own: Binaries = {}
        if specialised is not False and backend == "native":
            from kinetree.fmu.native.own_code import code_asked_for, code_that_pays

            make = code_asked_for if specialised else code_that_pays
            own = make(unit, token_of(unit, table_of(unit, plain_names)), carried, say, kept)
        options |= {"output_step": unit.run.output_step}
        options |= {"specialised": True} if own or specialised else {}
        files = model_files(mechanism, options)
        if interpreter and backend == "python":
            files["python.txt"] = interpreter.encode()
        for sentence in [*unit.system.inputs_as_they_are, *renamed_ones(unit)]:
            say(f"warning: {sentence}")
        if backend == "source":
            from kinetree.fmu.source.own_code import work_of

            say(work_of(unit.motions, unit.run.integrator))
        return pack_unit(unit, path, backend, fmi, files, carried | own, plain_names=plain_names)


def pack_unit(
    unit: Any,
    path: str | Path,
    backend: str = "python",
    fmi: int | str = 2,
    files: dict[str, bytes] | None = None,
    carried: Binaries | None = None,
    shell: Path | None = None,
    plain_names: bool = False,
) -> Path:
    """Pack a compiled unit with the binaries in `carried`; `shell`: one binary for this machine
    instead of them.
    """
    path, version, backend = Path(path), int(float(fmi)), backend_of(backend)
    check_request(path, backend, version)
    table = table_of(unit, plain_names)
    token = token_of(unit, table)
    facts = facts_of(unit, token, kinds(backend, version))
    if backend == "source":
        return pack_source(unit, path, version, table, facts, files or {})
    xml = write_xml(table, facts, version)
    content = payload(unit, table, token)
    resources = {"model.kinetree": content, **(files or {})}
    page = index_html(unit, table, notes(unit, backend, version, facts))
    own = this_platform()
    if shell is not None and own is not None:
        carried = {own: shell}
    elif carried is None:
        carried = binaries_for(path, backend, fmi, None)
    if backend == "python":
        pack_slave(
            path, facts.identifier, xml, resources, carried, page, icons(version, table), version
        )
    else:
        named = {
            f"{token.strip('{}')}.kinetree": content
        }  # for hosts that unpack several archives into one folder
        pack_native(
            path,
            facts.identifier,
            xml,
            resources | named,
            carried,
            page,
            icons(version, table),
            version,
        )
    return path


def table_of(unit: Any, plain_names: bool) -> Table:
    """Return the table of variables of an archive; `plain_names` replaces commas in names."""
    table = variable_table(unit)
    if plain_names:
        table.variables = [replace(v, name=without_commas(v.name)) for v in table.variables]
    return table


def renamed_ones(unit: Any) -> list[str]:
    """Return a sentence for every variable whose name in the FMU differs from that in the
    description.
    """
    return [
        f"'{name}' is called '{new}' in the FMU: OpenModelica's import would write '{imported(name)}', "
        "which Modelica does not take, or which another variable has"
        for name, new in variable_table(unit).renamed.items()
    ]


def without_commas(name: str) -> str:
    """Return a name without commas: a second derivative as a derivative of a derivative, several
    indices separated by semicolons.
    """
    return re.sub(r"^der\((.*),2\)$", r"der(der(\1))", name).replace(",", ";")


def fixed_integrator(mechanism: Mechanism) -> str:
    """Return the description's integrator if it has a fixed step, else rk4."""
    given = mechanism.description.run.integrator
    return given if given in FIXED else "rk4"


def backend_of(name: str) -> str:
    """Return the back end with a name or alias; raise FmuError if there is none."""
    backend = ALIASES.get(name.lower(), name.lower())
    if backend not in BACKENDS:
        raise FmuError(f"unknown back end '{name}', expected one of {', '.join(BACKENDS)}")
    return backend


def check_request(path: Path, backend: str, version: int) -> None:
    """Raise FmuError for an impossible request before the build begins."""
    backend_of(backend)
    if version not in (2, 3):
        raise FmuError(f"FMI {version} is not offered, expected 2 or 3")
    if path.suffix != ".fmu":
        raise FmuError(f"{path}: expected a name that ends in .fmu")


def kinds(backend: str, version: int) -> dict[str, dict[str, str]]:
    """Return the kinds of an archive (model exchange, co-simulation) with their capabilities."""
    return OFFERED["python" if backend == "python" else "native", version]


def identifier_of(name: str) -> str:
    """Return the model's name as a C identifier, which is also valid in file names."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    word = re.sub(r"\W+", "_", plain).strip("_") or "mechanism"
    return word if not word[0].isdigit() else f"m_{word}"


def facts_of(unit: Any, token: str, offered: dict[str, dict[str, str]]) -> Facts:
    """Return the name, times, tolerance and capabilities for the model description."""
    d, run = unit.description, unit.run
    name = d.name or "mechanism"
    return Facts(
        name,
        identifier_of(name),
        token,
        d.text,
        run.stop_time,
        run.start_time,
        None if "ModelExchange" in offered else run.output_step,
        run.relative,
        offered,
    )


BACK_ENDS = {
    "python": "slave in Python",
    "native": "native library, no Python on the target",
    "source": "C99 sources, compiled by the host; no library but libm",
}


def notes(unit: Any, backend: str, version: int, facts: Facts) -> dict[str, str]:
    """Return the rows of the documentation that describe how the model is solved."""
    kind = " and ".join(
        {"ModelExchange": "model exchange", "CoSimulation": "co-simulation"}[name]
        for name in facts.kinds
    )
    return {
        "FMI": f"{version}.0, {kind}",
        "Back end": BACK_ENDS[backend],
        "Formulation": "DEC (forward dynamics in linear time)",
        "Integrator (co-simulation)": unit.run.integrator,
        "Identifier": facts.token,
    }


def model_files(mechanism: Mechanism, options: dict[str, Any]) -> dict[str, bytes]:
    """Return the description as TOML or JSON together with its packing options; tables from files
    are included as values.
    """
    source, overrides = mechanism.source, dict(mechanism.overrides)
    if is_generated(source):
        raw, origin, overrides, _ = generated(source, overrides)
    else:
        raw, origin = read(source)
    if (
        isinstance(source, (str, Path))
        and not str(source).startswith("lib:")
        and not is_generated(source)
        and not names_files(raw)
    ):
        name, content = f"model{Path(source).suffix}", Path(source).read_bytes()
    else:
        if problems := fill_tables(raw, origin):
            raise ModelError(problems)
        name, content = "model.json", json.dumps(raw, indent=1).encode()
    packed = options | {"overrides": overrides}
    if (begin := mechanism.description.beginning) is not None:
        packed["beginning"] = asdict(begin)
    return {name: content, "options.json": json.dumps(packed).encode()}


def binaries_for(
    path: Path,
    backend: str,
    fmi: int | str,
    platforms: str | Sequence[str] | None,
    say: Callable[[str], None] = silent,
) -> Binaries:
    """Return the binaries of an archive; the Python back end can do without one for this machine."""
    check_request(path, backend, int(float(fmi)))
    components = backend == "native" and int(float(fmi)) == 3
    wanted = platforms_of(platforms)
    if wanted is not None and WEBASSEMBLY in wanted and not components:
        wanted = without_component(wanted, say)
    try:
        return binaries(wanted, say, components)
    except FmuError:
        if backend == "native" or wanted is not None:
            raise
        return {}


def without_component(
    wanted: tuple[Platform, ...], say: Callable[[str], None]
) -> tuple[Platform, ...]:
    """Return the platforms without WebAssembly and report that it is left out; raise FmuError
    unless all platforms were wanted.
    """
    text = (
        f"{WEBASSEMBLY.name} is for the back end native and FMI 3.0: take --backend native --fmi 3"
    )
    if len(wanted) < len(PLATFORMS):
        raise FmuError(text)
    say(f"without {WEBASSEMBLY.name}: {text}")
    return tuple(each for each in wanted if each != WEBASSEMBLY)


def pack_slave(
    path: Path,
    identifier: str,
    xml: bytes,
    resources: dict[str, bytes],
    carried: Binaries,
    page: str,
    pictures: Mapping[str, bytes | str | Path],
    version: int,
) -> None:
    """Write the archive of the Python back end with documentation and pictures."""
    from kinetree.fmu.slave.pack import python_entries

    entries = python_entries(identifier, resources | {"description.xml": xml}, carried, version)
    write_archive(
        path,
        entries
        | {"modelDescription.xml": xml}
        | about(page, "python", carried, version)
        | dict(pictures),
    )


def about(
    page: str, backend: str, carried: Binaries, version: int = 2
) -> dict[str, bytes | str | Path]:
    """Return the documentation and licence files of an archive."""
    return {"documentation/index.html": page, **licences(backend, carried, version)}


def pack_native(
    path: Path,
    identifier: str,
    xml: bytes,
    resources: dict[str, bytes],
    carried: Binaries,
    page: str,
    pictures: Mapping[str, bytes | str | Path],
    version: int,
) -> None:
    """Write the archive of the native back end."""
    if not carried:
        raise FmuError("there is no engine library for this machine")
    content: dict[str, bytes | str | Path] = {"modelDescription.xml": xml}
    content |= {place_of(target, identifier, version): binary for target, binary in carried.items()}
    if WEBASSEMBLY in carried:
        core = carried[WEBASSEMBLY].read_bytes()
        content[place_of(WEBASSEMBLY, identifier, version)] = component(
            core, resources["model.kinetree"]
        )
        content[MANIFEST] = manifest()
    content |= {f"resources/{name}": data for name, data in resources.items()} | about(
        page, "native", carried
    )
    write_archive(path, content | dict(pictures))


def icons(version: int, table: Table) -> dict[str, bytes | str | Path]:
    """Return the icon files of the model, where the version of FMI supports them; in FMI 3.0 with
    its terminals.
    """
    if version == 2:
        return {"model.png": ICON.read_bytes()}
    return {f"{FOLDER}/icon.png": ICON.read_bytes(), **terminal_entries(table)}


def pack_source(
    unit: Any, path: Path, version: int, table: Table, facts: Facts, files: dict[str, bytes]
) -> Path:
    """Write the archive of the source back end: the C files that a host compiles, and the model
    file for readers and for `kinetree verify`.
    """
    from kinetree.fmu.source.archive import source_entries, source_files

    xml = write_xml(table, replace(facts, sources=tuple(source_files(version))), version)
    content: dict[str, bytes | str | Path] = {"modelDescription.xml": xml}
    content |= source_entries(
        facts.identifier,
        payload(unit, table, facts.token),
        version,
        getattr(unit, "motions", ()) or ("",) * len(unit.stage_names),
    )
    content |= {f"resources/{name}": data for name, data in files.items()}
    return write_archive(
        path,
        content
        | about(index_html(unit, table, notes(unit, "source", version, facts)), "source", {})
        | icons(version, table),
    )


__all__ = ["ALIASES", "BACKENDS", "FmuError", "Table", "backend_of", "build_fmu", "pack_unit"]
