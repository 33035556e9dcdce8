"""Forces and torques that a person applies to bodies for the length of a call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.forces.pushed_bodies import PUSH
from recursive_dyn.simulation.flying.engine import Law, Load
from recursive_dyn.simulation.flying.flight import Flight
from recursive_dyn.simulation.state import numbers

# body, torque and force in world axes, point of the body's frame
AppliedForce = tuple[int, np.ndarray, np.ndarray, np.ndarray]


class Acted(NamedTuple):
    """What the user had act in a step: tau (nv,), and forces on bodies."""

    tau: np.ndarray
    forces: Sequence[AppliedForce]


def applied(dynamics: Dynamics, body: Any, torque: Any, force: Any, point: Any) -> AppliedForce:
    """A checked one; ModelError for an unknown body, StateError for anything but three finite numbers each."""
    torque, force, point = (
        numbers(dynamics, name, value, 3) for name, value in (("torque", torque), ("force", force), ("point", point))
    )
    return dynamics.model.body_index(body), torque, force, point


def world_wrenches(dynamics: Dynamics, q: np.ndarray, forces: Sequence[AppliedForce]) -> np.ndarray:
    """Wrenches (nb, 6) of applied forces at q (nq,), world axes at the bodies' origins."""
    poses = dynamics.poses(q)
    wrenches = np.zeros((len(dynamics.bodies), 6))
    for index, torque, force, point in forces:
        wrenches[index, :3] += torque + np.cross(poses[index, :3, :3] @ point, force)
        wrenches[index, 3:] += force
    return wrenches


def acting(
    dynamics: Dynamics, flight: Flight, q: np.ndarray, tau: np.ndarray, forces: Sequence[AppliedForce],
    law: Law | None = None, load: Load | None = None,
) -> np.ndarray:  # fmt: skip
    """tau (nv,) for a flight from q (nq,) with applied forces beside it, and a law that gives tau where it is asked, or
    how tau answers accelerations.

    They act at the stages of its rule. One that evaluates forces at the start of a step only, or joints between free
    bodies, has them in tau, as they are at q.
    """
    if flight.staged and (forces or law is not None or load is not None):
        flight.drive(pushes(dynamics, forces), moved_slots(dynamics, forces), law, tau, load)
        return tau
    return tau + generalized(dynamics, q, forces) if forces else tau


def warm_up_forces(dynamics: Dynamics, flight: Flight) -> None:
    """Compile, or load, what forces on bodies and laws at stages need."""
    if flight.staged:
        flight.prepare_driving()
    else:
        for function in ("poses", "external_forces"):
            dynamics.kernel(function)


def pushes(dynamics: Dynamics, forces: Sequence[AppliedForce]) -> np.ndarray:
    """What ``forces.pushed_bodies`` makes of applied forces (nb, PUSH)."""
    result = np.zeros((len(dynamics.bodies), PUSH))
    for index, torque, force, point in forces:
        result[index] += np.concatenate([torque, force, np.outer(point, force).reshape(-1)])
    return result


def moved_slots(dynamics: Dynamics, forces: Sequence[AppliedForce]) -> np.ndarray:
    """1 for the slots (nv,) that move any of the bodies that forces are applied to, else 0."""
    model, result = dynamics.model, np.zeros(dynamics.nv, dtype=np.int64)
    for index, *_ in forces:
        link = model.bodies[index].link
        while link != WORLD:
            result[list(model.links[link].slots)] = 1
            link = model.links[link].parent
    return result


def pushing(dynamics: Dynamics, flight: Flight, q: np.ndarray) -> np.ndarray:
    """Generalized forces (nv,) at q (nq,) of what acts on bodies at the stages of a flight, beside tau."""
    given = flight.driving().engine.pushes if flight.driven else None
    if given is None or not given.any():
        return np.zeros(dynamics.nv)
    wrenches, R = np.zeros((len(dynamics.bodies), 6)), dynamics.poses(q)[:, :3, :3]
    own = given.reshape(-1, PUSH)
    turned = R @ own[:, 6:].reshape(-1, 3, 3)
    wrenches[:, :3], wrenches[:, 3:] = own[:, :3], own[:, 3:6]
    for k, (i, j) in enumerate(((1, 2), (2, 0), (0, 1))):
        wrenches[:, k] += turned[:, i, j] - turned[:, j, i]
    return dynamics.call("external_forces", q, wrenches.reshape(-1))


def generalized(dynamics: Dynamics, q: np.ndarray, forces: Sequence[AppliedForce]) -> np.ndarray:
    """Generalized forces (nv,) of applied forces at q (nq,)."""
    return dynamics.call("external_forces", q, world_wrenches(dynamics, q, forces).reshape(-1))
