"""Hostile descriptions are refused quickly and with a ModelError; whatever is fed in, nothing else is ever raised."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from regulator_description import REGULATOR, changed

from kinetree.models import ModelError
from kinetree.models.checks.loader import describe

PATIENCE = 1.0  # seconds of computing that a refusal may take


def nested(depth, inner, kind):
    value = inner
    for _ in range(depth):
        value = [value] if kind is list else {"a": value}
    return value


def laughs(depth=30):
    """A billion laughs: every level refers ten times to the one below."""
    value = ["ha"] * 10
    for _ in range(depth):
        value = [value] * 10
    return value


def self_containing():
    table = {"mass": 1}
    table["shape"] = table
    return table


DICTS = {
    "deep list": changed("bodies", "arm", "com", to=nested(100_000, 1, list)),
    "deep table": changed("chain", to=nested(100_000, 1, dict)),
    "laughs": changed("chain", to={"mass": laughs()}),
    "table in itself": changed("bodies", "arm", to=self_containing()),
    "million copies": changed("bodies", "c{i}", to={"copies": 10**6, "mass": 1}),
    "huge copies": changed("bodies", "c{i}", to={"copies": 10**400, "mass": 1}),
    "copies by power": changed("bodies", "c{i}", to={"copies": "9**9**9", "mass": 1}),
    "copies of much": changed(
        "forces",
        "c{i}",
        to={"copies": 10_000, "text": "x" * 20_000, "coordinate": "gamma", "value": 1},
    ),
    "copies of copies": changed(
        "stages",
        to=[{"copies": 10_000, "sequence": [{"name": "x" * 10_000, "ends": {"at": 1}}] * 100}],
    ),
    "huge exponent": changed("bodies", "arm", "mass", to="10**10**10**10"),
    "huge integer": changed("bodies", "arm", "mass", to=10**5000),
    "long text": changed("bodies", "arm", "mass", to="1+" * 1_000_000 + "1"),
    "long parentheses": changed("bodies", "arm", "mass", to="(" * 9_000 + "1" + ")" * 9_000),
    "long minus": changed("bodies", "arm", "mass", to="-" * 19_000 + "1"),
    "attribute": changed("bodies", "arm", "mass", to="().__class__.__bases__[0].__subclasses__()"),
    "import": changed("bodies", "arm", "mass", to="__import__('os').system('touch /tmp/owned')"),
    "lambda": changed("bodies", "arm", "mass", to="(lambda: 1)()"),
    "walrus": changed("bodies", "arm", "mass", to="(m2 := 3)"),
    "format": changed("bodies", "arm", "mass", to="f'{m2}'"),
    "comprehension": changed("bodies", "arm", "mass", to="[1 for i in m2]"),
    "nan": changed("bodies", "arm", "mass", to=float("nan")),
    "nan text": changed("bodies", "arm", "mass", to="nan"),
    "long name": changed("bodies", "b" * 1_000_000, to={"mass": 1}),
    "number as key": changed("bodies", 3, to={"mass": 1}),
    "object": changed("bodies", "arm", "mass", to=object()),
    "bytes": changed("bodies", "arm", "mass", to=b"1"),
    "many unknown keys": {f"key{k}": k for k in range(50_000)},
    "many unknown names": changed(
        "forces", to={f"f{k}": {"coordinate": f"g{k}", "value": f"u{k}"} for k in range(5000)}
    ),
    "parameter circle": changed(
        "parameters", to={f"p{k}": f"p{(k + 1) % 3000}" for k in range(3000)}
    ),
}


@pytest.mark.parametrize("name", DICTS)
def test_hostile_dicts_are_refused_quickly(name):
    begin = time.process_time()
    with pytest.raises(ModelError) as error:
        describe(DICTS[name])
    assert time.process_time() - begin < PATIENCE
    assert len(str(error.value)) < 100_000


FILES = {
    "deep.toml": "a = " + "[" * 100_000 + "]" * 100_000,
    "deeper.toml": "a = " + "{a = " * 50_000 + "1" + "}" * 50_000,
    "dots.toml": "a" + ".a" * 200_000 + " = 1",
    "spaced.toml": "a" + ' . "a"' * 100_000 + " = 1",
    "header.toml": "[a" + ".a" * 200_000 + "]",
    "integer.toml": "a = " + "9" * 1_000_000,
    "hexadecimal.toml": "[bodies.a]\nmass = 0x" + "f" * 1_000_000,
    "large.toml": "# " + "x" * 9_000_000,
    "text.toml": "name = '" + "x" * 5_000_000 + "'",
    "deep.json": "[" * 100_000 + "]" * 100_000,
    "deeper.json": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "integer.json": '{"a": ' + "9" * 1_000_000 + "}",
    "infinity.json": '{"bodies": {"a": {"mass": Infinity}}}',
    "empty.json": "",
}


@pytest.mark.parametrize("name", FILES)
def test_hostile_files_are_refused_quickly(name, tmp_path):
    path = tmp_path / name
    path.write_text(FILES[name])
    begin = time.process_time()
    with pytest.raises(ModelError):
        describe(path)
    assert time.process_time() - begin < PATIENCE


def test_numpy_numbers_are_accepted():
    description = changed("bodies", "arm", "com", to=np.array([0, 0.4, 0]))
    description["bodies"]["arm"]["mass"] = np.float64(2)
    assert describe(description, m2=np.float32(2)).bodies["arm"].com == (0, 0.4, 0)


def paths(value, path=()):
    """Every path of the regulator."""
    if path:
        yield path
    inner = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, each in inner:
        yield from paths(each, (*path, key))


SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=20), st.binary(max_size=5),
    st.sampled_from(["gamma", "m2", "k*t", "der(gamma)", "{i}", "x", "ball", "ground", "table('curve', 1)", "1e400", "((", "if(1,2,3)", "A"]),
)  # fmt: skip
KEYS = st.one_of(
    st.text(max_size=5),
    st.sampled_from(
        [
            "copies",
            "mass",
            "type",
            "value",
            "kind",
            "between",
            "coordinate",
            "ends",
            "sequence",
            "start",
            "x",
            "y{i}",
        ]
    ),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(list(paths(REGULATOR))), VALUES), min_size=1, max_size=4),
    st.booleans(),
)
def test_random_change_gives_a_description_or_a_model_error(changes, add):
    description = changed("name", to="regulator")
    for path, value in changes:
        table = description
        try:
            for part in path[:-1]:
                table = table[part]
            table[f"{path[-1]}2" if add and isinstance(table, dict) else path[-1]] = value
        except (TypeError, KeyError, IndexError):
            continue
    try:
        describe(description)
    except ModelError as error:
        assert error.problems
        assert all(str(problem).count("\n") == 0 for problem in error.problems)


@settings(max_examples=100, deadline=None)
@given(VALUES, st.dictionaries(st.text(max_size=5), SCALARS, max_size=2))
def test_arbitrary_source_is_refused_cleanly(source, overrides):
    try:
        describe(source, **overrides)
    except ModelError as error:
        assert str(error)
