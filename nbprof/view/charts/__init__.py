"""Table -> matplotlib Axes, one file for each table."""
