"""Scenes, pages and notebook views of mechanisms, runs and equilibria."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kinetree.models.result.atomic_file import write_text
from kinetree.models.scene.body_poses import of_columns, of_result
from kinetree.models.scene.equilibrium_clips import mode_clips, rest_clip
from kinetree.models.scene.html_page import page
from kinetree.models.scene.scene import Scene

if TYPE_CHECKING:
    from kinetree.models.analysis.equilibrium import Equilibrium
    from kinetree.models.result.result import Result
    from kinetree.models.system.system import System

HEIGHT = 520  # of a page inside a notebook [pixels]
VIDEOS = (".mp4", ".gif")


def run_data(result: Result) -> dict[str, Any]:
    """Return the scene of a run."""
    chain = getattr(result, "chain", None)
    if chain is not None:
        from kinetree.models.scene.chain_scene import chain_data

        return chain_data(chain, result)
    return run_scene(result).data()


def run_scene(result: Result) -> Scene:
    if result.replay is None:
        raise ValueError(f"'{result.name}' has nothing to draw")
    return Scene(result.replay.unit.description, of_result(result), result)


def start_scene(system: System) -> Scene:
    """Return the scene of a mechanism in its initial state."""
    q, u = system.start()
    columns = {
        name: np.array([value])
        for name, value in zip((*system.coordinates, *system.speeds), (*q, *u), strict=True)
    }
    return Scene(
        system.description, of_columns(system, np.array([system.compiled.start_time]), columns)
    )


def rest_data(
    system: System, rests: Sequence[Equilibrium], names: Sequence[str], moving: int = -1
) -> dict[str, Any]:
    """Return the scene of several equilibria and the modes of the last one."""
    clips = [
        rest_clip(system, rest, name or "rest") for rest, name in zip(rests, names, strict=True)
    ]
    scene = Scene(system.description, clips[0].motion)
    modes = mode_clips(rests[moving].system, rests[moving], scene.size)
    data = scene.data([*clips[1:], *modes])
    data["clips"][0]["name"] = clips[0].name
    data["first_clip"] = moving % len(clips)
    return data


class Animation:
    """An animated scene, which notebooks display and which can be saved to files."""

    def __init__(self, data: dict[str, Any]):
        self.data = data

    def html(self) -> str:
        """Return the scene as an HTML page."""
        return page(self.data)

    def save(self, path: str | Path, at: float | None = None) -> Path:
        """Write the animation as .html, .mp4 or .gif, or one instant as .png: at `at` seconds, by
        default the start.
        """
        target = Path(path)
        if target.suffix.lower() == ".png":
            from kinetree.models.scene.video import instant, write_picture

            return write_picture(self.data, target, instant(self.data, at))
        if target.suffix.lower() in VIDEOS:
            from kinetree.models.scene.video import write_video

            return write_video(self.data, target)
        if target.suffix.lower() not in (".html", ".htm"):
            raise ValueError(
                f"{target.name}: expected a name that ends in .html, .png, {', '.join(VIDEOS)}"
            )
        write_text(target, self.html())
        return target

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{escape(self.html())}" style="width:100%;height:{HEIGHT}px;border:1px solid #8884;border-radius:8px"></iframe>'

    def __repr__(self) -> str:
        return f"Animation({self.data['name']!r}, {len(self.data['bodies'])} bodies)"
