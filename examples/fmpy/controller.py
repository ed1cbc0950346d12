"""A controller of one's own as an FMU: pythonfmu build -f controller.py"""

from pythonfmu import Fmi2Causality, Fmi2Slave, Fmi2Variability, Real


class Controller(Fmi2Slave):
    """Proportional-derivative control of an angle, with a limited torque."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.setpoint, self.angle, self.speed, self.torque = 0.8, 0.0, 0.0, 0.0
        self.kp, self.kd, self.limit = 400.0, 120.0, 250.0
        for name in ("setpoint", "angle", "speed"):
            self.register_variable(Real(name, causality=Fmi2Causality.input))
        for name in ("kp", "kd", "limit"):
            self.register_variable(
                Real(name, causality=Fmi2Causality.parameter, variability=Fmi2Variability.tunable)
            )
        self.register_variable(Real("torque", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        torque = self.kp * (self.setpoint - self.angle) - self.kd * self.speed
        self.torque = min(max(torque, -self.limit), self.limit)
        return True
