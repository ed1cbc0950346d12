"""Hardware in the loop: a native FMU stepped against the wall clock, its partner in another process or machine over UDP."""
