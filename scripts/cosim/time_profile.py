"""A value over time, linear between its points and constant outside."""

Profile = tuple[tuple[float, float], ...]


def value_at(profile: Profile, t: float) -> float:
    """Return the value of a profile at a time; zero if it has no points."""
    before = profile[0] if profile else (0.0, 0.0)
    for point in profile:
        if t < point[0]:
            width = point[0] - before[0]
            return before[1] + (point[1] - before[1]) * (
                (t - before[0]) / width if width > 0.0 else 1.0
            )
        before = point
    return before[1]


def slope_at(profile: Profile, t: float) -> float:
    """Return the time derivative of a profile just after a time."""
    for before, after in zip(profile, profile[1:]):
        if before[0] <= t < after[0]:
            return (after[1] - before[1]) / (after[0] - before[0])
    return 0.0
