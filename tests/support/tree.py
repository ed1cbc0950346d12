"""The source tree as the tests of the house rules see it."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROOMS = {
    "kinetree.solvers": "solvers",
    "kinetree.models": "models",
    "kinetree.fmu": "fmu_src",
    "kinetree.scripts": "scripts",
}
TOP = "scripts/kinetree"  # what `import kinetree` finds
PACKAGES = {"kinetree": TOP, **ROOMS}  # import names and their folders


def import_path(path: Path) -> tuple[str, ...]:
    """Parts of the name under which a file or folder of the rooms is imported."""
    name, folder = next(each for each in PACKAGES.items() if path.is_relative_to(ROOT / each[1]))
    return (*name.split("."), *path.relative_to(ROOT / folder).parts)


@cache
def modules(*folders: str) -> tuple[Path, ...]:
    """Python files of the given top-level folders, of the four rooms by default."""
    return tuple(
        path
        for folder in folders or ROOMS.values()
        for path in sorted((ROOT / folder).rglob("*.py"))
        if "__pycache__" not in path.parts
    )


@cache
def syntax(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All of a file's syntax."""
    return tuple(ast.walk(syntax(path)))


def short(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def imports(path: Path) -> list[tuple[str, int, bool]]:
    """Imported modules with line and whether the import stands at module level (and so is paid by everybody)."""
    found = []

    def visit(node: ast.AST, top: bool) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import):
                found.extend((alias.name, child.lineno, top) for alias in child.names)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{short(path)}:{child.lineno}: imports are absolute"
                found.append((child.module or "", child.lineno, top))
            inner = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
            guarded = isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)
            visit(child, top and not inner and not guarded)

    visit(syntax(path), True)
    return found


def kernels(path: Path) -> list[ast.FunctionDef]:
    """Functions under @kernel or @entry."""
    marks = {"kernel", "entry"}
    return [
        node
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef)
        and any(
            ast.unparse(mark).split("(")[0].split(".")[-1] in marks for mark in node.decorator_list
        )
    ]
