"""Builds FMU archives: variables, model description, payload, documentation, licences."""
