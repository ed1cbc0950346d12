"""Scripts of Python FMUs run as the files of `fmu_src/slave` that they were packed from, so that their lines count there."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from types import ModuleType

from kinetree.fmu.slave.pack import HEAD, HERE, OWN_IMPORT, SCRIPTS

PACKED = re.compile(r"kinetree_slave_[0-9a-f]{12}_code")


class Loader(SourceFileLoader):
    """Executes the packed text file by file; a text that is not what the files say now is executed as it is."""

    def exec_module(self, module: ModuleType) -> None:
        text = Path(self.path).read_text(encoding="utf-8")
        written = re.search(rf"^{re.escape(HEAD.partition('=')[0])}.*$", text, re.M)
        for names in SCRIPTS.values():
            sources = {HERE / name: (HERE / name).read_text(encoding="utf-8") for name in names}
            packed = "\n\n".join(OWN_IMPORT.sub("", each) for each in sources.values())
            if written is not None and packed.replace(HEAD, written[0]) == text:
                for path, source in sources.items():
                    lines = OWN_IMPORT.sub(
                        lambda found: "\n" * found[0].count("\n"), source
                    ).replace(HEAD, written[0])
                    exec(compile(lines, path, "exec"), module.__dict__)  # noqa: S102 -- what a packed slave runs
                return
        super().exec_module(module)


class Finder(MetaPathFinder):
    """Finds packed scripts where Python does."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        found = PathFinder.find_spec(fullname, path, target) if PACKED.fullmatch(fullname) else None
        if found is not None and found.origin is not None:
            found.loader = Loader(fullname, found.origin)
        return found


def install() -> None:
    if not any(isinstance(each, Finder) for each in sys.meta_path):
        sys.meta_path.insert(0, Finder())
