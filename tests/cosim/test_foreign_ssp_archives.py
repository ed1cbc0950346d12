"""Archives that others made: what is believed of them, to the last byte; connections through connectors of systems in them."""

from pathlib import Path
from typing import Any
from zipfile import ZipInfo

import pytest

from kinetree.scripts.ssp.structure import Connector
from kinetree.scripts.ssp.wiring import Edge, direct
from kinetree.scripts.terminal import foreign_archives as archive
from kinetree.scripts.terminal.error_messages import BadInput

HERE = Path("a.ssp")


def member(name: str = "a", packed: int = 1, unpacked: int = 1) -> ZipInfo:
    info = ZipInfo(name)
    info.compress_size, info.file_size = packed, unpacked
    return info


@pytest.mark.parametrize(
    ("good", "wrong", "said"),
    [
        (
            [member()] * archive.MOST_FILES,
            [member()] * (archive.MOST_FILES + 1),
            f"{archive.MOST_FILES + 1} files, expected at most",
        ),
        (
            [member("b/" + "a" * archive.LONGEST_NAME)],
            [member("a" * (archive.LONGEST_NAME + 1))],
            "has a part of more than",
        ),
        (
            [member("a", 1, archive.ALWAYS_UNPACKED)],
            [member("a", 1, archive.ALWAYS_UNPACKED + 1)],
            "1 bytes would become 50000001",
        ),
        (
            [member("a", 10**6, 10**6 * archive.STRETCH)],
            [member("a", 10**6, 10**6 * archive.STRETCH + 1)],
            "an archive like this is not unpacked",
        ),
        (
            [member("a", 10**9, 10**9)] * 2,
            [member("a", 10**9, 10**9), member("b", 10**9, 10**9 + 1)],
            "would become 2000000001",
        ),
        ([member("b/c")], [member("../c")], "leads out of it"),
        ([member("b/..c")], [member("b/../c")], "leads out of it"),
    ],
    ids=["files", "names", "small ones", "stretched", "large", "up", "up and down"],
)
def test_archive_limits_are_inclusive(good: list[ZipInfo], wrong: list[ZipInfo], said: str):
    """What lies on a bound is taken; one file, character or byte more is not."""
    archive.check_members(HERE, good)
    with pytest.raises(BadInput, match=said):
        archive.check_members(HERE, wrong)


@pytest.mark.parametrize("name", ["/a", "C:a", "C:/a", "\\a", "..\\a", "a/..", "", "a\0b"])
def test_ssp_file_names_cannot_leave_the_folder_on_any_system(name: str):
    assert not archive.stays(name)


def test_ssp_links_are_refused_and_plain_files_accepted():
    info = member("a")
    for mode, link in ((0o100644, False), (0o120777, True)):
        info.external_attr = mode << 16
        if link:
            with pytest.raises(BadInput, match="'a' is a link"):
                archive.check_members(HERE, [info])
        else:
            archive.check_members(HERE, [info])


def ends(**kinds: str) -> dict[Any, Connector]:
    return {
        tuple(place.split("_")): Connector(place.split("_")[1], kind)
        for place, kind in kinds.items()
    }  # type: ignore[misc]


def test_nested_connection_factors_are_multiplied():
    """a -> outer -> inner -> b, each factor * start + offset: 2x + 1, then 3y + 5, then -z + 7 is -6x - 1; one plain forbids conversion."""
    places = ends(a_y="output", b_u="input", b_v="input", outer_p="input", inner_q="input")
    edges = [
        Edge(("a", "y"), ("outer", "p"), 2.0, 1.0),
        Edge(("outer", "p"), ("inner", "q"), 3.0, 5.0, True),
        Edge(("inner", "q"), ("b", "u"), -1.0, 7.0),
    ]
    systems, refuse = {"outer", "inner", ""}, BadInput
    assert direct(edges, places, {"a", "b"}, systems, refuse) == [
        Edge(("a", "y"), ("b", "u"), -6.0, -1.0, True)
    ]
    plain = Edge(("a", "y"), ("b", "v"), 4.0, -2.0)
    assert direct([*edges, plain], places, {"a", "b"}, systems, refuse)[1] == plain
    fed = [Edge(("", "in"), ("b", "u"))]
    assert direct(fed, places, {"a", "b"}, systems, refuse) == [], (
        "what comes from outside keeps its start value"
    )
    round_about = [
        Edge(("outer", "p"), ("inner", "q")),
        Edge(("inner", "q"), ("outer", "p")),
        Edge(("inner", "q"), ("b", "u")),
    ]
    assert direct(round_about, places, {"a", "b"}, systems, refuse) == [], (
        "a circle of connectors feeds nothing"
    )
    for wrong, said in (
        ([Edge(("b", "u"), ("a", "y"))], "leads to an output"), ([edges[0], edges[0]], "two connections lead to outer.p"),
        ([Edge(("c", "y"), ("b", "u"))], "no element 'c'"), ([Edge(("a", "x"), ("b", "u"))], "component 'a' has no connector 'x'"),
    ):  # fmt: skip
        with pytest.raises(BadInput, match=said):
            direct(wrong, places, {"a", "b"}, systems, refuse)
