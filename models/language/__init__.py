"""What tables of a description are made of: numbers and expressions, units, parts, errors."""
