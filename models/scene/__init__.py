"""What a mechanism looks like: shapes, what is drawn where none is given, motion, and a page that shows it in three dimensions."""
