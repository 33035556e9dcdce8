"""What a simulation had to do beyond plain steps, counted since it was made."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.compiled_loop import OFF_TOLD
from recursive_dyn.integrators.energy_watch import SPRING, TREE
from recursive_dyn.model.independent import independent
from recursive_dyn.model.model import Model

# entries of a flight's tally: steps in halves, how often, J, steps that were cut, and by which spring most was lost
HALVED, HALVINGS, UNEXPLAINED, CUT = range(4)
MOST_BY = 8
# entries of what steps note: solves that did not converge, steps with trees that are pressed, parts too long
UNCONVERGED, PRESSED, HURRIED = range(3)
_KEPT = -1.0  # in place of the latter, of a model that is no more
GAP = 1e-5  # m or rad, and the same a second, by which an edit, or who wrote the state, may have constraints missed


@dataclass(frozen=True, repr=False)
class Report:
    """Counts since the simulation was made.

    steps_halved: flights of a step, or of a part of one, that were taken in halves, as their energy was not explained
    (``linearly_implicit_rk4``, ``implicit_midpoint``), they did not converge (both midpoint rules), or joints between
    free bodies could not hold what whirls; halvings: how often, halves of halves with them; unexplained_energy: J that
    came or went in parts as short as they get, in all steps beyond 1 % (both midpoint rules), or where a mechanism came
    to be taut, with nothing to account for it, see integrators.md for who watches; steps_cut: timesteps cut into parts
    because something moved so fast that it would have passed through a body, or that such joints could not hold it, or
    leapt beyond a limit to where energy could not be explained; parts_hurried: parts of these in which something got
    further into something than it should, as there was no room for more of them (``contact.substeps``): it may have
    gone through; sweeps: of both midpoint rules, in all steps that converged (``variational_midpoint``: steps of
    Newton's method, with those by the same factors); step_parts: into how many parts, all alike, every step goes since
    so many were asked for by the energy that steps made of nothing (``variational_midpoint``, see ``finer_steps``): 1,
    2, 4 or 8.
    solves_unconverged: solves of contacts and limits, of a step or a part of one, that ended above
    ``contact.tolerance``; steps_pressed: steps, or parts, in which trees with springs, dampers or a law flew by the
    integrator's rule for what is pressed.
    steps_damped: flights of a step, or of a part of one, from which springs took energy that are too stiff for it
    (``linearly_implicit_rk4``): those of joints beyond h sqrt(k / m) of 3 (balls: and h w of 20), elements beyond 30;
    numerical_damping: J of it; damping_spring: the force element, or the joint's coordinate, that was at work where
    most was lost at once, or one of those if several were, "" if none was.
    gaps_closed: how often an edit, or who wrote q, left constraints off where they hold, which the next step closes
    before it moves anything; widest_gap: by how much, m or rad; gap_constraint: the row that was. J that this gives or
    takes are unexplained.
    rates_met: how often a step began with velocities that constraints do not allow, as after an edit, or as somebody
    wrote v, which an impulse of theirs changed first; widest_rate: by how much, m or rad a second; rate_constraint: the
    row that was; impulse_loss: J that such impulses took of the motion (what motions lead may get some).
    joints_closed: how many bodies an edit hung on joints that cannot have them where they were, or move as they did;
    widest_jump: by how much a pose of theirs was moved, m or rad; jumped_body: whose; widest_stop: by how much a body's
    twist was changed, m/s or rad/s; stopped_body: whose. J that this took are in impulse_loss.
    motions_moved: how often a parameter that was changed had a prescribed motion elsewhere, where its coordinate then
    is from one step to the next; widest_move: by how much, m or rad; moved_motion: that coordinate.
    """

    steps_halved: int = 0
    halvings: int = 0
    unexplained_energy: float = 0.0
    steps_cut: int = 0
    parts_hurried: int = 0
    sweeps: int = 0
    step_parts: int = 1
    solves_unconverged: int = 0
    steps_pressed: int = 0
    steps_damped: int = 0
    numerical_damping: float = 0.0
    damping_spring: str = ""
    gaps_closed: int = 0
    widest_gap: float = 0.0
    gap_constraint: str = ""
    rates_met: int = 0
    widest_rate: float = 0.0
    rate_constraint: str = ""
    impulse_loss: float = 0.0
    joints_closed: int = 0
    widest_jump: float = 0.0
    jumped_body: str = ""
    widest_stop: float = 0.0
    stopped_body: str = ""
    motions_moved: int = 0
    widest_move: float = 0.0
    moved_motion: str = ""

    def __repr__(self) -> str:
        """What is not as for plain steps."""
        given = [(field, getattr(self, field.name)) for field in fields(self)]
        return f"Report({', '.join(f'{field.name}={x!r}' for field, x in given if x != field.default)})"


class Closed(NamedTuple):
    """What joints did that closed, as ``Report`` tells it; lost: J."""

    bodies: int = 0
    jump: float = 0.0
    jumped: str = ""
    stop: float = 0.0
    stopped: str = ""
    lost: float = 0.0

    def with_body(self, name: str, jump: float, stop: float) -> Closed:
        """With one that was moved, and whose velocity was changed, by so much."""
        return self.with_more(Closed(int(max(jump, stop) > GAP), jump, name, stop, name))

    def with_more(self, other: Closed) -> Closed:
        """With what others did later."""
        if not other.bodies:
            return self
        jump, jumped = (other.jump, other.jumped) if other.jump > max(self.jump, GAP) else (self.jump, self.jumped)
        stop, stopped = (other.stop, other.stopped) if other.stop > max(self.stop, GAP) else (self.stop, self.stopped)
        return Closed(self.bodies + other.bodies, jump, jumped, stop, stopped, self.lost + other.lost)


class Landings(NamedTuple):
    """What bringing states onto constraints, and coordinates to where motions have them, did beyond what flights left.

    taken: J that came or went where a mechanism came to be taut, or a gap was closed; closed: how often there was a
    gap; gap: the widest, m or rad; constraint: its row; moved, move, motion: the same of motions that parameters moved;
    joints: what those did that closed.
    """

    taken: float = 0.0
    closed: int = 0
    gap: float = 0.0
    constraint: str = ""
    met: int = 0
    rate: float = 0.0
    kicked: str = ""
    lost: float = 0.0
    moved: int = 0
    move: float = 0.0
    motion: str = ""
    joints: Closed = Closed()

    def with_move(self, motion: str, move: float) -> Landings:
        """With a motion that a parameter moved."""
        wider = move > self.move
        return self._replace(moved=self.moved + 1, move=max(self.move, move), motion=motion if wider else self.motion)

    def with_gap(self, dynamics: Dynamics, q: np.ndarray) -> Landings:
        """With what the constraints of dynamics that begin at q (nq,) are missed by."""
        rows = dynamics.model.constraints
        missed = np.abs(dynamics.call("constraint_positions", q)) if rows else np.zeros(1)
        if not missed.max() > GAP:
            return self
        gap, name = _widest(dynamics, missed, self.gap, self.constraint)
        return self._replace(closed=self.closed + 1, gap=gap, constraint=name)

    def with_rates(self, dynamics: Dynamics, missed: np.ndarray, lost: float) -> Landings:
        """With rates that constraints of dynamics did not allow, by so much (m,), and J that meeting them took."""
        if not missed.max() > GAP:
            return self._replace(lost=self.lost + lost)
        rate, name = _widest(dynamics, missed, self.rate, self.kicked)
        return self._replace(met=self.met + 1, rate=rate, kicked=name, lost=self.lost + lost)


def _widest(dynamics: Dynamics, missed: np.ndarray, most: float, name: str) -> tuple[float, str]:
    """The most that a row was missed by, of these (m,) and of what was before, and the name of that row."""
    worst = int(missed.argmax())
    return (float(missed[worst]), dynamics.model.constraints[worst].name) if missed[worst] > most else (most, name)


def told(tally: np.ndarray, parts: int, noted: np.ndarray, spring: str, landings: Landings) -> Report:
    """The tally (TALLIED,) of a flight, parts of its steps, what steps noted (3,), which spring took most, and what
    landings did."""
    halved, halvings, energy, cut, sweeps, damped, lost, *_ = tally.tolist()
    (unconverged, pressed, hurried), joints = noted.tolist(), landings.joints
    energy += float(tally[OFF_TOLD]) + landings.taken
    return Report(
        steps_halved=int(halved), halvings=int(halvings), unexplained_energy=energy,
        steps_cut=int(cut), parts_hurried=int(hurried), sweeps=int(sweeps), step_parts=parts,
        solves_unconverged=int(unconverged), steps_pressed=int(pressed), steps_damped=int(damped),
        numerical_damping=lost, damping_spring=spring,
        gaps_closed=landings.closed, widest_gap=landings.gap, gap_constraint=landings.constraint,
        rates_met=landings.met, widest_rate=landings.rate, rate_constraint=landings.kicked,
        impulse_loss=landings.lost + joints.lost, joints_closed=joints.bodies, widest_jump=joints.jump,
        jumped_body=joints.jumped, widest_stop=joints.stop, stopped_body=joints.stopped,
        motions_moved=landings.moved, widest_move=landings.move, moved_motion=landings.motion,
    )  # fmt: skip


def damping_spring(model: Model, tally: np.ndarray, kept: str) -> str:
    """Name of the spring that a tally of this model has; kept: that of the models before it."""
    if tally[MOST_BY] < SPRING:
        return kept
    tree, which = divmod(int(tally[MOST_BY]), TREE)
    part = independent(model)[tree]
    names = [model.velocity_names[s] for s in part.slots] + [model.forces[k].name for k in part.elements]
    return names[which - SPRING]


def keep_name(tally: np.ndarray) -> None:
    """Have the tally go on with another model, whose springs have other numbers."""
    tally[MOST_BY] = _KEPT if tally[MOST_BY] else 0.0
