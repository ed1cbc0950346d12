"""Instructions of the register machine and the records of its tables."""

from enum import IntEnum


class Op(IntEnum):
    """Instructions of the register machine: dst = a op b (c)."""

    COPY = 0
    ADD = 1
    SUB = 2
    MUL = 3
    DIV = 4
    POW = 5
    NEG = 6
    SIN = 7
    COS = 8
    TAN = 9
    ASIN = 10
    ACOS = 11
    ATAN = 12
    ATAN2 = 13
    SINH = 14
    COSH = 15
    TANH = 16
    EXP = 17
    LOG = 18
    SQRT = 19
    ABS = 20
    SIGN = 21
    MIN = 22
    MAX = 23
    LT = 24
    LE = 25
    GT = 26
    GE = 27
    EQ = 28
    NE = 29
    AND = 30
    OR = 31
    NOT = 32
    IF = 33  # a != 0 ? b : c
    TABLE1 = 34  # table a (its index as a plain integer), at register b
    TABLE2 = 35  # table a, at registers b, c
    TABLE1_D = 36  # derivative of a one-variable table
    TABLE2_DX = 37
    TABLE2_DY = 38
    FLOOR = 39
    CEIL = 40
    MOD = 41
    TABLE1_DD = 42  # second derivative of a one-variable table
    # two steps in one, for values that nothing else reads: `models/expressions/registers.py` makes them of the above
    MUL_ADD = 43  # a*b + c
    MUL_SUB = 44  # a*b - c
    SUB_MUL = 45  # c - a*b
    GATE = 46  # a > 0 ? max(b, c) : c


PHASES = 5  # PARAMETER, TIME, STATE, ACCELERATION, ENERGY
