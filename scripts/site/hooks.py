"""What MkDocs asks for while it builds: pages and scenes made from the code, moving scenes in the place of `<!-- scene: NAME -->`."""

from __future__ import annotations

import re
from typing import Any

from mkdocs.structure.files import File

from kinetree.scripts.site import gallery, generated

SCENE = re.compile(r"<!-- scene: ([\w-]+) -->")


def on_files(files: Any, config: Any) -> Any:
    """Generated files join those of docs/."""
    seen = [gallery.see(name, source) for name, source in gallery.sources().items()]
    made: dict[str, str | bytes] = {
        "api.md": generated.api(),
        "commands.md": generated.commands(),
        "changes.md": generated.changes(),
        "gallery.md": gallery.gallery(seen),
    }
    for one in seen:
        made |= {f"scenes/{one.name}.html": one.page, f"scenes/{one.name}.png": one.picture}
    for name, content in made.items():
        files.append(File.generated(config, name, content=content))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """A moving scene where a page asks for one."""
    up = "../" * page.file.src_uri.count("/")
    return SCENE.sub(lambda found: f'<iframe class="scene" src="{up}scenes/{found[1]}.html" title="Moving scene" loading="lazy"></iframe>', markdown)
