"""Input and output of the command line: arguments, error messages, progress, files, glossary."""
