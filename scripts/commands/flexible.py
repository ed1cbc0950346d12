"""`kinetree flexible`: reduces a finite-element body to a modal body."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinetree.scripts.commands import Command
from kinetree.scripts.terminal.error_messages import BadInput

if TYPE_CHECKING:
    import numpy as np

SID = "sid"  # in the suffix of files of standard input data: .SID_FEM, .sid
MATRICES = (".npz", ".mtx")
PUNCH = ".pch"
LENGTHS = {"m": 1.0, "mm": 1e-3}  # of the source [m]
TONNE = 1e3  # kg, the mass that goes with mm and N
PLANE = re.compile(r"([xyz])\s*=\s*([-+.\deE]+)")
NEAR = 1e-6  # of the size of the body: nodes on a plane


def flexible(
    source: Annotated[
        str,
        typer.Argument(
            metavar="MESH|MATRICES",
            help="A mesh (.msh, .vtk, ...; .step by gmsh), stiffness as .npz or .mtx, .pch of Nastran, or .SID_FEM.",
        ),
    ],
    interface: Annotated[
        list[str],
        typer.Option(
            "--interface",
            help="NAME=PLANE, as root=x=0: nodes in that plane form one face. SID files: NAME=NODE.",
        ),
    ],
    output: Annotated[Path, typer.Option("--output", "-o", help="File to write: FILE.npz.")],
    modes: Annotated[
        int, typer.Option("--modes", help="Number of vibration modes with all faces clamped.")
    ] = 8,
    root: Annotated[
        str | None,
        typer.Option("--root", help="Face that carries the body frame (default: the first one)."),
    ] = None,
    mass: Annotated[
        str | None,
        typer.Option("--mass", help="With matrices: file of the mass matrix (.npz, .mtx)."),
    ] = None,
    nodes: Annotated[
        str | None,
        typer.Option(
            "--nodes",
            help="With matrices: node coordinates x, y, z (.csv, .npy). With .pch: bulk data file.",
        ),
    ] = None,
    material: Annotated[
        str,
        typer.Option("--material", help="Material of a mesh: steel, aluminium, or E,nu,density."),
    ] = "steel",
    size: Annotated[
        float | None, typer.Option("--size", help="With STEP: largest element size [m].")
    ] = None,
    units: Annotated[
        str, typer.Option("--units", help="Units of the source: m (SI), or mm (mm, t, N).")
    ] = "m",
    second_order: Annotated[
        bool,
        typer.Option(
            "--second-order",
            help="With a mesh: include stiffening by loads and rotation (second order).",
        ),
    ] = False,
) -> None:
    """Reduce a finite-element body by the Craig-Bampton method, for `flexible = { file = ... }`."""
    from kinetree.models.beams.body_surfaces import skin_of
    from kinetree.models.beams.mesh_matrices import MeshMatrices
    from kinetree.models.beams.reduction import ReductionError, reduce_body, save_reduced

    if not Path(source).is_file():
        raise BadInput(f"no file {source}")
    if units not in LENGTHS:
        raise BadInput(f"--units: found {units!r}, expected {' or '.join(LENGTHS)}")
    if output.suffix.lower() != ".npz":
        raise BadInput(f"--output: found {output.name}, expected FILE.npz")
    try:
        if SID in Path(source).suffix.lower():
            found = of_standard_input(source, interface, root)
            save_reduced(output, found)
            return told(found, output)
        if Path(source).suffix.lower() in (*MATRICES, PUNCH):
            K, M, places = in_si(matrices_of(source, mass, nodes), units)
            mesh, stiffening = None, None
        else:
            mesh = MeshMatrices(source, material, size, LENGTHS[units])
            (K, M), places = mesh.matrices(), mesh.nodes
            stiffening = mesh.stiffening if second_order else None
        faces = dict(face_of(each, places) for each in interface)
        found = reduce_body(K, M, places, faces, root or next(iter(faces)), modes, stiffening)
        x, shapes = found.pop("nodes"), found.pop("shapes")
        found |= skin_of(x, shapes, None) if mesh is None else mesh.skin(x, shapes)
    except ImportError as error:
        hint = "pip install kinetree[flexible]"
        raise BadInput(f"{source}: {error.name} is not installed: {hint}") from None
    except (ReductionError, OSError, ValueError) as error:
        raise BadInput(f"{source}: {error}") from None
    save_reduced(output, found)
    typer.echo(f"{len(places)} nodes; root {root or next(iter(faces))}")
    told(found, output)


def told(found: Mapping[str, Any], output: Path) -> None:
    """Print mass, modes, frequencies and interface faces of the reduced body that was written."""
    slowest = ", ".join(f"{each:.4g}" for each in found["frequencies"][:5])
    typer.echo(f"{found['mass']:.6g} kg, {len(found['stiffness'])} modes")
    typer.echo(f"held at its root: {slowest} Hz ... {found['frequencies'][-1]:.4g} Hz")
    typer.echo(f"faces: {', '.join(found['interfaces'])}")
    typer.echo(f"written: {output}")


def of_standard_input(source: str, interface: list[str], root: str | None) -> dict[str, Any]:
    """Return the arrays of a file of standard input data (SID), whose interfaces are NAME=NODE."""
    from kinetree.models.beams.sid_files import read_standard_input, reduced_of

    parts = [each.partition("=") for each in interface]
    faces = {name: node for name, _, node in parts}
    text = Path(source).read_text(encoding="utf-8", errors="replace")
    return reduced_of(read_standard_input(text), faces, root or next(iter(faces)))


def face_of(text: str, places: np.ndarray) -> tuple[str, np.ndarray]:
    """Return the name and the nodes of a face NAME=PLANE."""
    import numpy as np

    name, sign, plane = text.partition("=")
    match = PLANE.fullmatch(plane.strip())
    if not sign or match is None or not name.isidentifier():
        raise BadInput(f"--interface: found {text!r}, expected NAME=PLANE as in tip=x=2.0")
    axis = "xyz".index(match[1])
    bound = NEAR * float(np.ptp(places, axis=0).max())
    found = np.flatnonzero(np.abs(places[:, axis] - float(match[2])) <= bound)
    if found.size < 3:
        raise BadInput(f"--interface {text}: {found.size} nodes there, at least 3 are needed")
    return name, found


def in_si(found: tuple[Any, Any, np.ndarray], units: str) -> tuple[Any, Any, np.ndarray]:
    """Return stiffness, mass and node positions in N/m, kg and m."""
    K, M, places = found
    if units == "m":
        return found
    return K / LENGTHS[units], M * TONNE, places * LENGTHS[units]


def matrices_of(source: str, mass: str | None, nodes: str | None) -> tuple[Any, Any, np.ndarray]:
    """Return stiffness matrix, mass matrix and node positions read from files."""
    import numpy as np

    from kinetree.models.beams.nastran_files import read_nastran

    if source.lower().endswith(PUNCH):
        return read_nastran(source, nodes)
    if mass is None or nodes is None:
        raise BadInput(f"{source}: matrices need --mass and --nodes")
    given = np.load(nodes) if nodes.endswith(".npy") else np.loadtxt(nodes, delimiter=",")
    places = np.asarray(given, dtype=float)
    if places.ndim != 2 or places.shape[1] != 3:
        raise BadInput(f"--nodes: {places.shape}, expected three numbers per node")
    return read_matrix(source), read_matrix(mass), places


def read_matrix(path: str) -> Any:
    """Return the sparse matrix in a scipy file (.npz) or a Matrix Market file (.mtx)."""
    import scipy.io
    import scipy.sparse

    return scipy.sparse.load_npz(path) if path.endswith(".npz") else scipy.io.mmread(path)


COMMAND = Command("flexible", flexible, place=125)
