"""The smallest pythonfmu slave: x' = -x by one Euler step per communication step; it measures the
cost of the calls alone.
"""

from pythonfmu import Fmi2Causality, Fmi2Slave, Real


class MinimalSlave(Fmi2Slave):
    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.x = 1.0
        self.register_variable(Real("x", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.x -= step_size * self.x
        return True
