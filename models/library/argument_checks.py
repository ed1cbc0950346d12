"""Arguments of generators: what they accept."""


def whole(name: str, value: object, least: int, most: int) -> int:
    """Return a whole number in a range."""
    if (
        isinstance(value, bool)
        or not isinstance(value, (int, float))
        or value != int(value)
        or not least <= value <= most
    ):
        raise ValueError(f"{name} is {value!r}, expected a whole number from {least} to {most}")
    return int(value)


def several(number: int, what: str) -> str:
    """Return a number with its noun, in plural if it is not 1."""
    return f"{number} {what}" + "s" * (number != 1)
