"""A trace -> its report, which every front end can show.

In: a trace by the protocol of `schema`. Out: `Report`, whose formats are made when they are asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from nbprof import schema
from nbprof.view.frontend import shows_html
from nbprof.view.report.contents import Contents, contents
from nbprof.view.report.html import to_html
from nbprof.view.report.markdown import to_markdown
from nbprof.view.report.pictures import pictures
from nbprof.view.report.text import to_text


@dataclass(frozen=True)
class Report:
    """What took the time in a trace. Displays itself; `text`, `html` and `markdown` are strings."""

    contents: Contents = field(repr=False)

    @cached_property
    def text(self) -> str:
        """At most 100 columns wide, without control characters."""
        return to_text(self.contents)

    @cached_property
    def html(self) -> str:
        """A fragment that needs nothing from outside: style, pictures and script are in it."""
        return to_html(self.contents, pictures(self.contents))

    @cached_property
    def markdown(self) -> str:
        """GitHub-flavoured markdown."""
        return to_markdown(self.contents)

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__  # what a plain Python prompt shows

    def _repr_mimebundle_(
        self, include: Iterable[str] | None = None, exclude: Iterable[str] | None = None
    ) -> dict[str, str]:
        bundle = {"text/plain": self.text}
        wanted = "text/html" in set(include) if include is not None else shows_html()
        if wanted and "text/html" not in set(exclude or ()):
            bundle["text/html"] = self.html
        return bundle


def report(trace: schema.TraceLike, *, called: str) -> Report:
    """The report of `trace`; `called` is the expression by which the reader reaches it, for the hints."""
    return Report(contents(trace, called))
