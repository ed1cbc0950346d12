"""The rooms of a layer stand in an order, too: what a room may import when it is imported, and how the tests mirror the rooms."""

import re

import pytest
from tree import ROOMS, ROOT, imports, modules, short

# rooms that may import those before them; rooms of one set lean on one another
ORDER: dict[str, list[set[str]]] = {
    "kinetree.solvers": [
        {"algebra"}, {"expressions"}, {"elements"}, {"engine", "contacts", "loops", "sensors"}, {"literal"}, {"integrate"},
        {"numbers"}, {"instance"}, {"sampled"}, {"events"}, {"run"}, {"chain"}, {"entries"}, {"library"},
    ],
    "kinetree.models": [
        {"library"}, {"graph"}, {"modelica", "schema"}, {"expressions"}, {"language"}, {"joints"}, {"forces"}, {"hydraulics"},
        {"quantities"}, {"description"}, {"beams"}, {"controllers"}, {"checks"},
        {"engine"}, {"compilation"}, {"result"}, {"chain"}, {"system"}, {"run"},
        {"analysis"}, {"observers"}, {"trace", "specialised"}, {"gradients"}, {"equations"}, {"scene"}, {"foreign"},
    ],
    "kinetree.fmu": [{"component"}, {"native"}, {"slave"}, {"archive"}, {"source"}, {"external"}],
    "kinetree.scripts": [
        {"templates"}, {"terminal"}, {"measures"}, {"ssp"}, {"cosim", "fmi"}, {"reports"}, {"hil"}, {"studies"}, {"commands"}, {"kinetree"},
        {"studio"}, {"developer"}, {"site"}, {"bench"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("layer", ORDER)
def test_every_folder_has_a_layer(layer: str):
    there = {
        path.name
        for path in (ROOT / ROOMS[layer]).iterdir()
        if path.is_dir() and path.name not in ("__pycache__", "built")
    }
    assert set().union(*ORDER[layer]) == there


@pytest.mark.parametrize("layer", ORDER)
def test_imports_follow_layers(layer: str):
    """At module level; what a command needs late it may import anywhere."""
    place = {room: k for k, rooms in enumerate(ORDER[layer]) for room in rooms}
    wrong = []
    for path in modules(ROOMS[layer]):
        room = path.relative_to(ROOT / ROOMS[layer]).parts[0]
        for name, line, top in imports(path):
            other = (
                name.removeprefix(f"{layer}.").split(".")[0] if name.startswith(f"{layer}.") else ""
            )
            if top and room in place and other in place and place[other] > place[room]:
                wrong.append(f"{short(path)}:{line}: {room} imports {other}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("layer", ORDER)
def test_every_package_is_in_the_architecture_map(layer: str):
    """The page of the architecture names it in the first cell of a row, or in the sentence of its layer."""
    text = (
        (ROOT / "docs" / "architecture.md")
        .read_text(encoding="utf-8")
        .partition("## Rooms")[2]
        .partition("\n## ")[0]
    )
    table = re.search(rf"^\| {ROOMS[layer]} \|.*?(?=\n\n)", text, re.MULTILINE | re.DOTALL)
    sentence = re.search(rf"^`{ROOMS[layer]}`: .*$", text, re.MULTILINE)
    assert table or sentence
    places = (
        [row.split("|")[1] for row in table[0].splitlines()]
        if table
        else [sentence[0]]
        if sentence
        else []
    )
    assert set().union(*ORDER[layer]) <= {
        name for place in places for name in re.findall(r"`(\w+)`", place)
    }


def test_test_folders_are_named_after_packages():
    """A newcomer finds the tests of a file by the name of its room; a few rooms of tests are named for what several rooms do together."""
    rooms = set().union(*(rooms for order in ORDER.values() for rooms in order))
    together = {"house", "support", "data", "fuzz", "mutation", "reached", "fmu", "view"}
    folders = {
        path.name
        for path in (ROOT / "tests").iterdir()
        if path.is_dir() and path.name != "__pycache__" and any(path.glob("*.py"))
    }
    assert folders <= rooms | together, folders - rooms - together
