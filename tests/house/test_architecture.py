"""The house rules that a machine can check: layers, sizes, kernels without allocation, no evaluation of text, a tree that stands alone."""

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import packages_distributions

import pytest
from tree import ROOMS, ROOT, imports, kernels, modules, nodes, short

LAYERS = [
    "kinetree.solvers",
    "kinetree.models",
    "kinetree.fmu",
    "kinetree.scripts",
]  # each may import itself and what stands before it
KERNEL_LINES, MODULE_LINES = 55, 460  # at most 100 characters wide
ALLOCATING = {  # by what they are called on
    "np": set(
        "zeros empty ones full array zeros_like empty_like copy arange linspace eye concatenate dot outer sum where".split()
    ),
    "object": {"copy", "reshape", "append", "dot", "flatten", "ravel", "astype", "sum"},
    "module": set(),  # house modules are imported under capitals: L.KIND, C.copy(...)
    "": {"list", "dict", "set", "sorted", "print"},
}
TEXTS = {".py", ".md", ".toml", ".json", ".yaml", ".c", ".h", ".mo", ".txt", ".html", ".cfg", ""}
OPTIONAL = {
    "scripts/studio": "studio",
    "scripts/site": "docs",
}  # rooms that are nothing without an extra
HERE = "tests/house/test_architecture.py"
HOME = re.compile(
    "|".join(
        (
            r"/home/\w",
            r"/root/",
            r"/Users/\w",
            r"[A-Z]:\\Users",
            "/wo" + "rk/",
            r"(\.\./|/|\s|`)" + "shared" + "/",
        )
    )
)


@pytest.fixture(scope="module", autouse=True)
def without_the_collector():
    """Of garbage: it would go again and again through the syntax of all files, which is kept, and find nothing."""
    gc.disable()
    yield
    gc.enable()


def distributions(requirements: list[str]) -> set[str]:
    return {re.split(r"[\[<>=!~; ]", text)[0].lower().replace("_", "-") for text in requirements}


def declared() -> tuple[set[str], set[str]]:
    """Distributions that every installation has, and those of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    return distributions(project["dependencies"]), distributions(
        sum(project["optional-dependencies"].values(), [])
    )


@cache
def installed() -> dict[str, list[str]]:
    """Distributions by the packages that they bring; some of another name may be installed elsewhere, or not at all."""
    return {"skfem": ["scikit-fem"], **packages_distributions(), "pinocchio": ["pin"]}


def foreign_imports(*folders: str) -> Iterator[tuple[str, set[str], bool]]:
    """Place, possible distributions, and at module level or not, of every import from outside the tree."""
    known = installed()
    own = {"kinetree"} | {path.stem for path in modules("tests")}
    for path in modules(*folders):
        for name, line, top in imports(path):
            package = name.split(".")[0]
            if package not in own and package not in sys.stdlib_module_names:
                yield (
                    f"{short(path)}:{line}: {package}",
                    {name.lower().replace("_", "-") for name in known.get(package, [package])},
                    top,
                )


def files() -> list[str]:
    return subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()


@pytest.mark.parametrize("layer", LAYERS)
def test_layers_point_downwards(layer: str):
    above = LAYERS[LAYERS.index(layer) + 1 :]
    wrong = [
        f"{short(path)}:{line} imports {name}"
        for path in modules(ROOMS[layer])
        for name, line, _ in imports(path)
        if any(name == other or name.startswith(other + ".") for other in above)
    ]
    assert not wrong, "\n".join(wrong)


@cache
def is_there(name: str) -> bool:
    """Whether a module of ours has its file or its folder; others are not looked for."""
    layer = next((each for each in LAYERS if f"{name}.".startswith(f"{each}.")), "")
    place = ROOT / ROOMS[layer] / name[len(layer) + 1 :].replace(".", "/") if layer else ROOT
    return place.is_dir() or place.with_suffix(".py").is_file()


def test_imported_modules_exist():
    """Those inside functions too, which nothing else looks up before somebody calls."""
    wrong = []
    for path in modules(*ROOMS.values(), "tests"):
        for node in nodes(path):
            if not isinstance(node, (ast.Import, ast.ImportFrom)):
                continue
            names = (
                [node.module or ""]
                if isinstance(node, ast.ImportFrom)
                else [each.name for each in node.names]
            )
            for name in names:
                if not is_there(name):
                    wrong.append(f"{short(path)}:{node.lineno}: {name}")
    assert not wrong, "\n".join(wrong)


def test_solvers_need_nothing_but_numba_and_numpy():
    """The kernels are the payload of FMUs: whatever they import would have to travel with them."""
    wrong = [
        place
        for place, names, top in foreign_imports("solvers")
        if top and not names & {"numpy", "numba", "llvmlite"}
    ]
    assert not wrong, "\n".join(wrong)


def of_extra(extra: str) -> set[str]:
    """Distributions of one extra."""
    return distributions(
        tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"][
            extra
        ]
    )


def test_modules_of_optional_extras_are_imported_late():
    """A room that is nothing without an extra may import it at the top; nothing else may import the room at the top."""
    wrong = []
    for room in OPTIONAL:
        name = "kinetree." + room.replace("/", ".")
        for path in modules():
            inside = short(path).startswith(room + "/")
            wrong += [
                f"{short(path)}:{line} imports {each}"
                for each, line, top in imports(path)
                if top and not inside and each.startswith(name)
            ]
    assert not wrong, "\n".join(wrong)


def test_dependencies_are_declared():
    core, extras = declared()
    core |= {"llvmlite", "lxml", "pydantic-core"}  # parts of numba, fmpy and pydantic
    late = {room: of_extra(extra) for room, extra in OPTIONAL.items()}
    wrong = []
    for place, names, top in foreign_imports():
        own = next((more for room, more in late.items() if place.startswith(room + "/")), set())
        if not names & (core | own if top else core | extras):
            wrong.append(place)
    assert not wrong, "not a core dependency, or an extra imported at module level:\n" + "\n".join(
        wrong
    )
    wrong = [place for place, names, _ in foreign_imports("tests") if not names & (core | extras)]
    assert not wrong, "used by tests, declared nowhere:\n" + "\n".join(wrong)


def test_modules_are_short():
    glossary = ROOT / "solvers" / "layout.py"  # the only glossary: it cannot be in two places
    long = {
        short(path): len(path.read_text().splitlines()) for path in modules() if path != glossary
    }
    assert not {name: lines for name, lines in long.items() if lines > MODULE_LINES}


def test_kernels_are_short():
    long = {
        f"{short(path)}:{node.lineno} {node.name}": node.end_lineno - node.lineno + 1
        for path in modules()
        for node in kernels(path)
    }
    assert not {name: lines for name, lines in long.items() if lines > KERNEL_LINES}


def test_modules_are_not_named_utils():
    vague = {"utils", "util", "helpers", "misc", "common"}
    assert not [short(path) for path in modules() if path.stem in vague]


def test_test_file_names_are_unique():
    """The folders of tests are no packages: of two files of one name pytest imports the first only, and fails at the second."""
    places: dict[str, list[str]] = {}
    for path in modules("tests"):
        if path.name not in ("__init__.py", "conftest.py"):
            places.setdefault(path.name, []).append(short(path))
    assert not [same for same in places.values() if len(same) > 1]


def test_no_code_is_evaluated_at_run_time():
    wrong = [
        f"{short(path)}:{node.lineno}"
        for path in modules()
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"eval", "exec", "__import__"}
    ]
    assert not wrong, wrong


def forbidden_in_kernel(node: ast.AST) -> str:
    if isinstance(
        node,
        (ast.List, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp),
    ):
        return "a container"
    if isinstance(
        node, (ast.Raise, ast.Try, ast.With, ast.JoinedStr, ast.Assert, ast.Import, ast.ImportFrom)
    ):
        return type(node).__name__.lower()
    if isinstance(node, ast.Call):
        owner, _, name = ast.unparse(node.func).rpartition(".")
        if (
            name
            in ALLOCATING[
                owner if owner in ALLOCATING else "module" if owner[:1].isupper() else "object"
            ]
        ):
            return name
    if isinstance(node, ast.Attribute) and node.attr == "linalg":
        return "np.linalg"
    return ""


def test_kernels_neither_allocate_nor_raise():
    wrong = [
        f"{short(path)}:{inner.lineno} {kernel.name}: {forbidden_in_kernel(inner)}"
        for path in modules("solvers")
        for kernel in kernels(path)
        for statement in kernel.body
        for inner in ast.walk(statement)
        if forbidden_in_kernel(inner)
    ]
    assert not wrong, "\n".join(wrong)


def test_no_machine_paths_and_no_foreign_folders():
    """The tree stands alone: no path of one machine, nothing outside of the repository."""
    texts = [
        name
        for name in files()
        if (ROOT / name).suffix in TEXTS and name != HERE and (ROOT / name).is_file()
    ]
    wrong = []
    for name in texts:
        lines = (ROOT / name).read_text(encoding="utf-8", errors="replace").splitlines()
        wrong += [
            f"{name}:{number}: {line.strip()[:120]}"
            for number, line in enumerate(lines, 1)
            if HOME.search(line)
        ]
    assert not wrong, "\n".join(wrong)


def test_links_in_documents_lead_somewhere():
    wrong = []
    for name in files():
        if name.endswith(".md") and (ROOT / name).is_file():
            text = re.sub(r"```.*?```", "", (ROOT / name).read_text(), flags=re.S)
            for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
                if not re.match(r"[a-z]+:", target):
                    place = ((ROOT / name).parent / target).resolve()
                    if not (place.exists() and place.is_relative_to(ROOT)):
                        wrong.append(f"{name}: {target}")
    assert not wrong, "\n".join(wrong)
