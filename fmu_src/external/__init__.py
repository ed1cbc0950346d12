"""Mechanisms as Modelica classes that call the compiled engine directly, without importing an FMU."""
