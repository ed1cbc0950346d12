"""A loop over a sliding mass, as hardware-in-the-loop scenarios write it."""

SCENARIO = """
mechanism = "m.json"
step = 0.01
stop_time = 3.0
[channel]
{channel}
[[loops]]
measure = "place"
command = "f"
setpoint = 1.0
kp = 8.0
kd = 4.0
filter = 0.02
"""
