"""The machine code of a simulation's timesteps, bound to the simulation's arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from recursive_dyn.codegen.call_sequence import CallSequence
from recursive_dyn.codegen.loops.calling import Arena, Bound, Packed
from recursive_dyn.codegen.nanoseconds import clock
from recursive_dyn.contact.contact_buffer import NOBODY, ContactBuffer
from recursive_dyn.contact.contacts import FreeBodies
from recursive_dyn.contact.forest_layout import layout, links_of_bodies
from recursive_dyn.contact.problem import BodyFrames, free_inertias
from recursive_dyn.contact.settings import Settings
from recursive_dyn.contact.tuning import REST_SHARE, REST_SPEED
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.graph.expression import is_constant
from recursive_dyn.integrators import registry
from recursive_dyn.maximal.joint_rows.held_joints import HeldJoints
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.recursion.context import METHOD_TWO
from recursive_dyn.simulation.bounds import UNKNOWN, Bounds
from recursive_dyn.simulation.flying.flight import DONE, Flight
from recursive_dyn.simulation.joint_laws.actuation import flown_by_slot
from recursive_dyn.simulation.joint_laws.coordinate_rows import room_for_rows, row_slots, row_sources
from recursive_dyn.simulation.joint_laws.held_rows import hold
from recursive_dyn.simulation.joint_laws.motors import Motors
from recursive_dyn.simulation.kept.events import Events
from recursive_dyn.simulation.kept.memory import Memory
from recursive_dyn.simulation.kept.momentum import floating_trees, no_momentum
from recursive_dyn.simulation.kept.sleeping import no_sleepers, sleepers
from recursive_dyn.simulation.kept.touches import Touches
from recursive_dyn.simulation.present import NOWHERE, Present
from recursive_dyn.simulation.state import State
from recursive_dyn.simulation.stepping import step_start
from recursive_dyn.simulation.stepping.impulse_arrays import impulse_arrays
from recursive_dyn.simulation.stepping.led_into import FOUND
from recursive_dyn.simulation.stepping.lone_bodies import lone_bodies
from recursive_dyn.simulation.stepping.native_step import fly, idle, solve_and_settle
from recursive_dyn.simulation.stepping.pressed import pressed_trees, watched
from recursive_dyn.simulation.stepping.remembering import keep
from recursive_dyn.simulation.stepping.step_arrays import StepArrays, free_room, led_bodies, lending
from recursive_dyn.simulation.stepping.step_start import Noting, StepStart
from recursive_dyn.simulation.stepping.struck_into import LOOKS
from recursive_dyn.simulation.stepping.time_left import PARTS, SPENT
from recursive_dyn.simulation.surroundings import Lookout


class StepMachine:
    """Steps of one state. ``buffer``: where contacts of the step are written and solved; the stages of a step return
    DONE, LOST or a code as ``native_step`` says. h (1,): its length, times (6,): when its stages began, s.

    lawful: whether trees that a law drives fly by another rule while they are pressed, as those with springs do; leads:
    whether motors may lead there. present: frames to keep up to date, or None where no surroundings need them. arena:
    memory that a machine had which is not used any more, and which grew to what steps need.
    """

    FLIGHT, HASTE, LOOK, SOLVE, KEEPING, ALL = range(6)  # stages of a step, and their number

    def __init__(
        self, dynamics: Dynamics, integrator: str, flight: Flight, state: State, motors: Motors, memory: Memory,
        noted: np.ndarray, present: Present | None, buffer: ContactBuffer, arena: Arena | None = None,
        sleepy: bool = False,
    ) -> None:  # fmt: skip
        rule, model = registry.find(integrator), dynamics.model
        self._dynamics, self._state, self._memory = dynamics, state, memory
        self._jointed = isinstance(dynamics, MaximalDynamics)  # joints would have to hold what is solved again
        self._share, self._answering = rule.share, np.array([rule.implicit, rule.answering])
        self._lively = not all(map(is_constant, model.gravity))  # gravity has other values when parameters do
        self.tau, self._motors, self.present = np.zeros(dynamics.nv), motors, present
        trees, self._layout = floating_trees(dynamics), layout(model)
        if present is None and len(trees.bases):
            present = Present(dynamics)
        at, poses, start = (NOWHERE, np.zeros((0, 4, 4)), np.zeros((0, 6)))
        still = np.zeros(dynamics.nv, dtype=np.int64), np.zeros(1 + dynamics.nq, dtype=np.int64)
        if present is not None:
            at, poses, start = present.arrays, present.poses, present.start_twists
            still = at.still_slots, at.still_places
        answering = bool(rule.pressed) and dynamics.method != METHOD_TWO
        sources, kept = row_sources(dynamics, motors.arrays, flight.load, answering), memory.arrays
        self.lawful, self.leads, groups = flight.lawful, flight.leads, np.zeros(0, dtype=np.int64)
        sprung = groups
        if rule.pressed:
            groups, sprung = watched(model, self._layout, self.lawful)
        self._apart = len(groups) > 0
        lone = lone_bodies(model, self._layout, trees)
        self.arrays = StepArrays(
            state.q, state.v, state.clock, self.tau, dynamics.parameters.values_array, np.zeros(dynamics.nq),
            np.zeros(dynamics.nv), flight.tally.copy(), noted.copy(), np.zeros(1, dtype=np.int64), np.zeros(15),
            np.array([present is not None], dtype=np.int64), flight.arrays, at,
            BodyFrames(links_of_bodies(model), poses, start), trees, no_momentum(dynamics),
            lone, sources, np.array([0, 1], dtype=np.int64), np.zeros(6),
            room_for_rows(model, len(kept.rows)), impulse_arrays(dynamics, len(kept.rows), *(still if sleepy else ())),
            kept.numbers.copy(),
            np.zeros(3, dtype=np.int64), np.zeros(6), kept, flight.pressed.arrays if self._apart else flight.arrays,
            pressed_trees(model, self._layout, groups, sprung, flight.asked), noted,
            sleepers(model, self._layout, trees.slots, lone.links, row_slots(model), *still)
            if sleepy else no_sleepers(self._layout.parent, lone.links, len(trees.bases), self._layout.group),
            np.zeros(4, dtype=np.int64), lending(dynamics, self._layout.groups, self.leads),
            led_bodies(dynamics, self.leads and present is not None),
        )  # fmt: skip
        self.h, self.times, self.sleepy = self.arrays.settings[:1], self.arrays.times, sleepy
        self._into = self.arrays.into.data  # numbers of Python are written to it sooner
        if not sleepy:
            kept.slept.rested[:] = 0.0
        self.buffer, self._free, self._gravity = buffer, free_room(0), 0.0
        self._options: tuple[float, float, tuple[float, ...]] = 0.0, 0.0, ()  # of the last step: h, gravity, numbers
        self._pull()
        self._versions = -1, (-1, -1)  # of the buffers that are bound
        self._touches: Touches | None = None
        self._start: StepStart | None = None
        self._looks: Bound | None = None  # of the last lookout, which itself may keep its surroundings alive
        self._bounds, self.said = UNKNOWN, DONE  # by the last stage that ``advance`` took
        # of all stages, with what is bound and this lookout, by which loop
        self._sequences: dict[str, CallSequence] = {}
        self._packed = Packed(self.arrays)
        self._flight, plain = flight, fly.bind(self._packed, self._layout, arena=arena)
        self.arena, self._flies = plain.arena, {"": plain}

    def begin(self, tau: np.ndarray, h: float, settings: Settings, calm: bool) -> None:
        """Before a step, or part of one, of length h: what may have changed since the last one. calm: whether nothing
        that surrounds the simulation moves by itself."""
        self.tau[:] = tau
        if self.sleepy:
            sleep = self.arrays.sleep
            sleep.after[0], sleep.calm[0], sleep.driven[0] = settings.sleep_after, calm, self._flight.driven
        if not self._motors.written:
            self._motors.write()
        looks, motors = self.present is not None and settings.detect == "step", len(self._motors) > 0
        into = self._into
        into[0], into[1] = looks and motors, 0
        into[2], into[3] = not self._bounds.others[0], LOOKS if looks and not self._jointed else 0
        if self._lively:
            self._pull()
        numbers, (length, gravity, known) = settings.numbers, self._options
        if numbers is not known or h != length or gravity != self._gravity:
            rest = max(REST_SPEED, REST_SHARE * self._gravity * h)
            time, x = clock() if settings.microseconds < np.inf else 0, self.arrays.settings
            x[:SPENT] = h, self._share, rest, *numbers[:5], *(self._answering * h), settings.microseconds, time
            x[PARTS] = settings.substeps
            self._options = h, self._gravity, numbers

    def _pull(self) -> None:
        """Gravity as parameters have it now."""
        gravity = self._dynamics.model.gravity_at(self._dynamics.parameters.values_array)
        self.arrays.trees.gravity[:] = gravity
        self._gravity = math.sqrt(gravity @ gravity)

    def advance(
        self, lookout: Lookout, events: Events, tau: np.ndarray, h: float, settings: Settings, calm: bool
    ) -> int:
        """Take all stages of a step in one go, up to one that has more to say than DONE: that one, or ALL.

        Then all of the step is done, time, memory and events too: nothing is left that Ctrl-C could come before. No
        free bodies take part, nor did in the step before.
        """
        buffer = self.buffer
        self.begin(tau, h, settings, calm)
        if buffer.free is not NOBODY:
            buffer.clear()
        if self._free.size[0]:
            self._free.size[0] = 0
        self._bind_anew()
        if self._touches is not events.touches:
            self._bind_keep(events)
        if lookout.look is not self._looks:
            self._sequences, self._looks = {}, lookout.look
            self.bounded(lookout.bounds())
        way = self._flight.way
        if way not in self._sequences:
            haste, look = (call or idle.bind(self.arrays.counts) for call in (lookout.haste, lookout.look))
            calls = self._fly, haste, look, self._solve, self._keep
            self._sequences[way] = CallSequence(calls, self.times)
        sequence = self._sequences[way]
        stage = sequence()
        self.said = sequence.said
        return stage

    def bounded(self, bounds: Bounds) -> None:
        """What may be touched is within these boxes, or UNKNOWN ones."""
        self.arrays.into[2] = not bounds.others[0]
        if bounds is not self._bounds:
            self._bounds = bounds
            self._bind()

    @property
    def _fly(self) -> Bound:
        """What flies by the flight's present loop."""
        flight = self._flight
        key = flight.way
        if key not in self._flies:
            arrays = self.arrays._replace(flight=flight.present_arrays)
            if self._apart:
                arrays = arrays._replace(other=flight.pressed.present_arrays)
            self._flies[key] = fly.bind(arrays, self._layout, arena=self.arena)
        return self._flies[key]

    def fly(self) -> int:
        """Fly on from the state."""
        return int(self._fly())

    def start(self, events: Events, others: Sequence[Noting]) -> StepStart:
        """What keeps the start of a step in parts, and what others know there."""
        given = self._state, self._memory, events, self._flight, self.arrays.noted, others
        self._start = self._start or StepStart(*given)
        return self._start

    def borne(self) -> np.ndarray:
        """Forces (nv,) of motors and dry friction that the flight of the last step, or part, had, N or N m."""
        sources, h = self.arrays.sources, self.arrays.settings[0]
        result = flown_by_slot(sources.motors) / h
        np.add.at(result, sources.rubbing, sources.rubbed / h)
        return result

    def undo(self) -> None:
        """Back to where ``fly`` started, if the step is not done, with what was counted until then."""
        if self.arrays.flown[0]:
            self._state.q[:], self._state.v[:] = self.arrays.start_q, self.arrays.start_v
            self._flight.tally[:], self.arrays.noted[:] = self.arrays.start_tally, self.arrays.start_noted
            self.arrays.flown[0] = 0
        self.arrays.present.asleep[:] = 0

    def solve(self, held: tuple[HeldJoints, np.ndarray] | None) -> int:
        """Solve for what the buffer holds, and rows of joints as these are ``held``, move and settle."""
        if held is not None:
            hold(self.arrays.sources.held, *held)
        free = self.buffer.free
        self._bind_anew()
        if free is not NOBODY or self._free.size[0]:
            self._take(free)
        answered = self.arrays.into[1] == FOUND  # no impulses are sought: bodies have those of the solve before
        code: int = self._solve()
        if free is not NOBODY and self.arrays.counts.any() and not answered:
            free.twist += self._free.twists[: len(free)]
            free.shift += self._free.ways[: len(free)]
        return code

    def keep(self, events: Events) -> None:
        """Remember this step: the next one starts from it."""
        if self.buffer.free is not NOBODY:
            events.number(self.buffer.free_names)
        if self._touches is not events.touches:
            self._bind_keep(events)
        buffer, kept = self.buffer, self._memory.contacts
        self._memory.take_free(buffer, self._dynamics.model.nb, self.arrays.part[0] > 0)
        while self._keep() != DONE:
            events.make_room(2 * buffer.capacity + kept.count)
            self._memory.grow(buffer.count)
            self._bind_anew()
            self._bind_keep(events)

    def warm_up(self, events: Events) -> None:
        """Compile or load what is bound when it is first needed."""
        self._bind()
        self._bind_keep(events)
        events.warm_up()
        step_start.warm_up()
        lending(self._dynamics, 0, motors=True)
        idle.warm()

    def explain(self) -> None:
        """Raise StateError for numbers that are not finite: for the first function of the state that has none."""
        state, call, h, ahead = self._state, self._dynamics.call, *self.arrays.settings[8:10]
        if self.present is not None:
            self.present.update(state.q, state.v)
        elif self.arrays.placed[0]:
            call("frames", state.q, state.v)
        none = np.zeros_like(state.v)
        call("impulse_factors", state.q, [h], [ahead], self.arrays.sources.motors.diagonal, none)

    def _bind_anew(self) -> None:
        if self._versions != (self.buffer.version, self._memory.version):
            self._bind()

    def _bind(self) -> None:
        (kept := self._memory.contacts).grow(self.buffer.capacity)
        given = self._packed, self._layout, self.buffer.packed, kept.packed, self._free, self._bounds
        self._solve = solve_and_settle.bind(*given, arena=self.arena)
        self._touches, self._sequences, self._versions = None, {}, (self.buffer.version, self._memory.version)

    def _bind_keep(self, events: Events) -> None:
        events.make_room(self.buffer.capacity + self._memory.contacts.count)
        self._touches = events.touches
        tables = self.buffer.packed, self._memory.contacts.packed, self._memory.ended.packed, events.packed
        given = self._packed, *tables, self._dynamics.model.nb
        self._keep, self._sequences = keep.bind(*given, arena=self.arena), {}

    def _take(self, free: FreeBodies) -> None:
        """Free bodies as a solve reads them."""
        m = len(free)
        if m > len(self._free.ways):
            self._free = free_room(2 * m)
            self._bind()
        self._free.size[0] = m
        if m:
            for target, source in zip(self._free.given, free_inertias(free), strict=True):
                target[:m] = source
