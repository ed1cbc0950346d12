"""Help texts of the functions and constants of expressions."""

MEANINGS = {
    "sin": "sin(x), x in rad", "cos": "cos(x), x in rad", "tan": "tan(x), x in rad", "asin": "asin(x) in rad", "acos": "acos(x) in rad",
    "atan": "atan(x) in rad", "atan2": "atan2(y, x) in rad, all four quadrants", "sinh": "sinh(x)", "cosh": "cosh(x)", "tanh": "tanh(x)",
    "exp": "exp(x)", "log": "log(x), natural", "sqrt": "sqrt(x)", "abs": "abs(x)", "sign": "sign(x): -1, 0 or 1", "floor": "floor(x)",
    "ceil": "ceil(x)", "pow": "pow(x, y), also x**y", "if": "if(condition, a, b): a where the condition holds, else b",
    "min": "min(a, b, ...)", "max": "max(a, b, ...)", "table": "table('NAME', x) or table('NAME', x, y): a value of [tables.NAME]",
    "der": "der(NAME): rate of a coordinate or state; der(der(NAME)) its acceleration, in outputs, states and stages",
    "force": "force('NAME'): value of a force element, in outputs, states and stages",
    "reaction": "reaction('JOINT'): magnitude of the force in a joint; reaction('JOINT')[1] to [6] force and moment on the child, its axes",
    "pi": "3.14159...", "and": "a and b", "or": "a or b", "not": "not a",
}  # fmt: skip
NAMES = {
    "t": "the time [s]", "stage_start": "the time at which the present stage began [s]",
    "ground.x": "place of a contact, in heights of terrains; also ground.y, ground.z [m]",
}  # fmt: skip
