"""The content of FMU archives."""
