"""A compiled loop of an integrator as a flight runs it; the driven one pushes bodies, and asks a law for forces."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Flags, Floats, Integers
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import CompiledLoop
from recursive_dyn.integrators.driven import LEAD, LOAD
from recursive_dyn.integrators.integrator import Integrator
from recursive_dyn.recursion.forces.pushed_bodies import PUSHES

Law = Callable[[np.ndarray, np.ndarray, float], np.ndarray]  # (q, v, time since the step's start) -> tau (nv,)
Load = tuple[np.ndarray, np.ndarray]  # load and lead (nv,) of forces that change by -load (a - lead) with accelerations
_CALLBACK = ctypes.CFUNCTYPE(None, ctypes.c_double)


class FlightArrays(NamedTuple):
    """An integrator's compiled loop: its address and memory, of which q to parameters are parts of inputs, empty where
    it has no such one; limits: of q, unused. acting (nv,): 1 for slots on which more may act than tau says; asks (1,):
    whether it asks a law for forces, which are all then, instead of tau; load, lead: of one that can be loaded."""

    address: int
    inputs: Floats
    output: Floats
    scratch: Floats
    work: Floats
    limits: Floats
    q: Floats
    v: Floats
    tau: Floats
    dt: Floats
    middle: Floats
    parameters: Floats
    acting: Integers
    asks: Flags
    load: Floats
    lead: Floats


class Engine(NamedTuple):
    """A loop, and the parts of its inputs; pushes: of the one that pushes bodies; load, lead: of a loaded one."""

    loop: CompiledLoop
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    parameters: np.ndarray
    dt: np.ndarray | None
    middle: np.ndarray | None
    pushes: np.ndarray | None
    load: np.ndarray | None
    lead: np.ndarray | None

    @staticmethod
    def of(dynamics: Dynamics, rule: Integrator, prefix: str = "") -> Engine:
        """That of a rule; prefix: of its functions' names."""
        beside = None if rule.beside is None else dynamics.kernel(prefix + rule.beside_name)
        loop = CompiledLoop(dynamics.kernel(prefix + rule.function), dynamics.nq + dynamics.nv, 3, beside)
        if rule.held:
            loop.hold()
        own = loop.inputs
        others = own.get("dt"), own.get("v_middle"), own.get(PUSHES), own.get(LOAD), own.get(LEAD)
        return Engine(loop, own["q"], own["v"], own["tau"], own["parameters"], *others)

    def arrays(self, limits: np.ndarray, acting: np.ndarray, asks: np.ndarray) -> FlightArrays:
        """For compiled loops."""
        none = np.zeros(0)
        dt, middle = none if self.dt is None else self.dt, none if self.middle is None else self.middle
        return FlightArrays(
            self.loop.address, *self.loop.memory, limits, self.q, self.v, self.tau, dt, middle, self.parameters, acting,
            asks, none if self.load is None else self.load, none if self.lead is None else self.lead,
        )  # fmt: skip


class DrivenEngine:
    """The engine that pushes bodies and asks ``law``, or nobody if None, for forces at the stages of a rule.

    acting (nv,): where it notes what the law drives; most (nv,): the largest forces that it gave. since: when the
    loop's own step starts in that of the law, s; beside (nv,), or a number: what is added to what it gives. error: what
    the law raised; from there on it is not asked, and no step is finite.
    """

    def __init__(self, dynamics: Dynamics, rule: Integrator, prefix: str, acting: np.ndarray) -> None:
        self.engine = Engine.of(dynamics, rule, prefix)
        if self.engine.middle is not None:
            dynamics.kernel("integrate")
        self.law: Law | None = None
        self.since = 0.0
        self.beside: np.ndarray | float = 0.0
        self.error: BaseException | None = None
        self._dynamics, self._acting, self.most = dynamics, acting, np.zeros(dynamics.nv)
        self._callback = _CALLBACK(self._ask)
        self._address = ctypes.cast(self._callback, ctypes.c_void_p).value or 0

    def drive(self, pushes: np.ndarray, law: Law | None, load: Load | None = None) -> None:
        """Steps that follow are under these pushes (nb, PUSH), this law and load."""
        assert self.engine.pushes is not None
        self.engine.pushes[:] = pushes.reshape(-1)
        if self.engine.load is not None and self.engine.lead is not None:
            self.engine.load[:], self.engine.lead[:] = load or (0.0, 0.0)
        self.law, self.since, self.beside, self.error = law, 0.0, 0.0, None
        self.engine.loop.ask(0 if law is None else self._address)

    def _ask(self, when: float) -> None:
        """Called by the loop, whose inputs hold the state: forces for it, or NaN."""
        tau = self.engine.tau
        try:
            if self.law is not None and self.error is None:
                tau[:] = self.law(*self._state(when), self.since + when) + self.beside
                self._acting[tau != 0.0] = 1
                np.maximum(self.most, np.abs(tau), out=self.most)
                return
        except BaseException as error:  # Ctrl-C too: machine code is between here and who called it
            self.error = error
        tau[:] = np.nan

    def _state(self, when: float) -> tuple[np.ndarray, np.ndarray]:
        """(q, v) where forces are evaluated: at a stage, or in the middle of the step; what is of length 1, is."""
        engine = self.engine
        if engine.middle is not None:
            return self._dynamics.integrate(engine.q, engine.middle, when), engine.middle.copy()
        q = engine.q.copy()
        if when:
            for first, end in self._dynamics.model.units:
                q[first:end] /= np.linalg.norm(q[first:end])
        return q, engine.v.copy()
