"""Joints written in many lines are checked in work that grows as the lines do."""

from __future__ import annotations

import numpy as np
import pytest

from recursive_dyn.graph.expression import Expression, Graph, array, cos, sin
from recursive_dyn.graph.simplify import merge_identical
from recursive_dyn.graph.value_index import ValueIndex
from recursive_dyn.joint.coordinate import Coordinate
from recursive_dyn.joint.joint_check import check_joint
from recursive_dyn.joint.joint_program import build
from recursive_dyn.spatial.spaces import Flat

LINES = {  # each a line over the one before it
    "powers": lambda x, q: x * q,
    "sums of sines": lambda x, q: sin(x) + q,
    "nested sines": lambda x, q: sin(x),
    "a map that settles": lambda x, q: x * 0.5 + sin(x) * 0.3 + q * 0.1,
    "a map that runs away": lambda x, q: x * x * 0.25 + x * 0.5 + q * 0.1,
    "oscillations": lambda x, q: cos(x) * x,
}


def work(monkeypatch, line, count):
    """(nodes made, values compared) by the check of a hinge whose angle takes ``count`` lines."""
    compared, near = [0], ValueIndex.near

    def counted(self, *args):
        found = near(self, *args)
        compared[0] += len(found)
        return found

    monkeypatch.setattr(ValueIndex, "near", counted)
    graph = Graph()
    x = q = graph.input(("q", 0))
    for _ in range(count):
        x = line(x, q)
    G = array(np.eye(4))
    G[:2, :2] = [[cos(x), -sin(x)], [sin(x), cos(x)]]
    check_joint(build(graph, [(Flat(1), G)]), "arm", (Coordinate("angle"),), {})
    monkeypatch.setattr(ValueIndex, "near", near)
    return len(graph), compared[0]


@pytest.mark.parametrize("name", LINES)
def test_twice_the_lines_are_twice_the_work(monkeypatch, name):
    (nodes, compared), (more_nodes, more_compared) = (work(monkeypatch, LINES[name], n) for n in (50, 100))
    assert more_nodes < 2.2 * nodes
    assert more_compared < 2.5 * compared + 20 * nodes  # of each node with few others, whatever their number


def test_what_is_equal_is_found_among_many():
    """Values large and small, near others and their negatives, however many there are."""
    graph = Graph()
    q, p = graph.input(("q", 0)), graph.input(("p", 0))
    powers = [q]
    for _ in range(60):
        powers.append(powers[-1] * q)
    c, s = cos(p), sin(p)
    again = [x * (c * c + s * s) for x in powers[:40]] + [x * c * c - x * (c * c + 1.0) for x in powers[:40]]
    merged = merge_identical([*powers, *again])
    assert len({x.index for x in merged[:41] if isinstance(x, Expression)}) == 41
    assert all(a is b for a, b in zip(merged[61:101], powers, strict=False))
    assert all(a is -b for a, b in zip(merged[101:], powers, strict=False))
