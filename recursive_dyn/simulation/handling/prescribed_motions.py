"""The motions that coordinates of a simulation have, and the dynamics with them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from inspect import signature
from math import isfinite
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.parameters import Parameters
from recursive_dyn.errors import ModelError, StateError
from recursive_dyn.graph.expression import Graph, Scalar
from recursive_dyn.graph.traversal import evaluate
from recursive_dyn.joint.coordinate import CLOCK
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.model.clock import PrescribedMotion
from recursive_dyn.model.with_motions import place, with_motions
from recursive_dyn.simulation.results.step_results import StepResults
from recursive_dyn.simulation.state import real
from recursive_dyn.simulation.stepping.leading import impulse_on
from recursive_dyn.simulation.stepping.motion_jumps import NEAR, WrittenMotion, has_ranges
from recursive_dyn.simulation.stepping.sampled_motion import COUNT, Motions, SampledMotion

Written = Scalar | SampledMotion


class PrescribedMotions:
    """``motions`` by coordinate, of dynamics that are ``free`` without them."""

    def __init__(self, free: Dynamics) -> None:
        self.free = free
        self.motions: dict[str, Written] = {}
        self._made: dict[str, Dynamics] = {}

    def written(self, name: str, motion: Any) -> Written:
        """A motion as it is kept: a scalar over time and parameters, or a function."""
        place(self.free.tree, name, self.free.hanging.meant)
        if isfinite(real(motion)):
            return SampledMotion(name, partial(_resting, float(motion)))
        if callable(motion) and not hasattr(motion, "free_symbols"):
            _refuse_arguments(name, motion)
            return SampledMotion(name, motion)
        from recursive_dyn.graph.symbolic import from_sympy  # brings SymPy

        graph = Graph()
        known = {CLOCK, *self.free.parameters}

        def symbol(given: Any) -> Scalar:
            if given.name not in known:
                raise ModelError(
                    f"prescribe: the motion of '{name}' uses '{given}', which is neither scene.time nor a parameter"
                )
            return graph.input(("parameter", given.name))

        return from_sympy(motion, symbol, f"prescribe: the motion of '{name}'")

    def changed(self, name: str, motion: Any) -> dict[str, Written]:
        """The motions with another one of this coordinate, or with none for None."""
        others = {n: m for n, m in self.motions.items() if n != name}
        place(self.free.tree, name, self.free.hanging.meant)
        return others if motion is None else others | {name: self.written(name, motion)}

    def still_there(self, dynamics: Dynamics) -> dict[str, Written]:
        """The motions of coordinates that these dynamics have."""
        names = set(dynamics.tree.velocity_names) if self.motions else ()
        return {name: motion for name, motion in self.motions.items() if name in names}

    def on(self, free: Dynamics, motions: Mapping[str, Written]) -> Dynamics:
        """The dynamics with motions."""
        if not motions:
            return free
        numbers = [(p, 0.0) for m in sampled(motions) for p in m.parameters]
        values = {n: m.polynomial if isinstance(m, SampledMotion) else m for n, m in motions.items()}
        model = with_motions(free.tree, values, numbers)
        if model.key not in self._made:
            if isinstance(free, MaximalDynamics):
                bodies = with_motions(free.model, {}).changed(parameters=model.parameters)
                made: Dynamics = MaximalDynamics(model, bodies, free.method, free.hanging, **free.settings)
            else:
                made = Dynamics(model, free.method, free.hanging)
            self._made[model.key] = made
        return self._made[model.key].view()

    def begin(self, simulation: StepResults, name: str, motion: Written) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) of a simulation with one coordinate as its motion has it now, from which it may differ by next to
        nothing: where it moves otherwise an impulse on it alone changes that, which leaves momenta of the others.

        StateError where the motion begins elsewhere.
        """
        d, q, v = simulation.dynamics, simulation.q.copy(), simulation.v.copy()
        x, rate = _now(motion, simulation.time, simulation.timestep, d)
        if not (isinstance(d, MaximalDynamics) and isinstance(self.free, MaximalDynamics)):
            at, slot = place(d.model, name)
            _refuse_away(name, q[at], x, f"simulation.q[{at}] = {x:.6g}")
            q[at] = x
            return q, v + self._change(d, self.free, q, slot, rate - v[slot])
        own, rates = d.to_reduced(q, v, simulation.near)
        at, slot = place(d.tree, name)
        _refuse_away(name, own[at], x, "simulation.place(...)")
        change = self._change(d.reduced, self.free.reduced, own, slot, rate - rates[slot])
        return q, v + d.from_reduced(own, change)[1] - d.from_reduced(own)[1]  # less the rate of time

    def _change(self, present: Dynamics, free: Dynamics, q: np.ndarray, slot: int, rate: float) -> np.ndarray:
        """Of velocities (nv,), in joint coordinates q, by an impulse on one that changes its rate so much."""
        result, free = np.zeros(present.nv), free.view()
        for name in free.parameters:
            free.parameters[name] = present.parameters[name]
        result[: free.nv] = impulse_on(free, q[: free.nq], slot, rate, present.model.prescribed)
        return result

    def keep(self, free: Dynamics, motions: Mapping[str, Written]) -> None:
        """Have these from now on."""
        if free is not self.free:
            self.free, self._made = free, {k: made for k, made in self._made.items() if made.hanging is free.hanging}
        self.motions = dict(motions)


def sampled(motions: Mapping[str, Written]) -> list[SampledMotion]:
    """Those that Python functions say."""
    return [motion for motion in motions.values() if isinstance(motion, SampledMotion)]


def stepped(motions: Mapping[str, Written]) -> Motions:
    """Those that steps look at before they begin: that Python functions say, or expressions that may jump."""
    written = [WrittenMotion(name) for name, m in motions.items() if not isinstance(m, SampledMotion) and has_ranges(m)]
    return [*sampled(motions), *written]


def sample(motions: Mapping[str, Written], parameters: Parameters, time: float, h: float) -> None:
    """Have those that Python functions say go on from a time, for the length of a step."""
    for motion in sampled(motions):
        numbers = np.zeros(COUNT)
        motion.sample(time, h, numbers)
        for name, x in zip(motion.parameters, numbers.tolist(), strict=True):
            parameters[name] = x


def _refuse_away(name: str, at: float, start: float, remedy: str) -> None:
    """StateError where a motion begins elsewhere than its coordinate is."""
    if not abs(start - at) <= NEAR * (1.0 + abs(start)):
        raise StateError(
            f"prescribe: '{name}' is at {at:.6g}, its motion begins at {start:.6g}, {abs(start - at):.3g} away; let"
            f" it begin there, or place the coordinate first: {remedy}"
        )


def _refuse_arguments(name: str, motion: Any) -> None:
    """ModelError for a function that does not take the time, and nothing else."""
    try:
        taken = signature(motion)
    except (TypeError, ValueError):  # functions of C say nothing
        return
    try:
        taken.bind(0.0)
    except TypeError as error:
        raise ModelError(
            f"prescribe: the motion of '{name}' is a function of one argument, the time in s ({error}); write"
            " lambda t: ..., or give a number to stay at"
        ) from None


def _resting(position: float, time: float) -> float:
    return position


def _now(motion: Written, time: float, timestep: float, dynamics: Dynamics) -> tuple[float, float]:
    """Position and velocity of a motion. StateError where it is not finite."""
    values = {("parameter", name): x for name, x in dynamics.parameters.items()} | {("parameter", CLOCK): time}
    scalar, what = motion, "its motion"
    if isinstance(motion, SampledMotion):
        numbers = np.zeros(COUNT)
        motion.sample(time, timestep, numbers)
        scalar, what = motion.polynomial, f"the motion of '{motion.name}'"
        values |= {("parameter", name): x for name, x in zip(motion.parameters, numbers.tolist(), strict=True)}
    x, rate, second = evaluate(list(PrescribedMotion(0, 0, scalar).derived), values)
    if not np.isfinite([x, rate, second]).all():
        raise StateError(f"prescribe: {what}, its rate or acceleration is not finite at t = {time:.6g} s")
    return float(x), float(rate)
