"""Steps of a flight, one after the other in machine code, as long as charts in force are well conditioned."""

from __future__ import annotations

from time import perf_counter
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.codegen.emitting.drivers import CODE_BITS
from recursive_dyn.codegen.loops.calling import Bound
from recursive_dyn.codegen.loops.intrinsics import foreign_int
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import ProgramCall, evaluated, program_call
from recursive_dyn.simulation.flying.engine import FlightArrays
from recursive_dyn.simulation.flying.flight import Flight

_SPELL = 0.02  # s: about how long machine code runs before Python may serve an interrupt


class QualityWatch(NamedTuple):
    """quality: program of what charts in force are worth; least: below which one is to be left, of each number."""

    quality: ProgramCall
    least: Floats


class ChartWatch:
    """Of the charts of dynamics; ``least``: see ``QualityWatch``, to be written."""

    def __init__(self, dynamics: Dynamics) -> None:
        self._watch: QualityWatch = QualityWatch(
            program_call(dynamics, "chart_quality"), np.zeros(2 * len(dynamics.model.charted))
        )
        self.least = self._watch.least
        self._q, self._v, self._tau = np.zeros(dynamics.nq), np.zeros(dynamics.nv), np.zeros(dynamics.nv)
        self._parameters = dynamics.parameters.values_array
        self._h, self._count = np.zeros(1), np.zeros(2, dtype=np.int64)
        self._serve = serves.bind(self._watch, self._q, self._parameters)
        self._flight: Flight | None = None
        self._glides: dict[str, Bound] = {}
        self._spell = 1  # steps that machine code may take at a time

    @staticmethod
    def warm_up() -> None:
        """Compile or load what is bound when it is first needed."""
        glide.warm()

    def serves(self, q: np.ndarray) -> bool:
        """Whether all charts in force are good enough at q (nq,)."""
        self._q[:] = q
        return bool(self._serve())

    def glide(self, flight: Flight, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int) -> int:
        """Take at most ``count`` steps as ``flight.advance`` with limits takes one, in place; their number.

        The first one whatever its charts, others where they serve; none where ``advance`` has more to do, or to say.
        """
        if self._flight is not flight:
            self._flight, self._glides = flight, {}
        if flight.way not in self._glides:
            arrays = flight.present_arrays, self._watch, self._q, self._v, self._tau, self._parameters
            self._glides[flight.way] = glide.bind(*arrays, self._h, self._count)
        run = self._glides[flight.way]
        self._q[:], self._v[:], self._tau[:] = q, v, tau
        self._h[0], self._count[:] = h, (min(count, self._spell), flight.limited)
        begin = perf_counter()
        done: int = run()
        if done:
            self._spell = max(1, int(done * _SPELL / (perf_counter() - begin)))
        q[:] = self._q  # nothing is called from here on: Python serves interrupts at calls, and finds all or nothing
        v[:] = self._v
        return done


@compiled
def serves(it: QualityWatch, q: Floats, parameters: Floats) -> bool:
    """Whether all charts in force are good enough at q."""
    good = evaluated(it.quality, q, q[:0], q[:0], parameters)
    for k in range(len(it.least)):
        good = good and it.quality.outputs[k] >= it.least[k]
    return good


@compiled
def glide(
    it: FlightArrays, watch: QualityWatch, q: Floats, v: Floats, tau: Floats, parameters: Floats, h: Floats,
    count: Integers,
) -> int:  # fmt: skip
    """Steps of length h[0], at most count[0], from q, v in place; how many. count[1]: numbers of q with limits."""
    done, going = 0, True
    it.q[:] = q
    it.v[:] = v
    it.tau[:] = tau
    it.parameters[:] = parameters
    it.dt[:] = h[0]
    it.work[0] = h[0]
    while going and done < count[0]:
        it.middle[:] = it.v
        told = foreign_int(it.address, it.inputs, it.output, it.scratch, it.work, 1, it.limits, count[1], 0)
        going = told >> CODE_BITS != 0
        if going:
            done += 1
            going = serves(watch, it.q, parameters)
    q[:] = it.q
    v[:] = it.v
    return done
