"""The WebAssembly component of an archive: the engine's core module, the model as data of a second
module, and the interfaces of FMI 3.0.

The component is assembled without a compiler, since one engine module serves all models.
"""

from __future__ import annotations

from kinetree.fmu.component import encoding as e
from kinetree.fmu.component.types import EQUAL, RESOURCE, Scope
from kinetree.fmu.component.world import (
    DRAFT,
    INTERFACES,
    LOG_MESSAGE,
    PACKAGE,
    TYPES,
    Interface,
    fields,
)

PAGES = 64  # of 64 KiB: the memory at the beginning, which the engine's module is linked for
MANIFEST = "extra/org.modelica.fmi-ls-wasm/manifest.xml"
FLAT = {"string": "ii", "list": "ii", "bool": "i"}


def component(engine: bytes, model: bytes) -> bytes:
    """Return the bytes of the component of a model, from the engine's core module and the model's
    bytes.
    """
    return Assembly(engine, model).written()


def manifest() -> bytes:
    """Return the file by which an archive declares that it follows the draft of the layered
    standard.
    """
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<fmiLayeredStandardManifest xmlns:fmi-ls="http://fmi-standard.org/fmi-ls-manifest"
    fmi-ls:fmi-ls-name="org.modelica.fmi-ls-wasm"
    fmi-ls:fmi-ls-version="{DRAFT}"
    fmi-ls:fmi-ls-description="FMI Layered Standard for WebAssembly"/>
""".encode()


class Assembly:
    """The sections of a component, and the counters of its index spaces."""

    def __init__(self, engine: bytes, model: bytes):
        self.engine, self.model = engine, model
        self.sections: list[bytes] = [e.COMPONENT]
        self.types = Scope(
            lambda content: self.sections.append(e.section(e.TYPE, e.vector([content])))
        )
        self.core_functions = self.functions = self.instances = self.core_instances = 0
        self.components = 0

    def written(self) -> bytes:
        """Assemble all sections and return the bytes of the component."""
        self.import_types()
        self.import_log()
        self.instantiate_cores()
        self.export_common()
        for interface in INTERFACES:
            self.export(interface)
        return b"".join(self.sections)

    def core_function(self, section: bytes) -> int:
        """Append a section that defines a core function and return the function's index."""
        self.sections.append(section)
        self.core_functions += 1
        return self.core_functions - 1

    def core_instance(self, section: bytes) -> int:
        self.sections.append(section)
        self.core_instances += 1
        return self.core_instances - 1

    def import_instance(self, name: str, kind: int) -> int:
        """Return the index of an imported instance of a type."""
        content = e.external(PACKAGE.format(name)) + b"\x05" + e.number(kind)
        self.sections.append(e.section(e.IMPORT, e.vector([content])))
        self.instances += 1
        return self.instances - 1

    def import_types(self) -> None:
        """Import the interface of types, to whose names all others refer."""
        lines: list[bytes] = []
        scope = Scope(lambda content: lines.append(b"\x01" + content))
        for name, text in TYPES.items():
            index = scope.index(text)
            lines.append(exported_type(name, EQUAL + e.number(index)))
            scope.named[name] = scope.add()
        instance = self.import_instance("types", self.types.new(b"\x42" + e.vector(lines)))
        for name in TYPES:
            self.sections.append(e.alias(instance, e.TYPE_KIND, name))
            self.types.named[name] = self.types.add()

    def import_log(self) -> None:
        """Import the callback for log messages in the form that core modules call."""
        status = e.number(1) + e.number(self.types.named["status"])
        lines = [b"\x02" + e.TYPE_KIND + b"\x02" + status]
        scope = Scope(lambda content: lines.append(b"\x01" + content))
        lines.append(exported_type("status", EQUAL + e.number(scope.add())))
        scope.named["status"] = scope.add()
        kind = scope.function(f"{LOG_MESSAGE} ->")
        lines.append(b"\x04" + e.external("log-message") + b"\x01" + e.number(kind))
        kind = self.types.new(b"\x42" + e.vector(lines))
        self.sections.append(
            e.alias(self.import_instance("callbacks", kind), e.FUNCTION, "log-message")
        )
        self.functions += 1

    def instantiate_cores(self) -> None:
        """Instantiate the core modules of memory, engine and model; define the resources by the
        engine's functions.
        """
        for module in (e.memory_module(PAGES), self.engine, model_module(self.model)):
            self.sections.append(bytes([e.CORE_MODULE]) + e.sized(module))
        memory = self.core_instance(e.core_instance(0, []))
        self.sections.append(e.core_alias(memory, e.CORE_MEMORY, "memory"))
        tell = self.core_function(e.lowered(0, 0))
        callbacks = self.core_instance(e.core_exports([("log-message", e.CORE_FUNCTION, tell)]))
        engine = self.core_instance(e.core_instance(1, [("env", memory), ("callbacks", callbacks)]))
        free = self.core_function(e.core_alias(engine, e.CORE_FUNCTION, "free"))
        makers = []
        for interface in INTERFACES:
            content = b"\x3f\x7f\x01" + e.number(free)
            kind = self.types.named[interface.resource] = self.types.new(content, again=False)
            makers.append(self.core_function(e.maker_of_handles(kind)))
        handles = self.core_instance(
            e.core_exports(
                [
                    (interface.resource, e.CORE_FUNCTION, maker)
                    for interface, maker in zip(INTERFACES, makers, strict=True)
                ]
            )
        )
        given = [("env", memory), ("engine", engine), ("handles", handles)]
        self.front = self.core_instance(e.core_instance(2, given))
        self.inside = engine
        self.realloc = self.core_function(e.core_alias(engine, e.CORE_FUNCTION, "realloc"))

    def lift(self, instance: int, name: str, kind: int) -> int:
        """Lift a core function to a component function of type `kind`; return its index."""
        core = self.core_function(e.core_alias(instance, e.CORE_FUNCTION, name))
        self.sections.append(e.lifted(core, 0, self.realloc, kind))
        self.functions += 1
        return self.functions - 1

    def export_common(self) -> None:
        kind = "-> string"
        version = self.lift(self.inside, "get-version", self.types.function(kind))
        nested = Nested()
        nested.function("get-version", kind)
        self.export_nested("common", nested, {}, [version])

    def export(self, interface: Interface) -> None:
        """Export an interface: each function is lifted from the engine, and a nested component
        gives all of them their names.
        """
        own = self.types.all_of(interface.types)
        nested = Nested()
        given = {name: self.types.named[name] for name in TYPES} | own
        nested.types({**TYPES, **interface.types}, interface.resource)
        given[interface.resource] = self.types.named[interface.resource]
        functions = []
        for name, text in signatures(interface).items():
            core = name.rpartition(".")[2]
            inside = self.front if core == interface.instantiate else self.inside
            functions.append(self.lift(inside, core, self.types.function(text)))
            nested.function(name, text)
        self.export_nested(interface.name, nested, given, functions)

    def export_nested(
        self, name: str, nested: Nested, types: dict[str, int], functions: list[int]
    ) -> None:
        """Append a nested component, instantiate it with types and functions, and export the
        instance.
        """
        self.sections.append(bytes([e.NESTED]) + e.sized(nested.written()))
        given = [(f"type-{key}", e.TYPE_KIND, index) for key, index in types.items()]
        given += [(f"function-{k}", e.FUNCTION, index) for k, index in enumerate(functions)]
        self.sections.append(e.instance_of(self.components, given))
        self.components += 1
        content = (
            e.external(PACKAGE.format(name)) + e.INSTANCE_KIND + e.number(self.instances) + b"\x00"
        )
        self.sections.append(e.section(e.EXPORT, e.vector([content])))
        self.instances += 2  # the one that was made, and the name that the export gives it


class Nested:
    """A component that re-exports its imported types and functions under the names of an interface."""

    def __init__(self) -> None:
        self.beginning: list[bytes] = []
        self.imports: list[bytes] = []
        self.exports: list[bytes] = []
        self.kinds: list[tuple[str, str]] = []
        self.named: dict[str, str] = {}
        self.resource = ""

    def types(self, types: dict[str, str], resource: str) -> None:
        """Set the types, by name with their definitions, and the resource."""
        self.named, self.resource = types, resource

    def function(self, name: str, kind: str) -> None:
        """Add a function of the component with its type."""
        self.kinds.append((name, kind))

    def written(self) -> bytes:
        """Return the bytes of the component: imports of types and functions, then their exports."""
        sections = [e.COMPONENT]
        scope = Scope(lambda content: sections.append(e.section(e.TYPE, e.vector([content]))))

        def give(kind: int, content: bytes) -> None:
            sections.append(e.section(kind, e.vector([content])))

        for name, text in self.named.items():
            bound = EQUAL + e.number(scope.index(text))
            give(e.IMPORT, e.external(f"type-{name}") + b"\x03" + bound)
            scope.named[name] = scope.add()
        if self.resource:
            give(e.IMPORT, e.external(f"type-{self.resource}") + b"\x03" + RESOURCE)
            scope.named[self.resource] = scope.add()
        for k, (_, kind) in enumerate(self.kinds):
            index = e.number(scope.function(kind))
            give(e.IMPORT, e.external(f"function-{k}") + b"\x01" + index)
        for name in (*self.named, *filter(None, [self.resource])):
            give(
                e.EXPORT,
                e.external(name) + e.TYPE_KIND + e.number(scope.named[name]) + b"\x00",
            )
            scope.named[name] = scope.add()
        scope.made.clear()
        for k, (name, kind) in enumerate(self.kinds):
            told = b"\x01\x01" + e.number(scope.function(kind))
            give(e.EXPORT, e.external(name) + e.FUNCTION + e.number(k) + told)
        return b"".join(sections)


def exported_type(name: str, bound: bytes) -> bytes:
    """Return the declaration of an exported type inside an instance type."""
    return b"\x04" + e.external(name) + b"\x03" + bound


def signatures(interface: Interface) -> dict[str, str]:
    """Return the types of the functions of an interface by their full names."""
    resource = interface.resource
    made = f"{interface.instantiation} -> option<own<{resource}>>"
    found = {f"[static]{resource}.{interface.instantiate}": made}
    for name, text in interface.methods.items():
        comma = "" if text.startswith("->") else ","
        found[f"[method]{resource}.{name}"] = f"self: borrow<{resource}>{comma} {text}"
    return found


def flat(interface: Interface) -> str:
    """Return the parameters of an instantiation flattened to core types, one letter each."""
    kinds = (kind.partition("<")[0] for _, kind in fields(interface.instantiation))
    return "".join(FLAT[kind] for kind in kinds)


def model_module(model: bytes) -> bytes:
    """Return the core module of a model: it starts the engine, passes it the model, and creates
    handles of new instances.
    """
    pages = b"\x00" + e.number(PAGES)
    parameters = [flat(interface) for interface in INTERFACES]
    types = [e.functype(""), e.functype("i", "i"), *(e.functype(p, "i") for p in parameters)]

    def imported(module: str, what: str, content: bytes) -> bytes:
        return e.name(module) + e.name(what) + content

    imports = [
        imported("env", "memory", b"\x02" + pages),
        imported("engine", "_initialize", b"\x00" + e.number(0)),
        imported("engine", "model-room", b"\x00" + e.number(1)),
        *(
            imported("engine", each.instantiate, b"\x00" + e.number(2 + k))
            for k, each in enumerate(INTERFACES)
        ),
        *(imported("handles", each.resource, b"\x00" + e.number(1)) for each in INTERFACES),
    ]
    count = len(INTERFACES)
    first = 2 + 2 * count  # of the functions of this module
    size = e.signed(len(model))
    begin = (
        call(0) + b"\x41" + size + call(1) + b"\x41\x00\x41" + size
        + b"\xfc\x08\x00\x00\x0b"  # memory.init of data 0, end
    )  # fmt: skip
    bodies = [b"\x00" + begin]
    for k, given in enumerate(parameters):
        bodies.append(handle_maker(len(given), 2 + k, 2 + count + k))
    shown = [
        e.name(each.instantiate) + e.CORE_FUNCTION + e.number(first + 1 + k)
        for k, each in enumerate(INTERFACES)
    ]
    kinds = [e.number(0), *(e.number(2 + k) for k in range(count))]
    return (
        e.MODULE
        + e.section(1, e.vector(types))
        + e.section(2, e.vector(imports))
        + e.section(3, e.vector(kinds))
        + e.section(7, e.vector(shown))
        + e.section(8, e.number(first))
        + e.section(12, e.number(1))
        + e.section(10, e.vector(e.sized(body) for body in bodies))
        + e.section(11, e.vector([b"\x01" + e.sized(model)]))
    )


def call(function: int) -> bytes:
    return b"\x10" + e.number(function)


def handle_maker(parameters: int, function: int, handle: int) -> bytes:
    """Return the body of a core function that calls the engine's instantiation and replaces the
    address in its result by a handle, if there is one.
    """
    answer = e.number(parameters)  # the local variable behind the parameters
    get = b"\x20" + answer
    return (
        e.vector([e.number(1) + b"\x7f"])
        + b"".join(b"\x20" + e.number(k) for k in range(parameters))
        + call(function)
        + b"\x22" + answer
        + b"\x2d\x00\x00"  # is there one: the byte at the address
        + b"\x04\x40" + get + get + b"\x28\x02\x04" + call(handle) + b"\x36\x02\x04" + b"\x0b"
        + get + b"\x0b"
    )  # fmt: skip
