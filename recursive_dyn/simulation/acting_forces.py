"""The forces of a simulation's last step as it ended: the user's, contacts', motors', of dry friction and limits."""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.turn_rows import KINDS, turn_gaps
from recursive_dyn.simulation.applied_forces import world_wrenches
from recursive_dyn.simulation.constraint_loads import wrenches_of
from recursive_dyn.simulation.step_results import StepResults

_MOTOR = "motor of "
_PUSHES = {_MOTOR: 1.0, "friction of ": 1.0, "low limit of ": 1.0, "high limit of ": -1.0}  # rows' signs


def forces_on_coordinates(simulation: StepResults) -> np.ndarray:
    """tau (nv,): the user's, of motors, dry friction and limits; not of joints' springs and dampers."""
    return simulation.acted.tau + _of_rows(simulation, simulation.dynamics, simulation.q)


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


def acting_forces(simulation: StepResults) -> np.ndarray:
    """All of this as generalized forces (nv,)."""
    pushed = simulation.dynamics.call("external_forces", simulation.q, wrenches_on_bodies(simulation).reshape(-1))
    return forces_on_coordinates(simulation) + pushed


def forces_on_joints(simulation: StepResults, reduced: Dynamics, q: np.ndarray) -> np.ndarray:
    """The same in maximal coordinates, on those of the joints (reduced.nv,), which are at q."""
    dynamics, acted = simulation.dynamics, simulation.acted
    pushed = wrenches_on_bodies(simulation) + wrenches_of(dynamics, simulation.q, acted.tau)
    return _of_rows(simulation, reduced, q) + reduced.call("external_forces", q, pushed.reshape(-1))
