"""The forces of a simulation's last step as it ended: the user's, contacts', motors', of dry friction and limits."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.turn_rows import KINDS, turn_gaps
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.simulation.flying.applied_forces import AppliedForce, world_wrenches
from recursive_dyn.simulation.loads.constraint_loads import wrenches_of
from recursive_dyn.simulation.results.step_results import StepResults

_MOTOR = "motor of "
_PUSHES = {_MOTOR: 1.0, "friction of ": 1.0, "low limit of ": 1.0, "high limit of ": -1.0}  # rows' signs


def _of_rows(simulation: StepResults, dynamics: Dynamics, q: np.ndarray) -> np.ndarray:
    """Of motors, dry friction and limits, on coordinates q of these dynamics."""
    tau = np.zeros(dynamics.nv)
    slots = {name: slot for slot, name in enumerate(dynamics.velocity_coordinates)}
    impulses = simulation.coordinate_impulses
    if any(row.startswith(KINDS) for row in impulses):
        for row, (slot, _, rates) in turn_gaps(dynamics, q).items():
            tau[slot : slot + len(rates)] += rates * impulses.get(row, 0.0) / simulation.timestep
    shafts = simulation.motors.pushes(q)
    for row, impulse in impulses.items():
        if (name := row.removeprefix(_MOTOR)) != row and name in shafts:
            tau += shafts[name] * impulse / simulation.timestep
            continue
        for prefix, sign in _PUSHES.items():
            if row.startswith(prefix) and row[len(prefix) :] in slots:
                tau[slots[row[len(prefix) :]]] += sign * impulse / simulation.timestep
    return tau


def contact_wrenches(simulation: StepResults) -> np.ndarray:
    """Wrenches (nb, 6) of contacts, world axes at the bodies' origins."""
    return simulation.contact_wrenches(simulation.dynamics.poses(simulation.q)[:, :3, 3])


def wrenches_on_bodies(simulation: StepResults) -> np.ndarray:
    """The same of all that pushes bodies from outside."""
    own = world_wrenches(simulation.dynamics, simulation.q, simulation.acted.forces)
    return contact_wrenches(simulation) + own


def pushes_of_step(simulation: StepResults) -> list[AppliedForce]:
    """The same as forces on the bodies that are pushed at all."""
    wrenches, origin = wrenches_on_bodies(simulation), np.zeros(3)
    return [(k, wrenches[k, :3], wrenches[k, 3:], origin) for k in np.flatnonzero(wrenches.any(axis=1)).tolist()]


@dataclass(frozen=True, eq=False)
class Acting:
    """All that acts in joint coordinates: the dynamics and state; tau (nv,): the user's forces, those of motors, dry
    friction and limits, and of joints' dampers and springs; wrenches (nb, 6) on bodies from outside."""

    dynamics: Dynamics
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    wrenches: np.ndarray


def acting(simulation: StepResults, given: np.ndarray | None = None) -> Acting:
    """The same, of maximal coordinates too, in which the user's forces act on bodies; given (nv,): these, or None:
    those of the last step."""
    d, q, v, wrenches = simulation.dynamics, simulation.q, simulation.v, wrenches_on_bodies(simulation)
    given = simulation.acted.tau if given is None else given
    if isinstance(d, MaximalDynamics):
        wrenches = wrenches + wrenches_of(d, q, given)
        (q, v), d = d.to_reduced(q, v, simulation.near), d.reduced
        tau = _of_rows(simulation, d, q)
    else:
        tau = given + _of_rows(simulation, d, q)
    return Acting(d, q, v, tau + d.passive_forces(q, v), wrenches)
