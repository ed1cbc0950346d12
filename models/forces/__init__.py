"""Force elements: `kinds` says all about each of them, one file a kind; what several kinds share lies beside it."""
