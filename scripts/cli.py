"""The command `kinetree`: one module per command under `commands/`; large packages are imported
when a command needs them.

Exit codes: 0 success, 1 simulation error, 2 bad input. Errors are readable lines on the standard
error output; --debug shows the traceback.
"""

import os
import sys
from typing import Annotated, Any

import typer
from typer.exceptions import Abort, Exit, TyperException

from kinetree.scripts.commands import asked_for
from kinetree.scripts.terminal.error_messages import exit_code, report

os.environ.setdefault(
    "PYDANTIC_DISABLE_PLUGINS", "__all__"
)  # to look for plugins is to read what every installed package tells of itself


# names of other tools -> command
MEANT = {
    "simulate": "run", "sim": "run", "solve": "run", "execute": "run", "validate": "check", "lint": "check",
    "export": "fmu", "build": "fmu", "pack": "fmu", "compile": "fmu", "equilibrium": "statics", "rest": "statics",
    "plot": "view", "show": "view", "animate": "view", "open": "studio", "gui": "studio", "edit": "studio",
    "optimise": "optimize", "fit": "identify", "calibrate": "identify", "linearise": "linearize", "modes": "linearize",
    "convert": "import", "init": "new", "create": "new", "install": "setup", "ls": "list", "help": "explain",
    "test": "verify", "cosimulate": "cosim", "couple": "cosim", "sweep": "study", "benchmark": "bench", "describe": "info",
}  # fmt: skip


def show_version(wanted: bool) -> None:
    """Print the version and exit, if --version is given."""
    if wanted:
        from importlib.metadata import version

        typer.echo(f"kinetree {version('kinetree')}")
        raise Exit(0)


def everything(
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the Python traceback if an error occurs.")
    ] = False,
    version: Annotated[
        bool,
        typer.Option("--version", help="Show the version.", callback=show_version, is_eager=True),
    ] = False,
) -> None:
    pass


def command_line(arguments: list[str]) -> Any:
    """Return the typer application with the requested command, or with all commands for the
    overview.

    Brackets in help texts, such as [report.plots], are escaped, since rich would drop them as
    markup.
    """
    app = typer.Typer(
        name="kinetree",
        help="Multibody mechanisms: describe, simulate, analyse and export them as FMUs.",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        callback=everything,
    )
    for name, function in asked_for(arguments[0] if arguments else "").items():
        texts = (
            {"ignore_unknown_options": True} if name == "explain" else {}
        )  # messages name options
        app.command(name, context_settings=texts)(function)
    made = typer.main.get_command(app)
    if not arguments or {"--help", "-h"} & {*arguments}:
        from rich.markup import escape

        for command in (made, *getattr(made, "commands", {}).values()):
            command.help = escape(command.help or "")
            for parameter in command.params:
                for key in ("help", "metavar"):
                    if isinstance(text := getattr(parameter, key, None), str):
                        setattr(parameter, key, escape(text))
    return made


def near_command(name: str) -> str:
    """Return the command most similar to an unknown name; empty if there is none."""
    from difflib import get_close_matches

    if list(asked_for(name)) == [name]:
        return ""
    known = list(asked_for(""))
    near = get_close_matches(name.lower(), [*known, *MEANT], 1, 0.6)
    return MEANT.get(near[0], near[0]) if near else ""


def main(arguments: list[str] | None = None) -> int:
    """Run a command line and return its exit code: 0 success, 1 simulation error, 2 bad input."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    debug = "--debug" in arguments
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        return (
            command_line(arguments).main(
                arguments, prog_name="kinetree", standalone_mode=False, obj=arguments
            )
            or 0
        )
    except Exit as finished:
        return finished.exit_code
    except TyperException as error:
        if arguments:  # alone, the help has been shown
            command = "kinetree" if arguments[0].startswith("-") else f"kinetree {arguments[0]}"
            near = near_command(arguments[0]) if command != "kinetree" else ""
            hint = f"; did you mean '{near}'? See kinetree --help" if near else ""
            message = error.format_message().removesuffix(".")
            message = message.split(". Did you mean")[0] if near else message
            print(f"kinetree: {message}{hint or f'. See {command} --help'}", file=sys.stderr)
        return 2
    except (KeyboardInterrupt, Abort):
        print("kinetree: interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        sys.stderr.close()
        return 0
    except Exception as error:
        if debug:
            raise
        report(error)
        return exit_code(error)


if __name__ == "__main__":
    sys.exit(main())
