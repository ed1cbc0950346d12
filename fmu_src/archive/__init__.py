"""What goes into the archive of an FMU."""
