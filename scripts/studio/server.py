"""Access control of the studio: requests from this machine only, with the token of the address."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

HOST = "127.0.0.1"
COOKIE = "kinetree_studio"  # and the port behind it: browsers share the cookies of all ports of a machine
Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


def free_port() -> int:
    """Return an unused network port."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return probe.getsockname()[1]


def new_token() -> str:
    return secrets.token_urlsafe(24)


class Door:
    """Accepts requests and web sockets with the token, given as ?token=... once and as a cookie
    from then on.

    Requests under other host names are refused, so that no page of another site can reach the
    studio by a name that resolves to this machine.
    """

    def __init__(self, app: App, token: str, port: int):
        self.app, self.token, self.cookie = app, token, f"{COOKIE}_{port}"
        self.hosts = {f"{HOST}:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        headers = {
            name.decode("latin-1").lower(): value.decode("latin-1")
            for name, value in scope["headers"]
        }
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        fresh = secrets.compare_digest(given.encode(), self.token.encode())
        known = any(
            secrets.compare_digest(each.encode(), self.token.encode())
            for each in cookies(headers.get("cookie", ""), self.cookie)
        )
        origin = headers.get("origin")
        at_home = headers.get("host", "") in self.hosts and (
            origin is None or urlsplit(origin).netloc in self.hosts
        )
        if not at_home or not (fresh or known):
            await refuse(scope, receive, send)
        elif fresh and not known and scope["type"] == "http":
            await self.app(scope, receive, with_cookie(send, self.cookie, self.token))
        else:
            await self.app(scope, receive, send)


def cookies(text: str, name: str) -> list[str]:
    """Return the values of a cookie in a request; cookies of other programs are ignored."""
    pairs = (each.partition("=") for each in text.split(";"))
    return [value.strip().strip('"') for key, _, value in pairs if key.strip() == name]


def with_cookie(send: Send, name: str, token: str) -> Send:
    """Return a send function that adds the cookie to the response."""

    async def adding(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            cookie = f"{name}={token}; HttpOnly; SameSite=Strict; Path=/"
            message["headers"] = [*message.get("headers", []), (b"set-cookie", cookie.encode())]
        await send(message)

    return adding


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer an unauthorised request without any content of the studio."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008})
        return
    await send(
        {
            "type": "http.response.start",
            "status": 403,
            "headers": [(b"content-type", b"text/plain; charset=utf-8")],
        }
    )
    await send(
        {
            "type": "http.response.body",
            "body": b"This studio opens with the address that its command printed.\n",
        }
    )
