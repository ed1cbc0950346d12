"""Expressions as immutable graphs with unique nodes, so that common subexpressions are shared.

All walks are loops: neither a long sum nor a hostile depth can exhaust the stack.
"""

from collections.abc import Container, Iterable, Iterator
from hashlib import blake2b
from weakref import WeakValueDictionary

from kinetree.solvers.layout import Op


class ExpressionError(ValueError):
    """An invalid expression; `column` counts from 1, None without a text."""

    def __init__(self, message: str, column: int | None = None):
        super().__init__(message if column is None else f"{message} (column {column})")
        self.message, self.column = message, column


class UnknownName(ExpressionError):
    """A name that is not defined where the expression is evaluated."""

    def __init__(self, name: str, hint: str):
        super().__init__(f"unknown name '{name}'{hint}")
        self.name = name


_known: WeakValueDictionary = WeakValueDictionary()


def mark_of(value: object) -> int:
    """Return a hash of the content of a node's field that is equal in all processes."""
    if isinstance(value, str):
        return int.from_bytes(
            blake2b(value.encode("utf-8", "surrogatepass"), digest_size=7).digest()
        )
    if isinstance(value, tuple):
        return hash(tuple(map(mark_of, value)))
    if isinstance(value, Node):
        return value.mark
    return hash(float(value))  # type: ignore[arg-type]


class Node:
    """A node of an expression graph; its kinds are Const, Name, Der, Operation and Lookup."""

    __slots__ = ("__weakref__", "found_names", "mark")
    found_names: frozenset[str]  # what `names` has found
    mark: int  # of its structure, the same in every process
    fields: tuple[str, ...] = ()
    args: tuple["Node", ...] = ()

    def __new__(cls, *values):
        key = (cls, *values)
        node = _known.get(key)
        if node is None:
            node = object.__new__(cls)
            for field, value in zip(cls.fields, values, strict=True):
                object.__setattr__(node, field, value)
            object.__setattr__(node, "mark", mark_of((cls.__name__, *values)))
            _known[key] = node
        return node

    def __setattr__(self, name, value):
        raise AttributeError("nodes are immutable")

    def __reduce__(self):  # copies and pickles arrive at the one object again
        return type(self), tuple(getattr(self, field) for field in self.fields)

    def __repr__(self):
        return f"{type(self).__name__}({', '.join(str(getattr(self, field)) for field in self.fields if field != 'args')})"


class Const(Node):
    __slots__ = fields = ("value",)
    value: float

    def __new__(cls, value: float):
        return super().__new__(cls, float(value) + 0.0)  # one zero


class Leaf(Node):
    """A node for a named value; `key` is its name in the register file."""

    __slots__ = fields = ("name",)
    name: str

    @property
    def key(self) -> str:
        return self.name


class Name(Leaf):
    __slots__ = ()


class Der(Leaf):
    """The time derivative of a named value."""

    __slots__ = ()

    @property
    def key(self) -> str:
        return f"der({self.name})"


class Operation(Node):
    __slots__ = fields = ("op", "args")
    op: Op


class Lookup(Node):
    """A lookup table, or a derivative of it, evaluated at one or two arguments."""

    __slots__ = fields = ("op", "table", "args")
    op: Op
    table: str


ZERO, ONE, TWO = Const(0.0), Const(1.0), Const(2.0)


def postorder(roots: Iterable[Node], known: Container[Node] = ()) -> Iterator[Node]:
    """Yield every node below the roots once, arguments first, without `known` nodes."""
    done: set[Node] = set()
    stack = list(reversed(tuple(roots)))
    while stack:
        node = stack[-1]
        if node in done or node in known:
            stack.pop()
            continue
        waiting = len(stack)
        for arg in reversed(node.args):
            if arg not in done and arg not in known:
                stack.append(arg)
        if len(stack) == waiting:
            stack.pop()
            done.add(node)
            yield node


def leaves(node: Node) -> list[Leaf]:
    """Return the named values an expression depends on, in order of appearance."""
    return [each for each in postorder((node,)) if isinstance(each, Leaf)]


def names(node: Node) -> frozenset[str]:
    """Return the keys of the named values an expression depends on: `gamma`, `der(gamma)`,
    `force('clamp')`.
    """
    try:
        return node.found_names
    except AttributeError:
        object.__setattr__(node, "found_names", frozenset(leaf.key for leaf in leaves(node)))
        return node.found_names


def tables(node: Node) -> frozenset[str]:
    """Return the names of the tables that an expression uses."""
    return frozenset(each.table for each in postorder((node,)) if isinstance(each, Lookup))
