"""One module per command; this table is what `kinetree --help` lists."""

from collections.abc import Callable

from kinetree.scripts.commands.bench import bench
from kinetree.scripts.commands.check import check
from kinetree.scripts.commands.cosim import cosim
from kinetree.scripts.commands.fmu import fmu
from kinetree.scripts.commands.identify import identify
from kinetree.scripts.commands.import_robot import import_robot
from kinetree.scripts.commands.info import info
from kinetree.scripts.commands.library import library
from kinetree.scripts.commands.new import new
from kinetree.scripts.commands.run import run
from kinetree.scripts.commands.statics import statics
from kinetree.scripts.commands.studio import studio
from kinetree.scripts.commands.study import study
from kinetree.scripts.commands.verify import verify
from kinetree.scripts.commands.view import view

COMMANDS: dict[str, Callable] = {
    "check": check,
    "info": info,
    "run": run,
    "statics": statics,
    "study": study,
    "identify": identify,
    "fmu": fmu,
    "verify": verify,
    "cosim": cosim,
    "view": view,
    "studio": studio,
    "new": new,
    "import": import_robot,
    "list": library,
    "bench": bench,
}
