"""Where a prescribed motion jumps: no force moves what is there one moment and elsewhere the next."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from recursive_dyn.errors import StateError
from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.graph.traversal import reachable
from recursive_dyn.joint.coordinate import CLOCK

Array = np.ndarray

NEAR = 1e-6  # m or rad, and of a position, by which a motion may begin from where its coordinate is, or jump
_ROUNDING = 1e-9  # of a step, more than the clock rounds
_TOLD = 0.2  # of a step times the change of rate, by which a smooth motion differs from the mean of its rates
_RANGES = ("select", "min", "max", "floor")
_POLES = ("reciprocal", "tan", "pow", "log")
_HALVES = 44  # of an interval, after which what has not moved less has jumped: it is next to the rounding of time


def refuse_jump(name: str, at: Callable[[float], float], start: float, end: float) -> None:
    """StateError if a motion ``at`` jumps between two times."""
    first, last, when = _across(at, start, end)
    if not together(first, last):
        raise jump(name, first, last, when)


def kink(rate: Callable[[float], float], start: float, end: float) -> float:
    """By how much the rate of a motion jumps between two times, 0 if it does not."""
    first, last, _ = _across(rate, start, end)
    return 0.0 if together(first, last) else last - first


def _across(x: Callable[[float], float], start: float, end: float) -> tuple[float, float, float]:
    """x on both sides of where it may jump between two times, and when: halves of the interval, those that it moves
    more in, come down to nothing; what it moves in them does so too unless it jumps."""
    first, last = x(start), x(end)
    for _ in range(_HALVES):
        if together(first, last):
            break
        middle = 0.5 * (start + end)
        here = x(middle)
        if abs(here - first) > abs(last - here):
            end, last = middle, here
        else:
            start, first = middle, here
    return first, last, end


def jump(name: str, before: float, after: float, time: float) -> StateError:
    """What is told of a motion that jumps."""
    return StateError(
        f"the motion of '{name}' jumps from {before:.6g} to {after:.6g} at t = {time:.6g} s; let it be continuous, and"
        " give the same answer whenever it is asked for the same time (what a slider moves is an expression of a"
        " scene.parameter, no function), or lead the coordinate there by a motor:"
        f" simulation.motors['{name}'] = Motor(position=...). The last good state is kept"
    )


def elsewhere(name: str, before: float, after: float, time: float, place: str) -> StateError:
    """What is told of a motion that another time or another state has elsewhere."""
    after = 0.0 if together(0.0, after) else after  # and no rounding to be typed
    return StateError(
        f"the motion of '{name}' jumps from {before:.6g} to {after:.6g} at t = {time:.6g} s, as the time was set"
        f" or a snapshot is of another motion; place the coordinate there ({place} = {after:.6g}),"
        f" or begin another one where it is, simulation.prescribe('{name}', ...). The last good state is kept"
    )


class SeamChecks:
    """Checks of one motion, step after step: whether it goes on where the last one left it."""

    def __init__(self, name: str) -> None:
        self._name, self._end, self._x = name, float("inf"), 0.0

    def check(self, start: float, first: float, end: float, last: float) -> None:
        """A step from a time and place to others. StateError if the step that ended at its start ended elsewhere."""
        if abs(start - self._end) <= NEAR * (end - start) and not together(self._x, first):
            raise jump(self._name, self._x, first, start)
        self._end, self._x = end, last


class WrittenMotion:
    """A motion that an expression says which is another one in some ranges, where these may not meet."""

    def __init__(self, name: str) -> None:
        self.name, self._seam = name, SeamChecks(name)

    def check(self, where: Callable[[float], Array], place: int, slot: int, time: float, h: float) -> float:
        """By how much its rate jumps in a step of h from a time on, StateError if it jumps itself; where(t): q and v,
        one after the other, with what is prescribed as it is then, this motion at ``place`` and its rate at ``slot``.

        It is looked at more closely only where its rates at both ends do not tell how far it gets.
        """
        end = time + h * (1.0 + _ROUNDING)  # or the clock may be behind a jump there, and this before
        before, after = where(time), where(end)
        first, last = float(before[place]), float(after[place])
        self._seam.check(time, first, end, last)
        mean, change = 0.5 * (before[slot] + after[slot]), after[slot] - before[slot]
        if abs(last - first - h * mean) > NEAR * (1.0 + abs(first)) + _TOLD * h * abs(change):
            refuse_jump(self.name, lambda t: float(where(t)[place]), time, end)
            return kink(lambda t: float(where(t)[slot]), time, end)
        return 0.0


def has_ranges(value: Scalar) -> bool:
    """Whether an expression is another one in some ranges, or has something that may have poles in time."""
    if not isinstance(value, Expression):
        return False
    nodes = reachable([value])  # arguments before what is made of them
    timely = {value.graph.input(("parameter", CLOCK))}
    for node in nodes:
        if any(x in timely for x in node.args if isinstance(x, Expression)):
            timely.add(node)
    return any(node.op in _RANGES or (node in timely and _has_poles(node)) for node in nodes)


def _has_poles(node: Expression) -> bool:
    exponent = node.args[1] if node.op == "pow" else -1.0
    return node.op in _POLES and not (isinstance(exponent, float) and exponent > 0.0)


def together(x: float, y: float) -> bool:
    """Whether a motion that is at x and then at y has not jumped."""
    return abs(y - x) <= NEAR * (1.0 + abs(x))
