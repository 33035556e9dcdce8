"""States that constraints do not allow, where a step begins: an edit left them, or somebody wrote to them.

Rates are met as bodies do it that collide and stay together: by an impulse along the rows,

    v' = v - M^-1 C^T (C M^-1 C^T)^+ (C v - c_t),

what is prescribed left as it moves. It is the change of least kinetic energy, which keeps the momentum of what floats
and takes energy only. No rule's stages make that of forces: what these do depends on how long a step is.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.projection import landing, nearly_singular
from recursive_dyn.integrators.integrator import StatePair
from recursive_dyn.simulation.flying.plausible import energies
from recursive_dyn.simulation.report import Landings
from recursive_dyn.simulation.stepping.moved_constraints import turned_along
from recursive_dyn.simulation.stepping.pulled_together import PulledTogether

_ROUNDING = 1e-8  # of the fastest coordinate and 1 m or rad a second: landings leave a hundredth of it
_SINGULAR = 1e-4  # the same where rows depend on each other, and landings leave as much as a tenth


def missed_rates(dynamics: Dynamics, q: np.ndarray, v: np.ndarray) -> bool:
    """Whether constraints do not allow velocities v (nv,) at q (nq,), by more than steps leave."""
    missed = np.abs(dynamics.call("constraint_velocities", q, v)).max(initial=0.0)
    fastest = 1.0 + np.abs(v).max(initial=0.0)
    if not missed > _ROUNDING * fastest:
        return False
    return bool(missed > _SINGULAR * fastest) or not nearly_singular(dynamics, q)


def brought_on(
    floating: PulledTogether, began: StatePair, landings: Landings, gap: bool, moved: bool
) -> tuple[StatePair, Landings]:
    """The state on the constraints that lies nearest to where a step was to begin, and landings with what that took;
    gap: whether anything has to move; moved: as a parameter moved constraints. StateError where there is none."""
    dynamics = floating.dynamics
    (q, v), was = landing(dynamics, *began)[0], began[1]
    missed = np.abs(dynamics.call("constraint_velocities", q, was))
    loss = float(dynamics.kinetic_energy(q, was) - dynamics.kinetic_energy(q, v))
    if gap:
        way = dynamics.difference(began[0], q)
        if moved:
            v = turned_along(dynamics, q, v, way)
        q, v = floating.with_momenta(began, (q, v), way)
        landings = with_energy(landings, dynamics, began, (q, v), loss)
    return (q, v), landings.with_rates(dynamics, missed, loss)


def with_energy(
    landings: Landings, dynamics: Dynamics, before: StatePair, after: StatePair, lost: float = 0.0
) -> Landings:
    """Landings with J that came or went between one (q, v) and another, beyond those that are known to be lost."""
    change = sum(energies(dynamics, *after)) - sum(energies(dynamics, *before))
    return landings._replace(taken=landings.taken + abs(change + lost))
