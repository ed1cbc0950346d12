"""Runs and draws every mechanism of the tutorials and the library: a page with a picture of each,
and the scenes.

Where possible, a scene simulates its mechanism while it is shown: the page contains the engine as
WebAssembly. The others show the recorded run from which the picture is taken.
"""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kinetree.scripts.site.code_blocks import EXAMPLES

if TYPE_CHECKING:
    from kinetree.models.system.mechanism import Mechanism

SHOWN = 0.4  # part of the run at which the picture is taken
SIZE = (640, 400)
SHOWN_EXAMPLES = (
    "pendulum/pendulum.toml", "excavator/excavator.toml", "crane/crane.toml", "identification/lever.toml", "robot/reach.toml", "bicycle/bicycle.toml",
    "boom/boom.toml",
)  # fmt: skip
WITHOUT = ("servo-drive",)  # nothing but oil: there is nothing to see


@dataclass(frozen=True)
class Seen:
    """A mechanism with its scene page and its picture."""

    name: str
    source: str
    title: str
    text: str
    page: str
    picture: bytes
    live: str = ""  # the page that computes, where there is one


def sources() -> dict[str, str]:
    """Return names and sources of all scenes: tutorials, then library."""
    from kinetree.models.description.reading.read_source import library_names

    examples = {
        f"example-{Path(path).parent.name}": str(EXAMPLES / path) for path in SHOWN_EXAMPLES
    }
    return examples | {name: f"lib:{name}" for name in library_names() if name not in WITHOUT}


def see(name: str, source: str) -> Seen:
    """Run a mechanism with its own settings and return its scene page and picture."""
    from kinetree.models import load
    from kinetree.models.scene.html_page import page
    from kinetree.models.scene.make_scenes import run_data

    mechanism = load(source)
    run = mechanism.description.run
    stop = None if run is not None and run.stop_time is not None else 3.0
    result = (
        mechanism.chain().simulate(stop)
        if mechanism.description.chain is not None
        else mechanism.compile().simulate(stop)
    )
    data = run_data(result)
    shown = (
        source
        if source.startswith("lib:")
        else Path(source).relative_to(EXAMPLES.parent).as_posix()
    )
    return Seen(
        name,
        shown,
        mechanism.description.name or name,
        mechanism.description.text or "",
        page(data),
        picture(data),
        live_page(mechanism, stop),
    )


def live_page(mechanism: Mechanism, stop_time: float | None) -> str:
    """Return the page that simulates the mechanism; empty for linear chains and where the engine
    cannot be compiled to WebAssembly.
    """
    from kinetree.fmu.live import live_data
    from kinetree.fmu.variables import FmuError
    from kinetree.models.scene.html_page import page

    try:
        return page(live_data(mechanism, stop_time))
    except FmuError:
        return ""


def files(seen: list[Seen], embedded: set[str]) -> dict[str, str | bytes]:
    """Return the files of the gallery by path. The page of a recorded run is included if another
    page embeds it, or if there is no live page.
    """
    made: dict[str, str | bytes] = {}
    for one in seen:
        made[f"scenes/{one.name}.png"] = one.picture
        if one.live:
            made[f"scenes/{one.name}-live.html"] = one.live
        if not one.live or one.name in embedded:
            made[f"scenes/{one.name}.html"] = one.page
    return made


def picture(data: dict[str, Any]) -> bytes:
    """Return one instant of a scene as a PNG with few colours."""
    from kinetree.models.scene.overlays import tools
    from kinetree.models.scene.video import Painter

    painter = Painter({**data, "clips": [{**data["clips"][0], "plots": []}]}, SIZE)
    stream = io.BytesIO()
    tools().fromarray(painter.frame(int(round(SHOWN * (painter.time.size - 1))))).quantize(
        128
    ).save(stream, "PNG", optimize=True)
    return stream.getvalue()


def gallery(seen: list[Seen]) -> str:
    """Return the gallery page: a card with picture, title and command for every scene."""
    lines = [
        "# Gallery",
        "",
        "Every mechanism of the tutorials and of the [library](library.md), run when this site was built. A picture opens the scene.",
        "Where it says `--live`, the page computes the motion itself: drag bodies, inputs and parameters while it runs ([how](view.md)).",
        "",
        '<div class="cards">',
    ]
    for one in seen:
        image = f'<img src="scenes/{one.name}.png" alt="{one.title}" loading="lazy">'
        lines.append(
            f'<figure><a href="scenes/{one.name}{"-live" * bool(one.live)}.html">{image}</a><figcaption><b>{one.title}</b><br>{one.text}<br>'
            f"<code>kinetree view {one.source}{' --live' * bool(one.live)}</code></figcaption></figure>"
        )
    return "\n".join([*lines, "</div>", ""])
