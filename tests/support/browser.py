"""A headless Chromium that draws in three dimensions by software; tests that need it are skipped where there is none."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

FLAGS = [
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--disable-background-networking",
    "--no-first-run",
]
PATH = next(
    (
        found
        for name in ("chromium", "chromium-browser", "google-chrome")
        if (found := shutil.which(name))
    ),
    None,
)
PHONE, DESK = {"width": 390, "height": 780}, {"width": 1280, "height": 800}
COUNTED = "errors requests".split()

needs_browser = pytest.mark.skipif(
    PATH is None, reason="no Chromium on this machine: apt-get install chromium"
)


@contextmanager
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as play:
        opened = play.chromium.launch(executable_path=PATH, args=FLAGS)
        yield opened
        opened.close()


@contextmanager
def opened(
    shell: Any, path: Path, size: dict[str, int] = DESK, scheme: str = "light"
) -> Iterator[tuple[Any, list[str], list[str]]]:
    """A page of a file with what it asked of the network and what it complained about."""
    page = shell.new_page(viewport=size, color_scheme=scheme)
    requests: list[str] = []
    complaints: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    page.on(
        "console",
        lambda message: (
            complaints.append(message.text) if message.type in ("error", "warning") else None
        ),
    )
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function("window.kinetree")
    yield page, [url for url in requests if url != path.as_uri()], complaints
    page.close()
