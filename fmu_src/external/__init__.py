"""Mechanisms as Modelica classes that call the compiled engine directly, without the import of an FMU."""
