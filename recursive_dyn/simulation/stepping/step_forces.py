"""What drives a step: the forces that were given, and in maximal coordinates those of joints with them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.layout import body_links
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import NARROW, landing
from recursive_dyn.dynamics.taut import (
    NEARLY_RESTS,
    RESTS,
    Stuck,
    at_rest,
    brought_near,
    held,
    led_on,
    still_stuck,
    stress,
    tautened,
)
from recursive_dyn.errors import StateError
from recursive_dyn.integrators import registry
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.maximal.acting.joint_action import EXPLICIT, JointAction
from recursive_dyn.maximal.acting.joint_step import joint_action_of
from recursive_dyn.maximal.joint_rows.held_joints import HeldJoints
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.model.ball_limits import ball_limits
from recursive_dyn.simulation.flying.applied_forces import pushing
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.flying.passing import led_from
from recursive_dyn.simulation.joint_laws.joint_motors import JointMotors
from recursive_dyn.simulation.joint_laws.motors import Motors
from recursive_dyn.simulation.report import Landings
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping.bounced_parts import bounced_parts
from recursive_dyn.simulation.stepping.landing_losses import with_less_loss
from recursive_dyn.simulation.stepping.leading import Leading
from recursive_dyn.simulation.stepping.led_beyond import landed_beside, speed, too_swift
from recursive_dyn.simulation.stepping.met_constraints import MetConstraints
from recursive_dyn.simulation.stepping.missed_rates import with_energy
from recursive_dyn.simulation.stepping.sampled_motion import Motions


def rule_of(dynamics: Dynamics, integrator: str | None) -> str:
    """The integrator that is meant: where none is named the default, or that of joints between free bodies."""
    default = EXPLICIT if isinstance(dynamics, MaximalDynamics) else registry.DEFAULT
    return default if integrator is None else integrator


class StepForces:
    """Of one simulation, with ``motions`` that are sampled, or looked at, at the start of every step.

    rule: the integrator that its bodies fly by; joints: what they do, in maximal coordinates; bounded: whether these
    have limits or dry friction, or balls have limits; constrained: whether the model has constraints; lands: whether
    states are brought onto these, or onto joints, after a step; singly: whether every step is followed by more than the
    next one; one_by_one: whether one begins with more, too; timed: whether anything is prescribed, so that steps
    ``begin`` and ``end``; motors: of the user; own_motors: of the dynamics' own coordinates, none where joints between
    bodies have them. landings: what they did beyond what flights left; meeting: whether states are to be on constraints
    where steps begin, as ``constraints`` know.
    """

    _stuck: Stuck | None  # since the last step, see ``dynamics.taut``
    _flight: Flight | None = None
    _before: StatePair | None = None  # where a step began that motions lead
    _length = 0.0  # of that step, s
    given: np.ndarray  # forces (nv,) that ``forces`` was asked with last

    def __init__(self, dynamics: Dynamics, integrator: str, motions: Motions = ()) -> None:
        self.joints: JointAction | None = None
        self.rule, self._dynamics = integrator, dynamics
        if isinstance(dynamics, MaximalDynamics):
            self.joints, self.rule = joint_action_of(dynamics, integrator), EXPLICIT
        self._stuck, self.landings, self.constraints = None, Landings(), MetConstraints(dynamics)
        self.motors = self.own_motors = Motors(dynamics)
        self._of_joints: JointMotors | None = None
        if isinstance(dynamics, MaximalDynamics):
            self.motors = self._of_joints = JointMotors(dynamics.reduced)
        self.bounded = len(ball_limits(dynamics.model).slots) > 0 or (self.joints is not None and self.joints.bounded)
        self._links = None if self.joints is None else body_links(dynamics.model)
        self._leading = Leading(dynamics, motions, (not registry.find(self.rule).kinks, self.joints is None))
        self.timed, self.constrained = bool(dynamics.model.prescribed), bool(dynamics.model.constraints)
        self.meeting = self.constrained and self.joints is None
        self.bounced = bounced_parts(dynamics, self.joints, self.constraints.floating)
        self.lands = self.constrained or (self.joints is not None and self.joints.lands)
        self.singly = self.constrained or self.joints is not None
        self.one_by_one = self.singly or bool(motions)

    def flies(self, flight: Flight) -> None:
        """Know by which flight steps go that these forces are for."""
        self._flight = flight

    def remember(self, coordinates: np.ndarray) -> None:
        """Keep joint coordinates, as they are found, in this array (reduced.nq,) from now on."""
        if self.joints is not None:
            self.joints.coordinates = coordinates

    def warm_up(self) -> None:
        """Compile, or load, what joints between free bodies, and constraints, need."""
        if self.joints is not None:
            self.joints.warm_up()
        if self.constrained:
            for name in ("project", "difference", "inverse_dynamics", "poses"):
                self._dynamics.kernel(name)
            self._dynamics.kernel("constraint_positions")

    def begin(self, state: State, h: float) -> None:
        """A step of h begins."""
        if self.joints is not None:
            self.joints.whole = h
        if not self.timed:
            return
        state.keep_time()
        self._length = h
        v = None if self._stuck is None else state.v.copy()
        self._leading.move(state, h)
        for name, move in self._leading.moved:
            self.landings = self.landings.with_move(name, move)
        if self.meeting and (self._leading.moved or self.constraints.written):
            moved = self.constraints.only_parameters and not self._leading.moved
            self._meets(state, self._leading.rates(state), moved)
        self._leading.strike(state, h)
        if not self.constrained:
            return
        self._before = state.q.copy(), state.v.copy()
        if v is not None and too_swift(self._dynamics, (state.q, v), self._before):  # no impulse moves what is stuck
            slots = sorted(self._dynamics.model.prescribed)
            v[slots] = state.v[slots]
            state.v[:], self._before = v, (state.q.copy(), v)

    def is_at(self, state: State, moved: bool = False) -> None:
        """Steps go on from a state that is another one; moved: to which somebody has moved."""
        if moved:
            self.constraints.forget()
        if self.timed:
            self._leading.is_at(state, moved)

    def end(self, state: State) -> None:
        """It has ended: what is prescribed is where time says."""
        state.keep_time()
        self._leading.end(state)

    def forces(self, state: State, tau: np.ndarray, h: float) -> np.ndarray:
        """tau (nv,) with what joints between free bodies do in a step of h from here, and what holds what is stuck."""
        self.given = tau.copy()
        self._stuck = still_stuck(self._dynamics, self._stuck, state.q)
        if self._stuck is not None:
            return self._holding(self._stuck, state, tau)
        return self.on_bodies(state.q, state.v, tau, h)

    def _holding(self, stuck: Stuck, state: State, tau: np.ndarray) -> np.ndarray:
        """tau (nv,) with what holds what is stuck, under what acts at the stages of the flight, too."""
        flight = self._flight
        others = np.zeros(len(tau)) if flight is None else pushing(self._dynamics, flight, state.q)
        total = held(self._dynamics, stuck, state.q, state.v, tau + others) - others
        if flight is not None and flight.driven:
            flight.driving().beside = total - tau
        return total

    def on_bodies(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray, h: float) -> np.ndarray:
        """``forces`` from q, v."""
        return tau if self.joints is None else tau + self.joints.over_step(q, v, tau, h)

    @property
    def parts(self) -> int:
        """Into how many parts joints ask for the step to be cut that ``forces`` were for."""
        return 1 if self.joints is None else self.joints.asked[0]

    @property
    def whirling(self) -> str:
        """The body whose joint asked for most."""
        return "" if self.joints is None else self.joints.dynamics.tree.links[self.joints.asked[1]].name

    def landed(
        self, q: np.ndarray, v: np.ndarray, time: float, again: Callable[[], StatePair | None] | None = None
    ) -> StatePair:
        """The state brought onto the constraints, or onto joints between free bodies; where that cannot be, the one
        that the step leads to when it is taken ``again``."""
        try:
            if self.joints is not None:
                return self.joints.landed(q, v)
            (state, met), taken = landing(self._dynamics, q, v), 0.0
            if again is not None:
                state, met, taken = with_less_loss(self._dynamics, (q, v), state, met, again)
            if too_swift(self._dynamics, self._before, state):
                raise StateError(f"constraints would have a coordinate move at {speed(state[1]):.3g} after this step")
        except StateError as error:
            if again is not None and (other := again() or self._led()) is not None:
                self._forget_flight()
                return self.landed(*other, time)
            if self.joints is None and (near := self._near(q, v)) is not None:
                return near
            raise StateError(f"simulation at t = {time:.6g} s: {error}") from None
        if taken > 0.0:
            self.landings = self.landings._replace(taken=self.landings.taken + taken)
        if (began := self.constraints.gaping) is not None:
            self.constraints.gaping = None
            self.landings = with_energy(self.landings, self._dynamics, began, state)
        if not met:
            return self._tautened(*state) or led_on(self._dynamics, *state) or state
        self._stuck = still_stuck(self._dynamics, self._stuck, state[0])
        if self._stuck is not None:
            return state[0], at_rest(self._dynamics, self._stuck, *state)
        return state

    def _led(self) -> StatePair | None:
        """Where motions alone lead in this step, if they do from where rows depend on each other: no rule that meets
        rows by their rates says how what lay there moves."""
        return None if self._before is None else led_from(self._dynamics, *self._before, self._length)

    def _forget_flight(self) -> None:
        """The energy that a flight left unexplained is not told where motions lead, as the step did not end there."""
        if self._before is not None and self._flight is not None:
            self._flight.untold()

    def _near(self, q: np.ndarray, v: np.ndarray) -> StatePair | None:
        """As near to constraints as q, v can be brought that cannot be met from there, at speeds that there may be."""
        before, landings = self._before, self.landings
        self._forget_flight()
        taut = self._tautened(q, v, RESTS if before is None else NEARLY_RESTS)
        if taut is not None and not too_swift(self._dynamics, before, taut):
            return taut
        self._stuck, self.landings = None, landings
        near = landed_beside(self._dynamics, before, q, v) or brought_near(self._dynamics, q, v)
        return near if near is not None and not too_swift(self._dynamics, before, near) else None

    def knows(self, state: State) -> None:
        """Know what is stuck where steps go on from, before one fails of it; what motions may lead on is not."""
        self.constraints.known = True
        if self._stuck is None and not self._dynamics.model.prescribed and stress(self._dynamics, state.q)[1] < NARROW:
            self.tautens(state)

    def tautens(self, state: State) -> bool:
        """Whether something is stuck here, which was not known. It is now, and the state is where it is at rest."""
        if not self.constrained or self.joints is not None or self._stuck is not None:
            return False
        taut = self._tautened(state.q, state.v)
        if taut is None:
            return False
        state.q[:], state.v[:] = taut
        return True

    def _tautened(self, q: np.ndarray, v: np.ndarray, rests: float = RESTS) -> StatePair | None:
        """Where what is stuck is at rest, if anything is from now on."""
        self._stuck, taut = None, tautened(self._dynamics, q, v, rests)
        if taut is None:
            return None
        *state, self._stuck = taut
        there = state[0], state[1]  # what is led there may be anywhere at its end
        self.landings = with_energy(self.landings, self._dynamics, self._before or (q, v), there)
        return there

    def begins(self, state: State, landings: Landings) -> None:
        """It goes on from a state that an edit left, and with these landings."""
        self.landings = landings if self.joints is not None else self.constraints.begins(state, landings)

    def meets(self, state: State) -> None:
        """Steps go on from a state that somebody, or an edit, may have changed, or parameters: where constraints do not
        allow it, it is brought onto them before any rule sees it, and that is told; or a step says why it cannot be."""
        if not self.meeting:
            return
        self.constraints.look(state)
        if self.constraints.written and not self.timed:
            self._meets(state, state.v, self.constraints.only_parameters)

    def _meets(self, state: State, v: np.ndarray, moved: bool) -> None:
        self.landings = self.constraints.bring(state, v, self.landings, moved)

    def noted(self) -> tuple[Any, ...]:
        """What is known where a step begins, to go ``back`` to where it is refused."""
        return self._stuck, self.landings, self._before, self.constraints.noted(), self._leading.noted()

    def back(self, noted: tuple[Any, ...]) -> None:
        """Know what was noted."""
        self._stuck, self.landings, self._before, constraints, motions = noted
        self.constraints.back(constraints)
        self._leading.back(motions)

    def keep_momenta(self, q: np.ndarray, v: np.ndarray, state: State) -> None:
        """Let what floats in joints have the momenta in this state that it had at q, v, where it was moved from."""
        if self.joints is not None:
            self.joints.keep_momenta(q, v, state.q, state.v)

    def held(self, state: State, buffer: ContactBuffer, h: float) -> tuple[HeldJoints, np.ndarray] | None:
        """Rows of joints between free bodies and of their motors, for the impulses of a step of h that flew to this
        state, and what its velocities (nv,) have that joints do not allow."""
        if self.joints is None or self._links is None:
            return None
        drives = partial(self._of_joints.drives, h) if self._of_joints else None
        known, n = buffer.table, buffer.count
        bodies = np.concatenate([known.a[:n], known.b[:n]])
        links = self._links[bodies[(bodies >= 0) & (bodies < len(self._links))]]
        return self.joints.held(state.q, state.v, h, links[links >= 0], drives)
