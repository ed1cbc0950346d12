"""Registry of commands: each module of this folder is one command of `kinetree`."""

import gc
from collections.abc import Callable
from importlib import import_module
from pkgutil import iter_modules
from typing import NamedTuple


class Command(NamedTuple):
    """A command of `kinetree`; typer reads its arguments and help from the function."""

    name: str
    function: Callable
    place: int  # in the list of `kinetree --help`: commands with small numbers stand first


def found() -> dict[str, Callable]:
    """Return all commands by name, in the order of the help."""
    commands: list[Command] = [
        import_module(f"{__name__}.{module.name}").COMMAND for module in iter_modules(__path__)
    ]
    names = [command.name for command in commands]
    if len(set(names)) < len(names):
        raise ValueError(f"two commands have one name: {sorted(names)}")
    return {
        command.name: command.function
        for command in sorted(commands, key=lambda command: (command.place, command.name))
    }


def asked_for(name: str) -> dict[str, Callable]:
    """Return the named command only, so that it starts quickly, or all commands if there is no such
    module.
    """
    if name.isidentifier() and name in {module.name for module in iter_modules(__path__)}:
        command: Command = import_module(f"{__name__}.{name}").COMMAND
        if command.name == name:
            return {name: command.function}
    return found()


gc.set_threshold(
    100_000
)  # what commands make while they start stays: to look through it for garbage takes a tenth of the time
