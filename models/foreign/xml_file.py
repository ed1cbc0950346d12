"""Foreign XML files as trees, with limits: no document types, no entities, bounded nesting."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from kinetree.models.foreign.robot import refused

LARGEST_XML = 64_000_000  # bytes
DEEPEST_XML = 60  # elements inside one another
PIECE = 1 << 20  # bytes


def xml_tree(path: Path, kind: str) -> Element:
    """Return the root element of a file, with tags stripped of name spaces; raises ModelError
    otherwise.
    """
    try:
        if path.stat().st_size > LARGEST_XML:
            raise refused(str(path), f"{path.stat().st_size} bytes", f"at most {LARGEST_XML}")
        text = path.read_bytes()
    except OSError as error:
        raise refused(str(path), str(error.strerror), kind) from None
    if re.search(rb"<!(DOCTYPE|ENTITY)", text):
        raise refused(str(path), "a document type of its own", "plain XML")
    parser, depth = XMLPullParser(("start", "end")), 0
    root: Element | None = None
    try:
        for k in range(0, len(text), PIECE):
            parser.feed(text[k : k + PIECE])
            events: Any = parser.read_events()
            for event, element in events:
                depth += 1 if event == "start" else -1
                if depth > DEEPEST_XML:
                    raise refused(
                        str(path), "elements nested too deeply", f"at most {DEEPEST_XML} levels"
                    )
                if event == "start":
                    root = element if root is None else root
                    element.tag = str(element.tag).rpartition("}")[2]
        parser.close()
    except (ParseError, ValueError, LookupError) as error:
        raise refused(str(path), f"what is no XML: {error}", kind) from None
    if root is None:
        raise refused(str(path), "an empty file", kind)
    return root
