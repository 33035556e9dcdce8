"""Motion as if nothing touched: one integrator's compiled loop, steps cut where it does not converge, faults told."""

from __future__ import annotations

import ctypes

import numpy as np

from recursive_dyn.codegen.addresses import address
from recursive_dyn.codegen.compiled import Floats, compiled
from recursive_dyn.codegen.emitting import drivers
from recursive_dyn.codegen.emitting.drivers import CODE_BITS
from recursive_dyn.codegen.loops.intrinsics import foreign_int
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.compiled_loop import CODE, SUMS, TALLY, TALLY_SIZE
from recursive_dyn.integrators.driven import DRIVEN, LED, LOADED, PUSHED_LED
from recursive_dyn.model.limits import limited
from recursive_dyn.recursion.forces.pushed_bodies import PUSH
from recursive_dyn.simulation.flying.engine import DrivenEngine, Engine, FlightArrays, Law, Load
from recursive_dyn.simulation.flying.leading_on import LeadingOn
from recursive_dyn.simulation.flying.other_way import NoOtherWay
from recursive_dyn.simulation.flying.plausible import Weighing
from recursive_dyn.simulation.flying.shorter_steps import ShorterSteps
from recursive_dyn.simulation.flying.untaken import singular_joint, too_much_energy, untaken

# how a part of a step ended: as it should, on numbers that are not finite, or so far that it is to be taken in parts
DONE, LOST, LEAPT = drivers.OK, -1, -3
_ABSURD = -2  # more energy than could be
_Array = np.ndarray
_TOGETHER = 32  # steps far away that are weighed as one, in Python, which takes as long as a hundred of them


@compiled
def flown(it: FlightArrays, q: Floats, v: Floats, tau: Floats, parameters: Floats, h: float) -> int:
    """One step of length h from q, v, in place, whatever the limits: DONE, or the code why nothing was changed."""
    it.q[:] = q
    it.v[:] = v
    it.tau[:] = tau
    it.parameters[:] = parameters
    it.dt[:] = h
    it.middle[:] = v
    it.work[0] = h
    told = foreign_int(it.address, it.inputs, it.output, it.scratch, it.work, 1, it.limits, 0, 0)
    if told >> CODE_BITS == 0:
        return told & CODE
    q[:] = it.q
    v[:] = it.v
    return DONE


@compiled
def move_tally(source: FlightArrays, target: FlightArrays) -> None:
    """Let what one loop had to do count as what another one had."""
    most = TALLY + SUMS
    if source.work[most] > target.work[most]:
        target.work[most], target.work[most + 1] = source.work[most], source.work[most + 1]
    for i in range(TALLY, most):
        target.work[i] += source.work[i]
    source.work[TALLY : TALLY + TALLY_SIZE] = 0.0


class Flight(ShorterSteps, LeadingOn, NoOtherWay):
    """One integrator over one dynamics, at the dynamics' present parameters.

    tally (TALLIED,): what steps took, as ``report`` tells it; given: of one before this. driven: whether anything
    pushes bodies, or is asked at stages, by a loop of its own, which is compiled when that first happens. lawful:
    whether a law ever was; asked (nv,): 1 for slots that it drives in the present step; load (nv,): by how much what
    it gives answers impulses in it, kg or kg m^2; limited: how many numbers of q have limits that its loop looks at,
    see ``loop_text``. leads: whether motors may lead what is pressed (``led_motors``); led: it is flown so, by loops
    that they can load.
    """

    def __init__(self, dynamics: Dynamics, integrator: str, tally: np.ndarray | None = None, led: bool = False) -> None:
        rule = registry.rule(integrator)
        rule.check(dynamics.model)
        self._dynamics, self._integrator, self._rule = dynamics, integrator, rule
        self._told = integrator  # the one that a simulation was given
        self._plain, self._weighing = Engine.of(dynamics, rule, LED if led else ""), Weighing()
        self._take(self._plain)
        self._driving: DrivenEngine | None = None  # the one that drives, or did last
        self._engines: dict[str, DrivenEngine] = {}
        self.way = ""  # by which loop it flies: that under tau alone, or that of a prefix
        self._others: dict[tuple[str, bool], Flight] = {}
        self.leads, self._led = False, led
        self._acting, self.asked = np.zeros((2, dynamics.nv), dtype=np.int64)
        self._asks = np.zeros(1, dtype=bool)
        self.lawful = False
        self._load: Load | None = None
        self.load = np.zeros(dynamics.nv)
        if tally is not None:
            self.tally[:] = tally
        self._limits = dynamics.kernel(rule.function).buffer(2 * drivers.padded(dynamics.nq))
        self._limits_address = ctypes.c_void_p(address(self._limits))
        given, most = limited(dynamics.model), len(self._limits) // 2
        lows, highs = self._limits[:most], self._limits[most:]
        lows[:], highs[:] = -np.inf, np.inf
        lows[given.places], highs[given.places] = given.low, given.high
        self.limited = most if len(given.places) and np.isfinite(self._limits).any() else 0

    @property
    def arrays(self) -> FlightArrays:
        """The loop under tau alone, for compiled loops."""
        return self._plain.arrays(self._limits, self._acting, self._asks)

    @property
    def present_arrays(self) -> FlightArrays:
        """The loop that drives, where anything acts but tau."""
        engine = self.driving().engine if self.driven else self._plain
        return engine.arrays(self._limits, self._acting, self._asks)

    @property
    def pressed(self) -> Flight:
        """That of trees that are pressed."""
        return self._by(self._rule.pressed)

    def _by(self, rule: str) -> Flight:
        """By another rule, under the same pushes and under what a law gave at the step's start."""
        key = rule, self.leads and self._rule.loads
        if key not in self._others:
            other = self._others[key] = Flight(self._dynamics, rule, led=key[1])
            other._told = self._told
            if self.driven and (pushes := self.driving().engine.pushes) is not None:
                other.drive(pushes, self._acting, load=self._load)
        return self._others[key]

    @property
    def staged(self) -> bool:
        """Whether the rule evaluates forces elsewhere than at a step's start."""
        return self._rule.order > 1

    @property
    def loads(self) -> bool:
        """Whether the rule takes forces that answer accelerations."""
        return self._rule.loads

    def driving(self, prefix: str = "") -> DrivenEngine:
        """The loop that drives, or the one of a prefix."""
        if prefix or self._driving is None:
            prefix = prefix or (PUSHED_LED if self._led else DRIVEN)
            if prefix not in self._engines:
                self._engines[prefix] = DrivenEngine(self._dynamics, self._rule, prefix, self._acting)
            self._driving = self._engines[prefix]
        return self._driving

    def prepare_driving(self) -> None:
        """Have the loops that drive, that of what is pressed too."""
        self.driving()
        if self._rule.pressed:
            self.pressed.driving()

    def drive(
        self, pushes: np.ndarray, acting: np.ndarray, law: Law | None = None, tau: np.ndarray | None = None,
        load: Load | None = None,
    ) -> None:  # fmt: skip
        """Let pushes (nb, PUSH) act in steps that follow, and what a law gives at their stages beside.

        acting (nv,): 1 for the slots that feel any of the pushes; tau (nv,): what the law gives at their start; load:
        how forces answer accelerations.
        """
        self.way, self._load = DRIVEN if load is None else LOADED, load
        driving = self.driving(PUSHED_LED if self._led and load is None else self.way)
        driving.drive(pushes, law, load)
        self._acting[:], self._asks[0] = acting, law is not None
        self.asked[:] = 0 if law is None or tau is None else tau != 0.0
        self.lawful = self.lawful or law is not None
        self._go_on_by(driving.engine)
        for other in self._others.values():
            other.drive(pushes, acting, load=load)

    def drive_nothing(self) -> None:
        """Let nothing act but tau."""
        if self._driving is not None:
            self._driving.error = None
        self._acting[:], self._asks[0] = 0, False
        self.asked[:] = 0
        self.way, self._load = "", None
        self._go_on_by(self._plain)
        for other in self._others.values():
            other.drive_nothing()

    def _go_on_by(self, engine: Engine) -> None:
        engine.loop.tally[:] = self.tally
        if self._rule.goes_on:
            engine.loop.expected[:] = self.expected
        self._take(engine)

    def _take(self, engine: Engine) -> None:
        self._loop, self._q, self._v, self._tau, self._parameters, self._dt, self._middle, *_ = engine
        self.tally, self.driven = self._loop.tally, engine is not self._plain

    def advance(
        self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float, count: int, time: float, limits: bool
    ) -> tuple[int, bool]:
        """Take at most ``count`` steps of length h from q (nq,) and v (nv,), in place: (steps done, stopped).

        It may take fewer: some 20 ms of them, so that a caller's loop is where an interrupt is served; or those before
        one that fails, which the next call tells. stopped: the step after them would end with a coordinate beyond a
        limit, and only with ``limits`` is that looked at. StateError says why the first step failed; time: only told
        in that message. Whatever is raised, interrupts included, q and v are then as they were.
        """
        done, code = self._flown(q, v, tau, h, count, self.limited if limits else 0)
        if self._driving is not None and self._driving.error is not None:
            raise self._driving.error
        if not done and code != drivers.OK and code != drivers.AT_LIMIT:
            raise StateError(f"simulation at t = {time:.6g} s: {self._why(code, q, v, tau, h)}")
        q[:] = self._q  # nothing is called from here on: Python serves interrupts at calls, and finds all or nothing
        v[:] = self._v
        return done, code == drivers.AT_LIMIT

    def _flown(self, q: _Array, v: _Array, tau: _Array, h: float, count: int, limited: int) -> tuple[int, int]:
        """``advance`` in the loop's own memory: (steps done, code)."""
        self._q[:], self._v[:], self._tau[:] = q, v, tau
        self._parameters[:] = self._dynamics.parameters.values_array
        done, code = self._steps(h, count, limited, 0)
        if code == drivers.LARGE and not done and singular_joint(self._dynamics, q) is None:
            counted, together = self.tally.copy(), 1 if self._driving is not None else min(count, _TOGETHER)
            done, code = self._weighed(q, v, tau, h, together, limited)
            if code == _ABSURD and together > 1:  # or only more than one step may make
                self._q[:], self._v[:], self.tally[:] = q, v, counted
                done, code = self._weighed(q, v, tau, h, 1, limited)
            if code == _ABSURD:
                self.tally[:] = counted
        return done, code

    def _weighed(self, q: _Array, v: _Array, tau: _Array, h: float, count: int, limited: int) -> tuple[int, int]:
        """Steps that may end far away, weighed as one: (steps done, code)."""
        if self._driving is not None:
            self._driving.most[:] = 0.0
        done, code = self._steps(h, count, limited, 1)
        return (0, _ABSURD) if done and self._absurd(q, v, tau, done * h) else (done, code)

    def _absurd(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> str | None:
        """What moves absurdly after a step from q, v under tau, the law, and pushes."""
        tau, pushes = self.forces(tau)
        return self._weighing.absurd(self._dynamics, (q, v), (self._q, self._v), tau, h, pushes)

    def forces(self, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
        """The largest forces (nv,) in the last step, of tau and the law; pushes (nb, PUSH) on bodies, if any."""
        if not self.driven:
            return tau, None
        driving = self.driving()
        pushes = driving.engine.pushes
        return np.maximum(np.abs(tau), driving.most), None if pushes is None else pushes.reshape(-1, PUSH)

    def _why(self, code: int, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> str:
        """Why a step from q, v was not taken."""
        if code == _ABSURD:
            return too_much_energy(self._dynamics, (q, v), self._absurd(q, v, tau, h), h, self._told)
        return untaken(self._dynamics, self._told, code, (q, v, tau), h, self._loop.output)
