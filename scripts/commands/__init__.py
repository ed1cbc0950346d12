"""One module per command; this table is what `kinetree --help` lists."""

from collections.abc import Callable

from kinetree.scripts.commands.bench import bench
from kinetree.scripts.commands.check import check
from kinetree.scripts.commands.cosim import cosim
from kinetree.scripts.commands.equations import equations
from kinetree.scripts.commands.explain import explain
from kinetree.scripts.commands.fmu import fmu
from kinetree.scripts.commands.hil import hil
from kinetree.scripts.commands.identify import identify
from kinetree.scripts.commands.import_robot import import_robot
from kinetree.scripts.commands.info import info
from kinetree.scripts.commands.library import library
from kinetree.scripts.commands.linearize import linearize
from kinetree.scripts.commands.modelica import modelica
from kinetree.scripts.commands.new import new
from kinetree.scripts.commands.optimize import optimize
from kinetree.scripts.commands.run import run
from kinetree.scripts.commands.schema import schema
from kinetree.scripts.commands.statics import statics
from kinetree.scripts.commands.studio import studio
from kinetree.scripts.commands.study import study
from kinetree.scripts.commands.tune import tune
from kinetree.scripts.commands.verify import verify
from kinetree.scripts.commands.view import view

COMMANDS: dict[str, Callable] = {
    "check": check,
    "info": info,
    "run": run,
    "statics": statics,
    "linearize": linearize,
    "study": study,
    "optimize": optimize,
    "identify": identify,
    "equations": equations,
    "fmu": fmu,
    "modelica": modelica,
    "verify": verify,
    "cosim": cosim,
    "tune": tune,
    "hil": hil,
    "view": view,
    "studio": studio,
    "new": new,
    "import": import_robot,
    "explain": explain,
    "schema": schema,
    "list": library,
    "bench": bench,
}
