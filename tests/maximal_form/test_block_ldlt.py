"""Sparse factors of links and joints: what dense elimination finds, for trees, loops, and rows that say nothing new."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import recursive_dyn as rd
from recursive_dyn.maximal.sparse.block_ldlt import JointEquations, solve_in_lanes
from recursive_dyn.maximal.sparse.lanes import lane_blocks
from recursive_dyn.maximal.sparse.sparse_order import MoreSides

Array = np.ndarray


def positive(rng: np.random.Generator, n: int, scale: Array) -> Array:
    """Random symmetric positive (n, 6, 6) of condition about 100."""
    X = rng.normal(size=(n, 6, 6))
    return (X @ X.swapaxes(1, 2) + 0.5 * np.eye(6)) * scale[:, None, None]


def dense(M: Array, a: Array, b: Array, rows: Array, Ja: Array, Jb: Array, e: float) -> tuple[Array, Array]:
    """The whole matrix [[M, -A^T], [A, e]], and which of the joints' 6 rows there are."""
    nl, nj = len(M), len(a)
    K, A = np.zeros((6 * nl, 6 * nl)), np.zeros((6 * nj, 6 * nl))
    for i in range(nl):
        K[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = M[i]
    for j in range(nj):
        for link, J in ((a[j], Ja[j]), (b[j], Jb[j])):
            if link >= 0:
                A[6 * j : 6 * j + 6, 6 * link : 6 * link + 6] += J
    kept = (np.arange(6) < rows[:, None]).ravel()
    A = A[kept]
    return np.block([[K, -A.T], [A, e * np.eye(len(A))]]), kept


def graph(rng: np.random.Generator, nl: int, loops: int, roots: float) -> tuple[Array, Array]:
    """A random forest, some of whose trees float, links in any order and joints either way, and loops."""
    ends = []
    for i in range(nl):
        if i == 0 or rng.random() < roots:
            if rng.random() < 0.5:
                ends.append((-1, i))
        else:
            ends.append((int(rng.integers(max(0, i - 4), i)), i))
    for _ in range(loops):
        one = int(rng.integers(nl))
        other = int(rng.integers(-1, nl))
        if one != other:
            ends.append((other, one))
    names = rng.permutation(nl)
    turned = [(i, j) if rng.random() < 0.5 else (j, i) for i, j in ends]
    pairs = np.array([[names[i] if i >= 0 else -1 for i in pair] for pair in turned], dtype=int).reshape(-1, 2)
    pairs = pairs[rng.permutation(len(pairs))]
    return pairs[:, 0], pairs[:, 1]


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), nl=st.integers(1, 14), loops=st.integers(0, 4), soft=st.sampled_from([0.0, 1e-3]))
def test_velocities_and_multipliers_are_those_of_dense_elimination(seed: int, nl: int, loops: int, soft: float) -> None:
    """Forests with loops, joints of 0 to 6 rows, right-hand sides for both, several at once."""
    rng = np.random.default_rng(seed)
    a, b = graph(rng, nl, loops, 0.2)
    rows = rng.integers(0, 6 if not loops else 3, size=len(a))
    M = positive(rng, nl, 10.0 ** rng.uniform(-1, 1, size=nl))
    Ja, Jb = rng.normal(size=(2, len(a), 6, 6))
    K, kept = dense(M, a, b, rows, Ja, Jb, soft)
    condition = np.linalg.cond(K)
    if condition > 1e8:
        return  # more rows than links move in: the test of redundant rows is for these
    f, c = rng.normal(size=(3, nl, 6)), rng.normal(size=(3, len(a), 6))
    equations = JointEquations(nl, a, b, rows)
    equations.factor(M, Ja, Jb, soft)
    v, u = equations.solve(f, c)
    want = np.linalg.solve(K, np.concatenate([f.reshape(3, -1), c.reshape(3, -1)[:, kept]], axis=1).T).T
    found = np.concatenate([v.reshape(3, -1), u.reshape(3, -1)[:, kept]], axis=1)
    assert not equations.redundant.any()
    assert np.abs(found - want).max() <= 1e-13 * condition * np.abs(want).max()
    assert not u.reshape(3, -1)[:, ~kept].any()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), nl=st.integers(4, 12), wide=st.integers(1, 4), soft=st.sampled_from([0.0, 1e-3]))
def test_rows_on_more_than_two_links_are_those_of_dense_elimination(seed: int, nl: int, wide: int, soft: float) -> None:
    """A forest of joints of up to 3 rows, and single rows on three or four links, or on two more of one."""
    rng = np.random.default_rng(seed)
    a, b = graph(rng, nl, 1, 0.2)
    ends = np.array([rng.permutation(nl)[:4] for _ in range(wide)])
    further = [(len(a) + k, link) for k in range(wide) for link in ends[k, 2 : 4 if k % 2 else 3]]
    more = MoreSides(*(np.array(x, dtype=np.int64) for x in zip(*further, strict=True)))
    rows = np.append(rng.integers(0, 4, size=len(a)), np.ones(wide, dtype=int))
    a, b = np.append(a, ends[:, 0]), np.append(b, ends[:, 1])
    M = positive(rng, nl, 10.0 ** rng.uniform(-1, 1, size=nl))
    (Ja, Jb), Jm = rng.normal(size=(2, len(a), 6, 6)), rng.normal(size=(len(further), 6))
    K, kept = dense(M, a, b, rows, Ja, Jb, soft)
    at = 6 * nl + np.cumsum(rows) - 1  # of the only row of each that has further links
    for (joint, link), J in zip(further, Jm, strict=True):
        own = slice(6 * link, 6 * link + 6)
        K[at[joint], own] += J
        K[own, at[joint]] -= J
    condition = np.linalg.cond(K)
    if condition > 1e8:
        return
    f, c = rng.normal(size=(nl, 6)), rng.normal(size=(len(a), 6))
    equations = JointEquations(nl, a, b, rows, more)
    equations.factor(M, Ja, Jb, soft, Jm)
    v, u = equations.solve(f, c)
    want = np.linalg.solve(K, np.concatenate([f.ravel(), c.ravel()[kept]]))
    assert np.abs(np.concatenate([v.ravel(), u.ravel()[kept]]) - want).max() <= 1e-13 * condition * np.abs(want).max()


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), nl=st.integers(1, 30), loops=st.integers(0, 3), soft=st.sampled_from([0.0, 1e-3]))
def test_velocities_in_lanes_are_those_of_dense_elimination(seed: int, nl: int, loops: int, soft: float) -> None:
    """Forests with loops, joints of 0 to 6 rows; a link whose mass matrix is not positive is told by what is found."""
    rng = np.random.default_rng(seed)
    a, b = graph(rng, nl, loops, 0.3)
    rows = rng.integers(0, 6 if not loops else 3, size=len(a))
    M = positive(rng, nl, 10.0 ** rng.uniform(-1, 1, size=nl))
    Ja, Jb = rng.normal(size=(2, len(a), 6, 6))
    K, kept = dense(M, a, b, rows, Ja, Jb, soft)
    condition = np.linalg.cond(K)
    if condition > 1e8:
        return
    f, c = rng.normal(size=(nl, 6)), rng.normal(size=(len(a), 6))
    equations = JointEquations(nl, a, b, rows)
    blocks, _programs, _ = lane_blocks(equations.order.tree, equations.rows)
    v = f.copy()
    arrays = equations.arrays(Ja, Jb, np.full((len(a), 6), soft))
    assert solve_in_lanes(arrays, blocks, M, v, c.copy()) < 0
    want = np.linalg.solve(K, np.concatenate([f.ravel(), c.ravel()[kept]]))[: 6 * nl]
    assert np.abs(v.ravel() - want).max() <= 1e-13 * condition * np.abs(want).max()
    M[nl // 2] *= -1.0
    assert solve_in_lanes(arrays, blocks, M, v, c.copy()) >= 0 or not np.isfinite(v).all()


def hinges(rng: np.random.Generator, places: Array, a: Array, b: Array, axes: Array) -> tuple[Array, Array]:
    """Rows of hinges through points about axes between bodies whose frames lie at ``places``, in world axes."""
    Ja, Jb = np.zeros((2, len(a), 6, 6))
    for j in range(len(a)):
        at = rng.normal(size=3) * 0.3 + (places[b[j]] if b[j] >= 0 else places[a[j]])
        across = np.linalg.svd(axes[j][None])[2][1:]
        for J, link, sign in ((Ja, a[j], -1.0), (Jb, b[j], 1.0)):
            if link >= 0:
                x, y, z = at - places[link]
                J[j, :3, :3] = -sign * np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
                J[j, :3, 3:] = sign * np.eye(3)
                J[j, 3:5, :3] = sign * across
    return Ja, Jb


@pytest.mark.parametrize("ring", [3, 4, 9])
def test_rows_that_follow_from_others_are_told_and_change_nothing(ring: int) -> None:
    """Rings of parallel hinges in a plane close by two rows; the other three, and a joint told twice, follow."""
    rng = np.random.default_rng(ring)
    a, b = np.arange(ring), (np.arange(ring) + 1) % ring
    a, b = np.append(a, [-1, 0]), np.append(b, [0, 1])
    places, axes = rng.normal(size=(ring, 3)), np.tile([0.0, 0.0, 1.0], (ring + 2, 1))
    Ja, Jb = hinges(rng, places, a, b, axes)
    Ja[-1], Jb[-1] = Ja[0], Jb[0]
    M = positive(rng, ring, np.ones(ring))
    rows = np.full(ring + 2, 5)
    K, kept = dense(M, a, b, rows, Ja, Jb, 0.0)
    A = K[6 * ring :, : 6 * ring]
    f = rng.normal(size=(ring, 6))
    target = (A @ rng.normal(size=6 * ring)).reshape(-1, 5)  # what the rows can meet
    c = np.pad(target, ((0, 0), (0, 1)))
    equations = JointEquations(ring, a, b, rows)
    equations.factor(M, Ja, Jb)
    v, u = equations.solve(f, c)
    assert equations.redundant.sum() == len(A) - np.linalg.matrix_rank(A, tol=1e-9) == 8
    assert not u[equations.redundant].any()
    assert np.abs(A @ v.ravel() - target.ravel()).max() < 1e-12
    assert np.abs(K[: 6 * ring] @ np.append(v.ravel(), u.ravel()[kept]) - f.ravel()).max() < 1e-11 * np.abs(u).max()


def test_contradictory_rows_are_met_as_far_as_the_first_of_them() -> None:
    """A link welded to the world twice at different velocities: finite, and as its first joint says."""
    M, J = np.eye(6)[None], np.eye(6)[None].repeat(2, axis=0)
    equations = JointEquations(1, np.array([-1, -1]), np.array([0, 0]), np.array([6, 6]))
    equations.factor(M, np.zeros((2, 6, 6)), J)
    c = np.array([np.ones(6), np.full(6, 3.0)])
    v, _ = equations.solve(np.zeros((1, 6)), c)
    assert equations.redundant.sum() == 6
    assert np.abs(v - 1.0).max() < 1e-14


@pytest.mark.parametrize("ratio", [1e-4, 1e4])
@pytest.mark.parametrize("closed", [False, True])
def test_light_and_heavy_links_in_turn(ratio: float, closed: bool) -> None:
    """Masses that differ by 10^4, which makes the matrix stiff: rows are met, and momentum balances, to rounding."""
    rng, n = np.random.default_rng(3), 40
    a, b = np.arange(-1, n - 1), np.arange(n)
    if closed:
        a, b = np.append(a, n - 1), np.append(b, -1)
    axes = rng.normal(size=(len(a), 3))
    Ja, Jb = hinges(rng, np.arange(n)[:, None] * [0.4, 0.1, 0.0], a, b, axes)
    M = positive(rng, n, np.where(np.arange(n) % 2, 1.0, ratio))
    equations = JointEquations(n, a, b, np.full(len(a), 5))
    equations.factor(M, Ja, Jb)
    f = np.einsum("nij,nj->ni", M, rng.normal(size=(n, 6)))
    v, u = equations.solve(f, np.zeros((len(a), 6)))
    K, kept = dense(M, a, b, np.full(len(a), 5), Ja, Jb, 0.0)
    residual = K @ np.append(v.ravel(), u.ravel()[kept]) - np.append(f.ravel(), np.zeros(5 * len(a)))
    assert np.abs(residual[: 6 * n]).max() < 1e-10 * max(np.abs(f).max(), np.abs(u).max())
    assert np.abs(residual[6 * n :]).max() < 1e-10 * np.abs(v).max()


def chain(n: int) -> tuple[JointEquations, Array, Array, Array, Array, Array]:
    """A hanging chain of hinges about axes that change: equations, M, Ja, Jb, a, b."""
    rng = np.random.default_rng(1)
    a, b = np.arange(-1, n - 1), np.arange(n)
    axes = rng.normal(size=(n, 3))
    Ja, Jb = hinges(rng, np.arange(n)[:, None] * [0.4, 0.1, 0.0], a, b, axes)
    return JointEquations(n, a, b, np.full(n, 5)), positive(rng, n, np.ones(n)), Ja, Jb, a, b


def test_a_chain_of_ten_thousand_meets_its_rows() -> None:
    """Rows are met to rounding, however long a chain is."""
    n = 10_000
    equations, M, Ja, Jb, a, _ = chain(n)
    equations.factor(M, Ja, Jb)
    f = np.random.default_rng(2).normal(size=(n, 6))
    v, u = equations.solve(f, np.zeros((n, 6)))
    before = np.vstack([np.zeros(6), v[:-1]])
    assert np.abs(np.einsum("nij,nj->ni", Ja, before) + np.einsum("nij,nj->ni", Jb, v)).max() < 1e-11 * np.abs(v).max()
    force = np.einsum("nij,nj->ni", M, v) - f - np.einsum("nji,nj->ni", Jb, u)
    force[:-1] -= np.einsum("nji,nj->ni", Ja[1:], u[1:])
    assert np.abs(force).max() < 1e-11 * np.abs(u).max()
    assert not equations.redundant.any() and a[0] == -1


@pytest.mark.parametrize("closed", [False, True])
def test_a_solve_at_once_is_a_solve_and_rows_of_endless_compliance_are_none(closed: bool) -> None:
    """Without forces both ways give the same velocities; a row that gives way to anything changes nothing."""
    rng, n = np.random.default_rng(4), 12
    a, b = np.arange(-1, n - 1), np.arange(n)
    if closed:
        a, b = np.append(a, n - 1), np.append(b, 3)
    M, (Ja, Jb) = positive(rng, n, np.ones(n)), rng.normal(size=(2, len(a), 6, 6))
    e = np.where(rng.random((len(a), 6)) < 0.3, np.inf, 0.0)
    e[:, 0] = 0.01
    c = rng.normal(size=(len(a), 6))
    rows = np.full(len(a), 4)
    equations = JointEquations(n, a, b, rows)
    at_once = equations.solve_once(M, Ja, Jb, e, c)
    equations.factor(M, Ja, Jb, e)
    v, u = equations.solve(np.zeros((n, 6)), c)
    off = np.isinf(e)[..., None]
    bare, given = JointEquations(n, a, b, rows), np.where(off[..., 0], 0.0, c)
    bare.factor(M, np.where(off, 0.0, Ja), np.where(off, 0.0, Jb), np.where(off[..., 0], 1.0, e))
    assert np.array_equal(at_once, v)
    assert np.abs(v - bare.solve(np.zeros((n, 6)), given)[0]).max() < 1e-11 * np.abs(v).max()
    assert not u[off[..., 0]].any() and not equations.redundant.any()


def test_what_is_wrong_is_named() -> None:
    """Joints without two ends, with too many rows, masses that are none, right-hand sides of another size."""
    one = np.array([0])
    with pytest.raises(rd.ModelError, match="joint 0 is between 0 and 0"):
        JointEquations(2, one, one, one)
    with pytest.raises(rd.ModelError, match="between 0 and 2"):
        JointEquations(2, one, one + 2, one)
    with pytest.raises(rd.ModelError, match="7 rows"):
        JointEquations(2, one, one + 1, one + 7)
    equations = JointEquations(2, one, one + 1, one + 3)
    with pytest.raises(rd.StateError, match="factor first"):
        equations.solve(np.zeros((2, 6)), np.zeros((1, 6)))
    M, J = np.stack([np.eye(6), np.diag([1.0, 1, 1, 0, 0, 0])]), np.eye(6)[None]
    with pytest.raises(rd.StateError, match="link 1 is not positive"):
        equations.factor(M, J, J)
    equations.factor(np.eye(6)[None].repeat(2, axis=0), J, J)
    with pytest.raises(rd.StateError, match=r"\(\.\.\., 2, 6\)"):
        equations.solve(np.zeros((1, 6)), np.zeros((1, 6)))
    with pytest.raises(rd.StateError, match="not finite"):
        equations.solve(np.full((2, 6), np.nan), np.zeros((1, 6)))
