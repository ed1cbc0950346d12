"""The key of compiled kernels: what the compiler sees of their sources."""

from kinetree.solvers.cache import hash_of_code

PLAIN = b"""
X = "a constant"


def area(r):
    return 3.0 * r * r
"""
DOCUMENTED = b'''"""Areas."""

X = "a constant"  # of this module


def area(r):
    """Return an area [m2]."""
    # nothing but a product
    return 3.0 * (r * r)


'''


def key(text: bytes) -> str:
    return hash_of_code([("module.py", text)])


def test_comment_and_docstring_changes_do_not_rebuild_the_engine():
    same = DOCUMENTED.replace(b"3.0 * (r * r)", b"3.0 * r * r")
    assert key(same) == key(PLAIN)
    assert key(same) == key(
        same.replace(b"Areas", b"Areas of circles").replace(b"# nothing but a product", b"")
    )
    assert key(same) == key(same.replace(b"\n\n\ndef", b"\n\ndef"))


def test_code_changes_rebuild_the_engine():
    kinds = [
        PLAIN,
        DOCUMENTED,
        PLAIN.replace(b"3.0", b"3.1"),
        PLAIN.replace(b"a constant", b"another"),
        PLAIN.replace(b"area", b"disc"),
    ]
    assert len({key(text) for text in kinds}) == len(kinds)
    assert hash_of_code([("a.py", PLAIN)]) != hash_of_code([("b.py", PLAIN)])
