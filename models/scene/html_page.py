"""A scene as one self-contained HTML file with data, scripts and three.js.

three.js is taken from an installed package (NiceGUI contains it as one module); nothing is
downloaded when the page is made or viewed.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "page"
SHARED = ("build.js", "stand.js", "motion.js", "hand.js", "plots.js")
SCRIPTS = (*SHARED, "keys.js", "page.js")
LIVE_SCRIPTS = (*SHARED, "engine.js", "live.js", "joint_drag.js", "keys.js", "page.js")
CARRIER = "nicegui"
PLACES = ("elements/scene/dist/index.js", "elements/scene/lib/index.js")
NEEDED = ("THREE", "OrbitControls")


@lru_cache(maxsize=1)
def three() -> str:
    """Return three.js as a script that sets KINETREE_THREE, an object with the exports of the
    module.
    """
    found = find_spec(CARRIER)
    places = [
        Path(folder) / place
        for folder in (found.submodule_search_locations or () if found else ())
        for place in PLACES
    ]
    path = next((place for place in places if place.exists()), None)
    if path is None:
        raise ValueError(
            "three dimensions need three.js out of the package nicegui: pip install kinetree[view]"
        )
    text = re.sub(r"//# sourceMappingURL=\S*", "", path.read_text(encoding="utf-8")).rstrip()
    exports = re.search(r"export\s*\{([^{}]*)\}\s*;?$", text)
    if exports is None:
        raise ValueError(
            f"{path.name} of the package {CARRIER} is not the module that was expected: pip install --upgrade kinetree[view]"
        )
    parts = [part.strip() for part in exports[1].split(",") if part.strip()]
    names = {part.split(" as ")[-1]: part.split(" as ")[0] for part in parts}
    missing = [name for name in NEEDED if name not in names]
    if missing:
        raise ValueError(
            f"{path.name} of the package {CARRIER} lacks {', '.join(missing)}: pip install --upgrade kinetree[view]"
        )
    properties = ",".join(f"{name}:{names[name]}" for name in NEEDED)
    return f"const KINETREE_THREE=(()=>{{{text[: exports.start()]}\nreturn{{{properties}}};}})();".replace(
        "</script", "<\\/script"
    )


def page(data: Mapping[str, Any]) -> str:
    """Return the HTML page of a scene."""
    content = json.dumps(
        cleaned(data), separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).replace("<", "\\u003c")  # neither an end of the script nor the beginning of a comment in it
    parts = {
        "TITLE": escape(str(data.get("name") or "Mechanism")),
        "STYLE": (FOLDER / "page.css").read_text(encoding="utf-8"),
        "DATA": content,
        "THREE": three(),
        "SCRIPT": "\n".join(
            (FOLDER / name).read_text(encoding="utf-8")
            for name in (LIVE_SCRIPTS if data.get("live") else SCRIPTS)
        ),
    }
    return re.sub(
        r"@([A-Z]+)@",
        lambda found: parts[found[1]],
        (FOLDER / "page.html").read_text(encoding="utf-8"),
    )


def cleaned(value: Any) -> Any:
    """Return data with floats rounded to seven digits and non-finite numbers replaced by null."""
    if isinstance(value, float):
        return float(f"{value:.7g}") if value - value == 0.0 else None
    if isinstance(value, Mapping):
        return {key: cleaned(each) for key, each in value.items()}
    return [cleaned(each) for each in value] if isinstance(value, (list, tuple)) else value
