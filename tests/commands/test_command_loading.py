"""Only what a line asks for is read before it begins; errors and helps know all commands."""

import subprocess
import sys

from kinetree.scripts.cli import command_line, main
from kinetree.scripts.commands import asked_for, found

LOOK = """
import sys
from kinetree.scripts.cli import main
main(["check", "lib:regulator"])
print(*(name for name in sys.modules if name.startswith("kinetree.scripts.commands.")))
"""


def test_only_the_module_of_the_command_is_imported():
    finished = subprocess.run(
        [sys.executable, "-c", LOOK], check=True, capture_output=True, text=True
    )
    assert finished.stdout.split("\n")[1].split() == ["kinetree.scripts.commands.check"]


def test_command_loaded_alone_equals_registry_entry():
    commands = found()
    for name, function in commands.items():
        alone = asked_for(name)
        assert alone[name] is function and len(alone) in (1, len(commands)), name
        assert command_line([name]).commands[name].name == name


def test_unknown_command_loads_all_commands():
    for first in ("", "--help", "chekc", "import_robot", "__init__", "../check"):
        assert asked_for(first) == found(), first


def test_kinetree_without_arguments_prints_help(capsys):
    assert main([]) == 2
    told = capsys.readouterr()
    assert "linearize" in told.out and not told.err
    assert main(["--nothing"]) == 2
    assert "See kinetree --help" in capsys.readouterr().err
