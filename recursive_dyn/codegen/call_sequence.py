"""Bound calls one after the other, without Python in between: where each takes microseconds, that is most of them."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import lru_cache
from time import perf_counter
from typing import Annotated, NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.codegen.loops.intrinsics import foreign, foreign_int, integers_at

_NAMES = ("_PyTime_GetPerfCounter", "PyEval_SaveThread", "PyEval_RestoreThread")
_GIGA, _AND_MISSING = 1e9, -1


class Interpreter(NamedTuple):
    """Addresses of Python's functions: its clock, in ns; those that give its lock up, and take it back."""

    clock: int
    release: int
    acquire: int


class CallSequence:
    """Bound calls that give an integer each, one after the other until one gives another number than 0.

    times (n + 1,), s: when each of the n calls began that ran, and behind these when the last one ended. Calls hold
    Python's lock, or give it up, as they do by themselves.
    """

    def __init__(self, calls: Sequence[Bound], times: np.ndarray | None = None) -> None:
        self._calls, self.times = tuple(calls), np.zeros(len(calls) + 1) if times is None else times
        cells = np.zeros(2, dtype=np.int64)  # the first call that is made, what the last one gave
        python, places, self._cells = _interpreter(), np.array([call.place() for call in calls]), cells.data
        self._run = None if python is None else _in_turn.bind(places, python, self.times, cells).holding()

    def __call__(self, first: int = 0) -> int:
        """The number of the call that gave another one than 0, or that of all calls; first: where to begin."""
        self._cells[0] = first
        if self._run is None:
            return self._one_by_one(first)
        done: int = self._run()
        if done < 0:
            done = _AND_MISSING - done
            for arena in {call.arena for call in self._calls if call.arena.header[4]}:
                arena.grow(int(arena.header[4]))
        return done

    @property
    def said(self) -> int:
        """What the last call gave that ran."""
        return self._cells[1]

    def _one_by_one(self, first: int) -> int:
        """The same where Python hides its functions."""
        self.times[first] = perf_counter()
        for k, call in enumerate(self._calls[first:], first):
            said = self._cells[1] = call()
            self.times[k + 1] = perf_counter()
            if said != 0:
                return k
        return len(self._calls)


@lru_cache(maxsize=1)
def _interpreter() -> Interpreter | None:
    """Python's functions, or None where one is hidden."""
    try:
        found = [ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in _NAMES]
    except AttributeError:
        return None
    return Interpreter(*(address or 0 for address in found)) if all(found) else None


@compiled
def _in_turn(places: Annotated[np.ndarray, int, 5], python: Interpreter, times: Floats, cells: Integers) -> int:
    """The number of the first call that gave no 0, or _AND_MISSING less that if memory did not fit into their arenas.

    places: as ``Bound.place`` says; cells (2,): where to begin, and what the last one gave.
    """
    missing, done, cells[1] = 0, cells[0], 0
    times[done] = float(foreign_int(python.clock)) / _GIGA
    while done < len(places) and cells[1] == 0:
        place = places[done]
        entry = integers_at(place[0], 1)[0]
        if place[4]:
            missing += foreign_int(entry, place[1], place[2])
        else:
            thread = foreign_int(python.release)
            missing += foreign_int(entry, place[1], place[2])
            foreign(python.acquire, thread)
        done += 1
        times[done] = float(foreign_int(python.clock)) / _GIGA
        cells[1] = integers_at(place[3], 1)[0]
    if cells[1] != 0:
        done -= 1
    return _AND_MISSING - done if missing > 0 else done
