"""The tables of a trace -> text, static HTML, markdown."""
