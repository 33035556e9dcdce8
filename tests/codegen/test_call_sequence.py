"""Bound calls one after the other: the same as each by itself, up to the first that gives another number than 0."""

import threading
from time import perf_counter

import numpy as np
import pytest

from recursive_dyn.codegen import call_sequence
from recursive_dyn.codegen.call_sequence import CallSequence
from recursive_dyn.codegen.compiled import Integers, compiled


@compiled
def counted(x: Integers) -> int:
    """Count up; x (3,): the count, what to give, room to ask for."""
    room = np.zeros(x[2])
    room[:] = 1.0
    x[0] += 1
    return x[1]


@pytest.fixture(params=["machine code", "Python"])
def cells(request, monkeypatch):
    if request.param == "Python":
        monkeypatch.setattr(call_sequence, "_interpreter", lambda: None)
    return [np.zeros(3, dtype=np.int64) for _ in range(3)]


def sequence(cells) -> CallSequence:
    """The one in the middle gives up Python's lock."""
    first, middle, last = (counted.bind(cell) for cell in cells)
    return CallSequence([first.holding(), middle, last.holding()])


def test_calls_are_made_in_turn_until_one_gives_another_number(cells):
    all_of_them = sequence(cells)
    assert all_of_them() == 3 and all_of_them.said == 0
    for k in range(3):
        cells[k][1] = -7 + k
        before = [cell[0] for cell in cells]
        assert all_of_them() == k and all_of_them.said == -7 + k
        assert [cell[0] - count for cell, count in zip(cells, before, strict=True)] == [1] * (k + 1) + [0] * (2 - k)
        cells[k][1] = 0


def test_times_are_those_of_pythons_clock(cells):
    all_of_them = sequence(cells)
    all_of_them()
    start = perf_counter()
    all_of_them()
    times = [start, *all_of_them.times, perf_counter()]
    assert times == sorted(times)
    cells[1][1] = 1
    late = all_of_them.times[3]
    all_of_them()
    assert all_of_them.times[3] == late and all_of_them.times[2] > late


def test_arenas_grow_to_what_calls_need(cells):
    all_of_them = sequence(cells)
    cells[1][2] = 50_000
    for _ in range(3):
        assert all_of_them() == 3
    assert [cell[0] for cell in cells] == [3, 3, 3]


def test_others_run_while_a_call_does_without_pythons_lock(cells):
    """A thread that counts gets on during a long call, and both are right."""
    all_of_them, stop, count = sequence(cells), threading.Event(), [0]

    def work() -> None:
        while not stop.is_set():
            count[0] += 1

    thread = threading.Thread(target=work)
    cells[1][2] = 2_000_000
    thread.start()
    try:
        for _ in range(20):
            assert all_of_them() == 3
    finally:
        stop.set()
        thread.join()
    assert count[0] > 0 and cells[1][0] == 20
