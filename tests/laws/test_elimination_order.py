"""The plan of eliminations against its definition, on random trees whose joints share coordinates."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from recursive_dyn.model.elimination_order import Crossing, Elimination, elimination_order


@st.composite
def trees(draw):
    """(parents, slots, count): some links of another tree, some joints of several coordinates, some shared."""
    parents = [draw(st.integers(-1, i - 1)) for i in range(draw(st.integers(1, 9)))]
    slots, count = [], 0
    for _ in parents:
        own = list(range(count, count + draw(st.integers(0, 2))))
        count += len(own)
        known = [s for s in range(count) if s not in own]
        borrowed = draw(st.lists(st.sampled_from(known), unique=True, max_size=2)) if known else []
        slots.append(tuple(borrowed + own if draw(st.booleans()) else own + borrowed))
    return parents, slots, count


def chain(parents, i):
    """A link and all towards the world, the world last."""
    return [] if i < -1 else [i, *(chain(parents, parents[i]) if i >= 0 else [])]


@given(trees())
def test_a_coordinate_is_eliminated_once_where_all_its_joints_meet(tree):
    parents, slots, count = tree
    order = elimination_order(*tree)
    found = {e.slot: i for i, events in enumerate(order.links) for e in events if isinstance(e, Elimination)}
    found |= {e.slot: -1 for e in order.world}
    for slot in range(count):
        movers = [i for i, own in enumerate(slots) if slot in own]
        lowest = next(i for i in chain(parents, movers[0]) if all(i in chain(parents, m) for m in movers))
        assert found[slot] == order.meeting[slot] == lowest
    assert sum(isinstance(e, Elimination) for events in order.events for e in events) == count


@given(trees())
def test_ports_are_what_was_crossed_below_and_is_not_yet_eliminated(tree):
    parents, slots, _ = tree
    order = elimination_order(*tree)
    done: set[int] = set()
    crossed = [set() for _ in [*parents, None]]  # in the subtree of each link; the world's stands last
    for i in [*reversed(range(len(parents))), -1]:
        events = order.links[i] if i >= 0 else order.world
        for event in events:
            if isinstance(event, Crossing):
                crossed[i].add(event.slot)
            else:
                done.add(event.slot)
                assert set(event.ports) == crossed[i] - done and len(set(event.ports)) == len(event.ports)
        if i >= 0:
            assert tuple(e.slot for e in events if isinstance(e, Crossing)) == slots[i]
            crossed[parents[i]] |= crossed[i]


def test_two_fingers_on_one_motor():
    """A palm that slides, two fingers that share slot 1, a tip on the second: the motor is solved for at the palm."""
    order = elimination_order([-1, 0, 0, 2], [(0,), (1,), (1,), (2,)], 3)
    assert order.links[3] == (Crossing(2), Elimination(2, ()))
    assert order.links[1] == order.links[2] == (Crossing(1),)
    assert order.links[0] == (Elimination(1, ()), Crossing(0), Elimination(0, ()))
    assert order.world == () and order.meeting == (0, 0, 3)


def test_a_long_chain_is_planned_in_linear_time():
    n = 20_000
    order = elimination_order([i - 1 for i in range(n)], [(i,) for i in range(n)], n)
    assert all(len(events) == 2 for events in order.links) and np.array_equal(order.meeting, range(n))
