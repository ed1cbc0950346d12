"""The Panda arm held in a pose by a linear-quadratic regulator, while something pushes its fourth link: python lqr.py panda.urdf"""

import sys

import numpy as np
from scipy.linalg import solve_continuous_are

import kinetree

arm = [f"panda_joint{k}" for k in range(1, 8)]
pose = dict(zip(arm, [0.0, -0.6, 0.0, -2.2, 0.0, 1.6, 0.8], strict=True))
robot = kinetree.load(sys.argv[1], torques=True).starting(pose).compile()
motors = [f"{name}.torque" for name in arm]

q, u = robot.start()
hold = dict(zip(motors, robot.inverse_dynamics(0.0, q, u, 0.0 * u), strict=False))
linear = robot.linearize(0.0, q, inputs=hold)  # small motions about the pose, exactly
state = [*arm, *(f"der({name})" for name in arm)]
rows = [linear.states.index(name) for name in state]
columns = [linear.inputs.index(name) for name in motors]
A, B = linear.A[np.ix_(rows, rows)], linear.B[np.ix_(rows, columns)]
K = B.T @ solve_continuous_are(A, B, np.diag([900.0] * 7 + [1.0] * 7), 0.01 * np.eye(7)) / 0.01

stepper = robot.stepper(step=0.001, inputs=hold)
rest, torque = stepper.read(state), np.array(list(hold.values()))
while stepper.time < 3.0:
    push = np.array([0.0, 0.0, 0.0, 30.0 if stepper.time < 0.3 else 0.0, 0.0, 0.0, 0.0])
    for name, value in zip(motors, torque - K @ (stepper.read(state) - rest) + push, strict=True):
        stepper[name] = value
    stepper.advance()
print(f"off by {np.abs(stepper.read(arm) - rest[:7]).max():.1e} rad after {stepper.time:g} s")
