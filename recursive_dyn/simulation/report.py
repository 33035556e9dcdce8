"""What a simulation had to do beyond plain steps, counted since it was made."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

HALVED, HALVINGS, UNEXPLAINED, CUT = range(
    4
)  # entries of a flight's tally: steps in halves, how often, steps that were cut


@dataclass(frozen=True)
class Report:
    """Counts since the simulation was made.

    steps_halved: flights of a step, or of a part of one, that were taken in halves, as their energy was not explained
    (``linearly_implicit_rk4``), they did not converge (both midpoint rules), or joints between free bodies could not
    hold what whirls; halvings: how often, halves of halves with them; unexplained_energy: J that came or went in parts
    as short as they get, with nothing to account for it; steps_cut: timesteps cut into parts because something moved so
    fast that it would have passed through a body, or that such joints could not hold it, or leapt beyond a limit to
    where energy could not be explained; sweeps: of both midpoint rules, in all steps that converged
    (``variational_midpoint``: steps of Newton's method, with those by the same factors).
    solves_unconverged: solves of contacts and limits, of a step or a part of one, that ended above
    ``contact.tolerance``; steps_pressed: steps, or parts, in which trees with springs, dampers or a law flew by the
    integrator's rule for what is pressed.
    """

    steps_halved: int = 0
    halvings: int = 0
    unexplained_energy: float = 0.0
    steps_cut: int = 0
    sweeps: int = 0
    solves_unconverged: int = 0
    steps_pressed: int = 0


def told(tally: np.ndarray, noted: np.ndarray) -> Report:
    """The tally (5,) of a flight, and what steps noted (2,)."""
    halved, halvings, energy, cut, sweeps = tally.tolist()
    return Report(int(halved), int(halvings), energy, int(cut), int(sweeps), *map(int, noted.tolist()))
