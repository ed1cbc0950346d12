"""Library files explain themselves: source and equations at the head, text with every parameter, a line on the page of the library."""

from pathlib import Path

import pytest

from kinetree.models import load
from kinetree.models.description.reading.read_source import LIBRARY, library_names

FILES = sorted(path.name for path in LIBRARY.glob("*.toml"))
PAGE = (Path(__file__).parents[2] / "docs" / "library.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("file", FILES)
def test_library_page_lists_all_mechanisms(file: str):
    head = []
    for line in (LIBRARY / file).read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            break
        head.append(line)
    assert len(head) >= 3, "a comment block says what it is, the source and the equations"


@pytest.mark.parametrize("name", library_names())
def test_library_page_explains_parameters(name: str):
    description = load(f"lib:{name}").description
    assert description.text
    assert [each for each, parameter in description.parameters.items() if not parameter.text] == []


@pytest.mark.parametrize("name", library_names())
def test_library_page_matches_code(name: str):
    assert f"`{name}`" in PAGE
