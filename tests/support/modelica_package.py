"""The package Kinetree as one text, beside what it takes from the standard library, and where its classes are."""

import re
from pathlib import Path

from tree import ROOT

FOLDER = ROOT / "models" / "modelica" / "Kinetree"
STANDARD = Path(__file__).with_name("modelica_standard.mo").read_text(encoding="utf-8")
ORDER = (FOLDER / "package.order").read_text(encoding="utf-8").split()
FILES = {
    name: (FOLDER / f"{name}.mo").read_text(encoding="utf-8").removeprefix("within Kinetree;\n")
    for name in ORDER
}
CLASS = re.compile(r"^  (?:model|block|connector|function) (\w+)", re.M)
MODEL = re.compile(r"^  (?:model|block) (\w+)", re.M)
HOME = {
    name: f"Kinetree.{package}.{name}"
    for package, text in FILES.items()
    for name in CLASS.findall(text)
}
MODELS = [name for text in FILES.values() for name in MODEL.findall(text)]
TEXT = STANDARD + "package Kinetree\n" + "\n".join(FILES.values()) + "end Kinetree;\n"


def compiled(name: str, more: str = "", text: str = TEXT):
    """A class of the package, or of further text that uses it."""
    import rumoca

    return rumoca.Session().loads(text + more, model=HOME.get(name, name))
