"""Starts the studio's web server on this machine."""

from __future__ import annotations

import asyncio
import socket
import webbrowser
from collections.abc import Callable, Mapping

from fastapi.responses import HTMLResponse
from nicegui import app, background_tasks, ui

from kinetree.scripts.studio.page import StudioPage
from kinetree.scripts.studio.server import HOST, Door
from kinetree.scripts.studio.session import Session

ICON = (
    "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'>"
    "<path d='M4 20 10 6l8 5' fill='none' stroke='%231f6fb5' stroke-width='2.4'/></svg>"
)


PAUSE = 0.05  # seconds between looks at the port


def listening(port: int) -> bool:
    """Return whether a port of this machine answers."""
    with socket.socket() as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


def serve(
    source: str,
    port: int,
    token: str,
    show: bool,
    ready: Callable[[str], None],
    settings: Mapping[str, float] | None = None,
) -> None:
    """Serve the page until the process ends; `ready` is called with its address."""
    session = Session(source, settings=dict(settings or {}))
    pages: dict[str, str] = {}

    @ui.page("/", title="Kinetree studio")
    def index() -> None:
        StudioPage(session, pages)

    @app.get("/scene/{key}")
    def scene(key: str) -> HTMLResponse:
        return HTMLResponse(pages.get(key, "<p>This scene is gone; run again.</p>"))

    address = f"http://{HOST}:{port}/?token={token}"
    app.add_middleware(Door, token=token, port=port)  # type: ignore[arg-type]

    async def announce() -> None:
        """Tell the address when the port answers; start-up handlers run before it does."""
        while not listening(port):
            await asyncio.sleep(PAUSE)
        ready(address)
        if show:
            webbrowser.open(address)

    app.on_startup(lambda: background_tasks.create(announce()))
    ui.run(
        host=HOST,
        port=port,
        show=False,
        reload=False,
        show_welcome_message=False,
        title="Kinetree studio",
        favicon=ICON.replace("%23", "#"),
    )
