"""Distinct stacks as a tree."""

from __future__ import annotations

import numpy as np

from nbprof.structure.stacks import stacks


def integers(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def test_no_rows_make_no_nodes() -> None:
    chains = stacks(integers(), integers(), integers())
    assert not len(chains.parents)
    assert not len(chains.depth_first(integers()))
    assert [*chains.levels()] == []


def test_rows_with_the_same_labels_from_the_top_share_a_node() -> None:
    # a(b, c(b)), a(b): the two b under a are one node, the b under c another; row 6 isn't asked for.
    parent = integers(-1, 0, 0, 2, -1, 4, -1)
    labels = integers(7, 1, 2, 1, 7, 1, 3)
    chains = stacks(np.arange(6), parent, labels)
    a, b, c, b_in_c = chains.of_row[[0, 1, 2, 3]]
    assert chains.of_row.tolist() == [a, b, c, b_in_c, a, b, -1]
    assert chains.parents[[a, b, c, b_in_c]].tolist() == [-1, a, a, c]
    assert chains.labels[[a, b, c, b_in_c]].tolist() == [7, 1, 2, 1]
    assert chains.depths[[a, b, c, b_in_c]].tolist() == [0, 1, 1, 2]
    # Own sums: a 1 + 16, b 2 + 32, c 4, b in c 8. Inner ones added: c 12, a 63.
    own = chains.sums(np.arange(6), 2 ** np.arange(6))
    assert own[[a, b, c, b_in_c]].tolist() == [17, 34, 4, 8]
    assert chains.with_inner(own)[[a, b, c, b_in_c]].tolist() == [63, 34, 12, 8]


def test_a_tree_reads_depth_first_and_larger_neighbours_first() -> None:
    # Roots 1 (size 5) and 2 (size 9, holds 3 of size 2 and 4 of size 7, which holds 5).
    chains = stacks(np.arange(5), integers(-1, -1, 1, 1, 3), integers(1, 2, 3, 4, 5))
    sizes = integers(5, 9, 2, 7, 1)[chains.labels - 1]
    assert chains.labels[chains.depth_first(sizes)].tolist() == [2, 4, 5, 3, 1]
