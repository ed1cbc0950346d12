"""Reports for people: tables, plots and HTML pages."""
