"""Input and output of the command line: arguments, messages, progress, files, glossary."""
