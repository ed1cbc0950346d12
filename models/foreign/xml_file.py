"""Foreign XML files as trees, with limits: no document types, no entities, bounded nesting; and
where a file is no XML, for readers that repair such files without a word.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser
from xml.parsers import expat

from kinetree.models.foreign.robot import refused
from kinetree.models.language.plain_files import fault_of

LARGEST_XML = 64_000_000  # bytes
DEEPEST_XML = 60  # elements inside one another
PIECE = 1 << 20  # bytes


COMMENT = re.compile(rb"<!--.*?-->", re.DOTALL)
OF_UNCLOSED = (expat.errors.XML_ERROR_TAG_MISMATCH, expat.errors.XML_ERROR_NO_ELEMENTS)
SAID = {  # errors of expat in plainer words
    expat.errors.XML_ERROR_TAG_MISMATCH: "an end tag of another name",
    expat.errors.XML_ERROR_NO_ELEMENTS: "the file ends too early",
    expat.errors.XML_ERROR_JUNK_AFTER_DOC_ELEMENT: "more behind the end of its first element",
}
NOT_JUDGED = {  # errors of expat that are limits of this check: others read such encodings
    expat.errors.codes[expat.errors.XML_ERROR_UNKNOWN_ENCODING]
}


def xml_fault(text: bytes) -> tuple[int, str] | None:
    """Return the line and the kind of the first fault of a text that is no XML; None if it is XML.

    Accepted as in other readers of robots: name spaces without a declaration, blanks before the
    declaration, and two hyphens within a comment.
    """
    plain = COMMENT.sub(lambda found: b"\n" * found[0].count(b"\n"), text)
    begun = plain.lstrip()
    above = plain[: len(plain) - len(begun)].count(b"\n")
    parser = expat.ParserCreate()
    unclosed: list[tuple[str, int]] = []  # elements and their lines, the innermost last
    parser.StartElementHandler = lambda tag, _: unclosed.append(
        (tag, above + parser.CurrentLineNumber)
    )
    parser.EndElementHandler = lambda _: unclosed.pop()
    try:
        parser.Parse(begun, True)
    except expat.ExpatError as error:
        if error.code in NOT_JUDGED:
            return None
        text_of_expat = expat.ErrorString(error.code)
        said = f"what is no XML: {SAID.get(text_of_expat, text_of_expat)}"
        if unclosed:
            closed = "is not closed" if text_of_expat in OF_UNCLOSED else "is read"
            said += ", where <{}> of line {} {}".format(*unclosed[-1], closed)
        return above + error.lineno, said
    return None


def check_xml(path: Path, kind: str) -> None:
    """Raise ModelError with the line if a file is no XML; one that cannot be opened is left to its
    reader.
    """
    if (
        path.is_file()
        and not fault_of(path, LARGEST_XML)
        and (fault := xml_fault(path.read_bytes()))
    ):
        raise refused(str(path), fault[1], kind, line=fault[0])


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
        line, found = xml_fault(text) or (None, f"what is no XML: {error}")
        raise refused(str(path), found, kind, line=line) from None
    if root is None:
        raise refused(str(path), "an empty file", kind)
    return root
