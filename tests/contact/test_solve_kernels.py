"""The solve's compiled loops: what plain Python makes of them, bit for bit, and slow definitions of their parts."""

import copy
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from impulse_problems import contacts, earlier_contacts, free_bodies, problem, rows
from test_cone import mobility, solved
from trees import mechanism

import recursive_dyn as rd
from recursive_dyn.codegen.compiled import Compiled
from recursive_dyn.codegen.loops.calling import Bound, Code
from recursive_dyn.codegen.loops.translation import module_text
from recursive_dyn.codegen.making import jit
from recursive_dyn.contact.blocks import ContactRows
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import Contacts, FreeBodies
from recursive_dyn.contact.forest_layout import layout
from recursive_dyn.contact.islands.islands import Partition, partition
from recursive_dyn.contact.layout import body_links
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows import warm_start
from recursive_dyn.contact.rows.reach import reach_of
from recursive_dyn.contact.rows.responses import inverses, twists
from recursive_dyn.contact.rows.rows import contact_rows, links_of
from recursive_dyn.contact.rows.scalar_rows import scalar_rows
from recursive_dyn.contact.solve import solve
from recursive_dyn.contact.sweeps import cone, mixing, subspace
from scene import Body, Scene, joints

seeds = st.integers(0, 2**32 - 1)
NOBODY = FreeBodies.none()


@pytest.fixture(scope="module")
def trees():
    """Mechanisms of several roots, one with a coordinate that two joints share."""
    return [
        mechanism(3, 4, root="revolute"),
        mechanism(5, 3, root="free"),
        mechanism(3, 9, couplings=True),
        mechanism(2, 3, root="fixed"),
    ]


@pytest.fixture
def plainly(monkeypatch):
    """call(compiled function, ...): all of it in plain Python."""

    def call(function, *arguments):
        with monkeypatch.context() as patch, np.errstate(all="ignore"):
            patch.setattr(Compiled, "__call__", lambda self, *given: self.python(*given))
            return function.python(*arguments)

    return call


def made_up(
    tree,
    seed: int,
    count: int = 5,
    free: int = 0,
    given=(1, 1, 0),
    earlier=None,
    iterations: int = 20,
    pushes: float = 0.0,
) -> ImpulseProblem:
    """A problem of a tree with so many contacts, free bodies, and (limits, motors, constraints)."""
    rng, d = np.random.default_rng(seed), tree.dynamics()
    (q,), (v,) = tree.states(1, seed)
    others = free_bodies(rng, free) if free else NOBODY
    found = contacts(rng, d.poses(q), d.velocities(q, v), body_links(d.model), count, others)
    lines = rows(rng, d.nv, *given)
    return problem(d, (q, v), found, lines, earlier, iterations, pushes=pushes * rng.normal(size=d.nv))


CASES = {
    "contacts": {},
    "free bodies": {"free": 2, "count": 7},
    "nothing": {"count": 0, "given": (0, 0, 0)},
    "rows only": {"count": 0, "given": (2, 2, 1)},
    "closed loops": {"given": (1, 0, 2)},
    "pushes besides": {"free": 1, "pushes": 0.1},
    "until it yields": {"iterations": 70, "count": 6},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("which", range(4))
def test_a_solve_is_what_plain_python_makes_of_it(trees, plainly, which, case):
    """The second starts from the impulses of the first, in another order."""
    first = made_up(trees[which], which, **CASES[case])
    table, n, gaps = first.contacts, int(first.contacts.size[0]), first.contacts.gaps.copy()
    facts = solve(first)
    table.gaps[:] = gaps
    order = np.random.default_rng(1).permutation(n)
    for array in table[1:]:
        array[:n] = array[:n][order]
    one = first._replace(earlier=earlier_contacts(table))
    two = copy.deepcopy(one)
    found, expected = solve(one), plainly(solve, two)
    assert found == expected
    for mine, python in zip([*one.contacts, *one.changes], [*two.contacts, *two.changes], strict=True):
        np.testing.assert_array_equal(mine, python)
    assert facts.rows >= 3 * (n > 0)
    assert np.isfinite(one.changes.v).all() and (n == 0 or np.abs(one.contacts.impulses[:n]).max() > 0.0)


@pytest.mark.slow
def test_optimized_code_gives_the_same_bits(trees):
    """It is what long runs end on; both are made here, whatever the effort that other tests are run with."""
    codes = [Code(solve.loops) for _ in range(2)]
    text = module_text(solve.loops)
    for code, effort in zip(codes, (0, jit.FULL), strict=True):
        code.take(jit.load_objects([jit.compile_loops(text, effort)], {}))
    for case in CASES:
        for which, tree in enumerate(trees):
            plain, optimized = (made_up(tree, which, **CASES[case]) for _ in codes)
            assert Bound(codes[0], (plain,))() == Bound(codes[1], (optimized,))()
            arrays = ([*it.contacts, *it.changes] for it in (plain, optimized))
            for mine, other in zip(*arrays, strict=True):
                np.testing.assert_array_equal(mine, other)


@given(seeds, st.floats(0.0, 3.0), st.floats(0.0, 1.0), st.floats(-2.0, 2.0))
def test_the_cone_is_what_plain_python_makes_of_it(seed, sliding, more, target):
    rng = np.random.default_rng(seed)
    G, c = mobility(rng), rng.normal(size=3) * 10.0 ** rng.uniform(-3, 3)
    G[rng.integers(0, 3)] *= rng.choice([1.0, 1.0, 0.0])
    given = G, c, target, sliding + more, sliding
    with pytest.MonkeyPatch.context() as patch:
        mine = solved(*given)
        patch.setattr(Compiled, "__call__", lambda self, *given: self.python(*given))
        with np.errstate(all="ignore"):
            python = solved(*given, law=lambda *numbers: cone.coulomb.python(*map(np.float64, numbers)))
    np.testing.assert_array_equal(mine, python)


def test_islands_are_solved_as_if_each_were_alone():
    """Bit for bit, by whichever method: bodies on the ground, of which one sticks more than it slides."""
    scene = Scene()
    for k in range(3):
        scene.world.attach(Body(f"body {k}", mass=1.0 + k, inertia=np.eye(3)), joints.free(), at=rd.pose((k, 0.0, 0.0)))
    d, rng = scene.compile(), np.random.default_rng(2)
    q, v, lines = d.neutral(), rng.normal(size=d.nv), rows(rng, d.nv, 0, 0, 0)
    links = body_links(d.model)
    found = contacts(rng, d.poses(q), d.velocities(q, v), links, 24, NOBODY)
    on_ground = found.b < 0
    stick = np.where(found.a == 1, 1.3, 1.0)

    def only(which: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        friction = np.column_stack([stick * found.friction[:, 1], found.friction[:, 1:]])
        names = ("a", "b", "point_a", "point_b", "normal", "distance")
        given = [getattr(found, name)[which] for name in names]
        it = problem(d, (q, v), Contacts(*given, friction[which], found.key[which]), lines, iterations=200)
        facts = solve(it)
        return it.contacts.impulses[: which.sum()], it.changes.v, facts.islands

    impulses, change, islands = only(on_ground)
    assert islands == len(set(found.a[on_ground])) == 3
    alone = [only(on_ground & (found.a == k)) for k in range(3)]
    for k in range(3):
        np.testing.assert_array_equal(impulses[found.a[on_ground] == k], alone[k][0])
    np.testing.assert_array_equal(change, sum(result[1] for result in alone))


# Parts


def slow_start(table, earlier) -> np.ndarray:
    """Impulses (n, 3) of the nearest earlier contact of the same key that no contact before has taken."""
    n, count = int(table.size[0]), int(earlier.size[0])
    result, used = np.zeros((n, 3)), set()
    for c in range(n):
        own = [k for k in range(count) if earlier.keys[k] == table.keys[c] and k not in used]
        if own:
            nearest = min(own, key=lambda k: ((table.points[c, 1] - earlier.points[k, 1]) ** 2).sum())
            used.add(nearest)
            result[c] = earlier.impulses[nearest]
    return result


@settings(max_examples=60)
@given(seeds, st.integers(0, 12), st.integers(0, 12), st.integers(1, 6))
def test_contacts_start_from_the_nearest_of_their_key(seed, n, count, most):
    """Whatever the order of keys, in runs or not, and however large they are."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(-(2**62), 2**62, most) if seed % 2 else rng.integers(0, 9, most)
    before, now = ContactBuffer(count), ContactBuffer(n)
    for buffer, size in ((before, count), (now, n)):
        table = buffer.table
        table.size[0] = size
        table.keys[:size] = rng.choice(keys, size)
        table.points[:size] = rng.normal(size=(size, 2, 3))
        table.impulses[:size] = rng.normal(size=(size, 3))
    P, axes = np.zeros((n, 6)), np.tile(np.eye(3), (n, 1, 1))
    earlier = earlier_contacts(before.table)
    found = warm_start.matched(now.table, earlier, n)
    warm_start.started(block_rows(axes), earlier, found, P)
    np.testing.assert_array_equal(P[:, :3], slow_start(now.table, before.table))


def block_rows(axes: np.ndarray) -> ContactRows:
    """Rows of contacts of which only the axes (n, 3, 3) are told."""
    n = len(axes)
    whole, links = np.zeros(n + 1, dtype=np.int64), np.zeros((n, 2), dtype=np.int64)
    return ContactRows(
        links, axes, whole, whole[:0], whole, np.zeros(0), whole[:n], whole[:n], np.zeros((n, 6)),
        *np.zeros((4, n)), np.zeros((n, 2)), np.zeros(n), np.zeros((n, 21)),
    )  # fmt: skip


def components(sets: list[set[int]]) -> int:
    """How many groups of sets there are that no element joins."""
    left = [s for s in sets if s]
    found = 0
    while left:
        island, found = left.pop(), found + 1
        while joined := [s for s in left if s & island]:
            left = [s for s in left if not s & island]
            island = island.union(*joined)
    return found


@pytest.mark.parametrize("seed", range(6))
def test_islands_are_rows_that_no_coordinate_joins(trees, seed):
    """Each row is in one; those of an island reach its coordinates only, and other islands none of them."""
    it = made_up(trees[seed % 4], seed, count=2 + seed, free=5, given=(1, 1, 0))
    lay, root, V = it.layout, np.ones(it.layout.nv + 30), np.zeros((len(it.layout.parent), 6))
    inverses(lay, it.factors, it.moving.links, root)
    twists(lay, it.factors, it.v, it.moving.links, V)
    links = links_of(it)
    reach = reach_of(lay, links, it.rows)
    blocks = contact_rows(it, links, reach, root, V)
    lines = scalar_rows(lay, reach, it.factors, root, it.v, it.rows)
    found: Partition = partition(lay, blocks, lines, it.moving.slots, 5)
    groups = [
        {int(lay.group[s]) if s < lay.nv else -1 - (int(s) - lay.nv) // 6 for s in part.slots[a:b]}
        for part in (blocks, lines)
        for a, b in pairwise(part.first)
    ]
    assert int(found.total[0]) == components(groups) > 0
    reached = [set(part.slots[a:b]) for part in (blocks, lines) for a, b in pairwise(part.first)]
    n, seen = len(blocks.kind), []
    for k in range(int(found.total[0])):
        members = [*found.contacts[found.contact_first[k] : found.contact_first[k + 1]]]
        members += [n + s for s in found.scalars[found.scalar_first[k] : found.scalar_first[k + 1]]]
        slots = set(found.slots[found.slot_first[k] : found.slot_first[k + 1]])
        assert all(reached[c] <= slots for c in members)
        seen += members
    assert sorted(seen) == [c for c, slots in enumerate(reached) if slots]


@given(seeds, st.integers(1, 12))
def test_elimination_solves(seed, n):
    rng = np.random.default_rng(seed)
    K, b = rng.normal(size=(n, n)), rng.normal(size=n)
    x = b.copy()
    subspace.eliminate(K.ravel().copy(), x)
    np.testing.assert_allclose(K @ x, b, atol=1e-12 * np.linalg.cond(K))


@given(seeds, st.integers(1, 8), st.integers(9, 30))
def test_mixing_takes_the_least_squares(seed, used, size):
    """Of independent iterates what NumPy takes; one that repeats another adds nothing."""
    rng = np.random.default_rng(seed)
    dR, r, order, gamma = rng.normal(size=(8, size)), rng.normal(size=size), rng.permutation(8), np.zeros(8)
    expected = np.linalg.lstsq(dR[order[:used]].T, r, rcond=None)[0]
    mixing.least_squares(dR.ravel(), order, used, r, gamma)
    np.testing.assert_allclose(gamma[:used], expected, atol=1e-7)
    if used > 1:
        dR[order[used - 1]] = 2.0 * dR[order[0]]
        mixing.least_squares(dR.ravel(), order, used, r, gamma)
        assert gamma[used - 1] == 0.0


def test_what_every_link_reaches(trees):
    """Slots rise, and hold those of the links on the way to the world; plain Python finds the same."""
    for seed, tree in enumerate(trees):
        model = tree.dynamics().model
        lay, rows = layout(model), made_up(tree, seed, count=1, free=0, given=(1, 1, 0)).rows
        links = np.array([(i, -1) for i in range(len(model.links))], dtype=np.int64)
        reach, plain = reach_of(lay, links, rows), reach_of.python(lay, links, rows)
        supports = [list(reach.slots[a : a + n]) for a, n in zip(reach.first, reach.size, strict=True)]
        assert supports == [list(plain.slots[a : a + n]) for a, n in zip(plain.first, plain.size, strict=True)]
        for i, link in enumerate(model.links):
            support = supports[i]
            assert support == sorted(set(support))
            assert set(link.slots) <= set(support)
            assert len(support) <= lay.most[i]
            if link.parent >= 0:
                assert set(supports[link.parent]) <= set(support)
            assert {int(lay.group[s]) for s in support} <= {int(lay.link_groups[i])}
