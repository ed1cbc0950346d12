"""Hosts and harnesses of built FMUs."""
