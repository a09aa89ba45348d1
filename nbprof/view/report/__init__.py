"""The tables of a trace -> text, static HTML, markdown."""

from __future__ import annotations

from nbprof.view.report.finished import Report, report
from nbprof.view.report.html import document

__all__ = ["Report", "document", "report"]
