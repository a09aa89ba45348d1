"""Table -> something to look at."""
