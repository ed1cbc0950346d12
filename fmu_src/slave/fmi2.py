"""The slave for pythonfmu: FMI 2.0, co-simulation."""

import os
from xml.etree.ElementTree import parse

from pythonfmu import Fmi2Slave
from pythonfmu.enums import Fmi2Status

from kinetree.fmu.slave.core import BEFORE, ERROR, Core, Refused, answering
from kinetree.fmu.slave.reader import IDENTIFIER


class KinetreeSlave(Core, Fmi2Slave):
    def __init__(self, **kwargs):
        Fmi2Slave.__init__(self, **kwargs)
        self.modelName = IDENTIFIER
        self.open(self.resources)

    def to_xml(self, model_options=None):
        return parse(os.path.join(str(self.resources), "description.xml")).getroot()

    def say(self, level, text, category=None):
        """Log a message; the wrapper interprets it as a printf format."""
        self.log(text.replace("%", "%%"), Fmi2Status(level), category)

    @answering()
    def setup_experiment(self, start_time=0.0, stop_time=None, tolerance=None):
        self.allowed("SetupExperiment", BEFORE)
        self.setup(start_time, tolerance)

    @answering(lambda self, t, h: False)
    def do_step(self, current_time, step_size):
        self.step(current_time, step_size)
        return True

    @answering(lambda self, vrs: [0.0] * len(vrs))
    def get_real(self, vrs):
        return self.reals(vrs)

    @answering(lambda self, vrs: [0] * len(vrs))
    def get_integer(self, vrs):
        return self.integers(vrs)

    @answering(lambda self, vrs: [""] * len(vrs))
    def get_string(self, vrs):
        return self.texts(vrs)

    def get_boolean(self, vrs):
        self.say(ERROR, f"value references {list(vrs)}: no variable is a boolean")
        return [False] * len(vrs)

    @answering()
    def set_real(self, vrs, values):
        self.set_reals(vrs, values)

    @answering()
    def refuse_all(self, vrs, values):
        raise Refused(f"value references {list(vrs)}: only real variables can be set")

    set_integer = set_boolean = set_string = refuse_all
