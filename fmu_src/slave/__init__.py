"""The pythonfmu slave: one script of the standard library, copied into the archive under a name of its own."""
