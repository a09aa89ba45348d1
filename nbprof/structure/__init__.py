"""What encloses, launched or marked each row of an events frame, without knowing where the frame came from.

In: an events frame. Out: masks, threads, times, launches, nesting, open regions and steps, the call tree, and the sums
and unions that tables are made of; all as arrays by row position.
"""

from __future__ import annotations

from nbprof.structure.calltree import CallTree, call_tree, part_tree

__all__ = ["CallTree", "call_tree", "part_tree"]
