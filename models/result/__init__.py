"""Results of a run: columns, events, tables, files, plots."""
