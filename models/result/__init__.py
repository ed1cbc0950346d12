"""What a run leaves: columns, events, tables, files, pictures."""
