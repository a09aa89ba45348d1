"""Table -> table: pure functions, one file for each question."""
