"""Equations of an island in blocks are those of its dense matrices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recursive_dyn.contact.blocks import ContactRows, Island, ScalarRows, component
from recursive_dyn.contact.newton.assembly import assemble
from recursive_dyn.contact.newton.block_equations import block_equations
from recursive_dyn.contact.newton.block_factors import factor, solve
from recursive_dyn.contact.newton.node_order import LANES


def random_island(rng: np.random.Generator, bodies: int, contacts: int, lines: int) -> Island:
    """Contacts of random pairs of bodies of six coordinates, the last of which takes no part; some spin and roll."""
    kind = rng.choice([0, 0, 1, 2, 3], contacts)
    height = 3 + (kind & 1) + (kind & 2)
    pairs = [rng.choice(bodies - 1, rng.integers(1, 3), replace=False) for _ in range(contacts)]
    slots = [np.concatenate([6 * body + np.arange(6) for body in pair]) for pair in pairs]
    sizes = np.array([len(s) for s in slots])
    first, start = np.r_[0, np.cumsum(sizes)], np.r_[0, np.cumsum(sizes * height)]
    none = np.zeros((contacts, 6))
    rows = ContactRows(
        np.zeros((contacts, 2), dtype=np.int64), np.zeros((contacts, 3, 3)), first, np.concatenate(slots), start,
        rng.normal(size=start[-1]), kind, height, none, *np.zeros((4, contacts)),
        np.zeros((contacts, 2)), np.zeros(contacts), np.zeros((contacts, 21)),
    )  # fmt: skip
    each = [np.sort(rng.choice(6 * (bodies - 1), 3, replace=False)) for _ in range(lines)]
    ends, m = 3 * np.arange(lines + 1), np.zeros(lines)
    scalar = ScalarRows(ends, np.array(each, dtype=np.int64).reshape(-1), rng.normal(size=3 * lines), m, m, m, m, m, m)
    return Island(
        rows, scalar, np.zeros(contacts), np.zeros((contacts, 5)), np.arange(contacts), np.arange(lines),
        rng.permutation(6 * bodies), none.copy(), m.copy(), np.zeros(6 * bodies),
        np.zeros(2, dtype=np.int64),
    )  # fmt: skip


def dense(it: Island, X: np.ndarray, x: np.ndarray) -> np.ndarray:
    """I + A^T X A."""
    K, rows, lines = np.eye(len(it.y)), it.rows, it.lines
    for c in range(len(rows.kind)):
        reached = rows.slots[rows.first[c] : rows.first[c + 1]]
        A = rows.values[rows.start[c] : rows.start[c + 1]].reshape(len(reached), rows.height[c])
        parts = [component(int(rows.kind[c]), i) for i in range(rows.height[c])]
        K[np.ix_(reached, reached)] += A @ X[c].reshape(6, 6)[np.ix_(parts, parts)] @ A.T
    for s in range(len(x)):
        reached, a = lines.slots[3 * s : 3 * s + 3], lines.values[3 * s : 3 * s + 3]
        K[np.ix_(reached, reached)] += x[s] * np.outer(a, a)
    return K


def kept(these) -> np.ndarray:
    """The matrix of equations, in the places of nodes."""
    joined, count = these.order.joined, len(these.base)
    K = np.zeros((count, LANES, count, LANES))
    for k in range(count):
        others = joined.which[joined.start[k] : joined.start[k + 1]]
        blocks = these.numbers[these.base[k] : these.base[k] + 1 + 2 * len(others)]
        K[k, :6, k] = blocks[0]
        for i, other in enumerate(others):
            K[k, :6, other], K[other, :, k, :6] = blocks[1 + i], blocks[1 + len(others) + i].T
    return K.reshape(count * LANES, -1)


@given(st.integers(0, 2**32 - 1), st.integers(3, 9), st.integers(1, 12), st.integers(0, 4))
@settings(max_examples=30, deadline=None)
def test_equations_in_blocks_are_the_dense_ones(seed, bodies, contacts, lines):
    """Of answers that need not be symmetric, but whose symmetric part is positive."""
    rng = np.random.default_rng(seed)
    it = random_island(rng, bodies, contacts, lines)
    root, turn = rng.normal(size=(2, contacts, 6, 6))
    X = root @ root.transpose(0, 2, 1) + 0.3 * (turn - turn.transpose(0, 2, 1))
    x, b = rng.uniform(0.0, 3.0, lines), rng.normal(size=6 * bodies)
    these, K = block_equations(it), dense(it, X.reshape(-1, 36), x)
    assemble(it, these, X.reshape(-1, 36), x)
    reached = np.flatnonzero(np.abs(K - np.eye(len(K))).sum(1))
    assert np.flatnonzero(these.order.place >= 0).tolist() == reached.tolist()
    at = these.order.place[reached]
    assert len(set(at)) == len(at)
    assert kept(these)[np.ix_(at, at)] == pytest.approx(K[np.ix_(reached, reached)], abs=1e-12)
    assert factor(these)
    y = np.zeros((len(these.base), LANES))
    y.flat[at] = b[reached]
    solve(these, y)
    assert y.flat[at] == pytest.approx(np.linalg.solve(K, b)[reached], rel=1e-8, abs=1e-8)


def rows_of_bricks(rows: int, columns: int) -> Island:
    """Bodies side by side and on each other, numbered row by row."""
    number = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        *zip(number[:, 1:].flat, number[:, :-1].flat, strict=True),
        *zip(number[1:].flat, number[:-1].flat, strict=True),
    ]
    it = random_island(np.random.default_rng(0), rows * columns + 1, len(pairs), 0)
    slots = np.concatenate([np.r_[6 * a : 6 * a + 6, 6 * b : 6 * b + 6] for a, b in pairs])
    first, height = 12 * np.arange(len(pairs) + 1), np.full(len(pairs), 3)
    made = it.rows._replace(slots=slots, first=first, start=3 * first, values=np.ones(36 * len(pairs)), height=height)
    return it._replace(rows=made, slots=np.arange(len(it.y)))


@pytest.mark.parametrize(("rows", "columns", "share"), [(13, 8, 0.6), (8, 13, 0.6), (3, 30, 1.0), (30, 3, 1.0)])
def test_equations_of_a_wall_are_less_work_than_numbered_along_its_shorter_side(rows, columns, share):
    """Where each brick is joined to as many as lie between it and the one above it."""
    these = block_equations(rows_of_bricks(rows, columns))
    assert len(these.base) == rows * columns
    joined = np.diff(these.order.joined.start)
    assert (joined**2).mean() < share * min(rows, columns) ** 2


def test_equations_without_a_solution_say_so():
    it = random_island(np.random.default_rng(0), 3, 1, 0)
    these, X = block_equations(it), np.zeros((1, 36))
    X[0, 0] = np.inf
    assemble(it, these, X, np.zeros(0))
    assert not factor(these)
