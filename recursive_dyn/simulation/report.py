"""What a simulation had to do beyond plain steps, counted since it was made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.integrators.energy_watch import SPRING, TREE
from recursive_dyn.model.independent import independent
from recursive_dyn.model.model import Model

# entries of a flight's tally: steps in halves, how often, J, steps that were cut, and by which spring most was lost
HALVED, HALVINGS, UNEXPLAINED, CUT = range(4)
MOST_BY = 8
_KEPT = -1.0  # in place of the latter, of a model that is no more


@dataclass(frozen=True)
class Report:
    """Counts since the simulation was made.

    steps_halved: flights of a step, or of a part of one, that were taken in halves, as their energy was not explained
    (``linearly_implicit_rk4``), they did not converge (both midpoint rules), or joints between free bodies could not
    hold what whirls; halvings: how often, halves of halves with them; unexplained_energy: J that came or went in
    parts as short as they get, or where a mechanism came to be taut, with nothing to account for it; steps_cut:
    timesteps cut into parts because something moved so fast that it would have passed through a body, or that such
    joints could not hold it, or leapt beyond a limit to where energy could not be explained; sweeps: of both midpoint
    rules, in all steps that converged (``variational_midpoint``: steps of Newton's method, with those by the same
    factors).
    solves_unconverged: solves of contacts and limits, of a step or a part of one, that ended above
    ``contact.tolerance``; steps_pressed: steps, or parts, in which trees with springs, dampers or a law flew by the
    integrator's rule for what is pressed.
    steps_damped: flights of a step, or of a part of one, from which springs took energy that are too stiff for it
    (``linearly_implicit_rk4``): those of joints beyond h sqrt(k / m) of 3, force elements and balls beyond 30;
    numerical_damping: J of it; damping_spring: the force element, or the joint's coordinate, that was at work where
    most was lost at once, or one of those if several were, "" if none was.
    """

    steps_halved: int = 0
    halvings: int = 0
    unexplained_energy: float = 0.0
    steps_cut: int = 0
    sweeps: int = 0
    solves_unconverged: int = 0
    steps_pressed: int = 0
    steps_damped: int = 0
    numerical_damping: float = 0.0
    damping_spring: str = ""


def told(tally: np.ndarray, noted: np.ndarray, spring: str, taken: float) -> Report:
    """The tally (9,) of a flight, what steps noted (2,), which spring took most, and J that went at landings."""
    halved, halvings, energy, cut, sweeps, damped, lost, *_ = tally.tolist()
    counts = int(halved), int(halvings), energy + taken, int(cut), int(sweeps), *map(int, noted.tolist()), int(damped)
    return Report(*counts, lost, spring)


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
