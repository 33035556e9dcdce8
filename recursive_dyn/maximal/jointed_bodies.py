"""Free bodies and the coordinates of joints between them: states, forces and energies of the one as of the other."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.integrators.integrator import joint_forces
from recursive_dyn.maximal.joint_rows.joint_elements import JointElements
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows, Joints
from recursive_dyn.maximal.joint_rows.outward import carried_outward
from recursive_dyn.maximal.joint_rows.row_memory import RowMemory, RowsFound
from recursive_dyn.maximal.kinds.springs_found import hardness, pull, spring_energy
from recursive_dyn.maximal.poses import by_body, coordinates_of, flat
from recursive_dyn.maximal.shared.following import FollowedCoordinates


class JointedBodies(Dynamics):
    """What dynamics of free bodies know of the coordinates of joints, ``joints``, between them.

    reduced: the scene's dynamics in joint coordinates, jointed: those with coordinates for all joints, that share or
    follow others', too; elements: force elements of such coordinates.
    """

    reduced: Dynamics
    jointed: Dynamics
    joints: Joints
    elements: JointElements
    _following: FollowedCoordinates
    _rows: RowMemory | None

    def neutral(self) -> Array:
        """The scene's neutral configuration, as one of bodies."""
        return self.from_reduced(self.reduced.neutral())[0]

    def beginning(self) -> tuple[Array, Array]:
        """The scene's neutral configuration, joints at rest: bodies move as time moves them."""
        return self.from_reduced(self.reduced.neutral())

    def random(self, rng: np.random.Generator | int | None = None) -> Array:
        """A random configuration of the scene's, as one of bodies."""
        return self.from_reduced(self.reduced.random(rng))[0]

    def from_reduced(self, q: Any, v: Any = None) -> tuple[Array, Array]:
        """(q (..., 7 n), v (..., 6 n)) of bodies, of joint coordinates q and velocities v, 0 where not given."""
        reduced = self.reduced
        q = reduced._finite("q", q, reduced.nq)
        v = np.zeros(reduced.nv) if v is None else reduced._finite("v", v, reduced.nv)
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        places, twists = np.empty((*lead, self.nq)), np.empty((*lead, self.nv))
        q, v = np.broadcast_to(q, (*lead, reduced.nq)), np.broadcast_to(v, (*lead, reduced.nv)).copy()
        if (clock := reduced.model.clock) is not None:
            v[..., clock[1]] = 1.0
        q, v = self.extended(q, v)
        for one in np.ndindex(lead):
            X, V = carried_outward(self.joints, q[one], v[one])
            places[one], twists[one] = flat(coordinates_of(X), self.nq), flat(V, self.nv)
        if clock is not None:
            places[..., -1], twists[..., -1] = q[..., clock[0]], 1.0
        return places, twists

    def to_reduced(self, q: Any, v: Any = None, near: Any = None) -> tuple[Array, Array]:
        """(q, v) in joint coordinates, the nearest ones of each joint by itself.

        near (..., reduced.nq): joint coordinates to search from, as a joint may have several for one pose: turns, or
        angles of another order.
        """
        found = self._found(q, v, near)
        rows = found or self.joint_rows(q, v, self._near(near))
        return rows.q[..., : self.reduced.nq], rows.v[..., : self.reduced.nv]

    def forces_from_reduced(self, q: Any, tau: Any, near: Any = None) -> Array:
        """Generalized forces (..., 6 n) on the bodies of forces tau on joint coordinates, at the bodies' q; near: as in
        ``to_reduced``."""
        rows = self.joint_rows(q, None, self._near(near))
        tau = self.reduced._finite("tau", tau, self.reduced.nv)
        return self._of_coordinates(
            rows, np.append(tau, np.zeros((*tau.shape[:-1], self.jointed.nv - tau.shape[-1])), -1)
        )

    def joint_errors(self, q: Any, v: Any = None, near: Any = None) -> tuple[Array, Array]:
        """(C, C-dot), each (..., n, 6): by how much joints are not met, m and rad, body by body in the order of
        ``joints``; zeros fill the rows of what a joint allows. near: as in ``to_reduced``, which is found sooner."""
        found, n = self._found(q, v, near), self.joints.links
        if found:
            return found.errors[:n], np.where(self.structural, found.rates, 0.0)[:n]
        rows = self.joint_rows(q, v, self._near(near))
        twists = np.zeros(self.nv) if v is None else self._finite("v", v, self.nv)
        rates = rows.rates(self.joints, by_body(twists, 6)) + rows.offsets
        return rows.errors[..., :n, :], np.where(self.structural, rates, 0.0)[..., :n, :]

    @property
    def constraints(self) -> tuple[str, ...]:
        """Names of the rows of the scene's constraints."""
        return self.reduced.constraints

    def constraint_errors(self, q: Any, v: Any = None, near: Any = None) -> tuple[Array, Array]:
        """(phi, psi), each (..., m), of the rows of the scene's constraints: what should be zero; near: as in
        ``to_reduced``."""
        found, n = self._found(q, v, near), self.joints.links
        end = n + len(self.constraints)
        if found:
            return found.errors[n:end, 0], found.rates[n:end, 0]
        rows = self.joint_rows(q, v, self._near(near))
        twists = np.zeros(self.nv) if v is None else self._finite("v", v, self.nv)
        rates = rows.rates(self.joints, by_body(twists, 6)) + rows.offsets
        return rows.errors[..., n:end, 0], rates[..., n:end, 0]

    def _found(self, q: Any, v: Any, near: Any) -> RowsFound | None:
        """Rows at one state near joint coordinates, in machine code; None where this does not find them."""
        if near is None or np.ndim(q) > 1 or np.ndim(v) > 1 or np.ndim(near) > 1:
            return None
        if self._rows is None:
            self._rows = RowMemory(self.joints)
        q, v = self._finite("q", q, self.nq), np.zeros(self.nv) if v is None else self._finite("v", v, self.nv)
        return self._rows.found(q, v, self.extended(self.reduced._finite("near", near, self.reduced.nq))[0])

    def joint_rows(self, q: Any, v: Any = None, start: Array | None = None) -> JointRows:
        """The joints' rows at a state; start (..., jointed.nq): joint coordinates to search from."""
        q = self._finite("q", q, self.nq)
        v = np.zeros(self.nv) if v is None else self._finite("v", v, self.nv)
        return self.joints.rows(q, v, start)

    def element_forces(self, rows: JointRows, q: Array, v: Array) -> Array:
        """Forces (..., 6 n) on the bodies of force elements of joints' coordinates, at a state and its rows."""
        twists, along = self.elements.forces(self, q, v, rows.q, rows.v)
        return flat(twists, self.nv) + self._of_coordinates(rows, along)

    def passive_forces(self, q: Any, v: Any, near: Any = None) -> Array:
        """Forces (..., 6 n) on the bodies of joint damping and springs, and of the scene's force elements; near: as in
        ``to_reduced``."""
        model, between = self.jointed.model, self.call("passive_forces", q, v)
        damping = joint_forces(model).damping
        if not (self.elements.functions or hardness(model).any() or damping.any()):
            return between
        rows, twists = self.joint_rows(q, v, self._near(near)), self._finite("v", v, self.nv)
        places = np.broadcast_to(rows.q, (*rows.v.shape[:-1], rows.q.shape[-1]))
        pulls = np.array([pull(model, places[one]) for one in np.ndindex(places.shape[:-1])]).reshape(rows.v.shape)
        own = self._of_coordinates(rows, -damping * rows.v - pulls)
        return between + own + self.element_forces(rows, self._finite("q", q, self.nq), twists)

    def elastic_energy(self, q: Any, near: Any = None) -> Array:
        """Energy (...) of joint springs and of the scene's force elements; near: as in ``to_reduced``."""
        model, between = self.reduced.model, super().elastic_energy(q)
        if not (self.elements.functions or hardness(model).any()):
            return between
        places = self.to_reduced(q, None, near)[0]
        return between + self.elements.energy(self, np.asarray(q, dtype=float), places) + spring_energy(model, places)

    def _near(self, q: Any) -> Array | None:
        return None if q is None else self.extended(self.reduced._finite("near", q, self.reduced.nq))[0]

    def extended(self, q: Array, v: Array | None = None) -> tuple[Array, Array]:
        """Coordinates q (..., reduced.nq) and rates v (..., reduced.nv) of all joints, those that follow others too."""
        return self._following.extended(q, np.zeros(self.reduced.nv) if v is None else v, self.parameters.values_array)

    @property
    def start(self) -> Array:
        """The scene's neutral configuration, as coordinates of all joints."""
        return self.extended(self.reduced.neutral())[0]

    @property
    def structural(self) -> Array:
        """(n, 6): whether a row is of what a joint does not allow, or of a coordinate."""
        return self.joints.structural

    @cached_property
    def _coordinates(self) -> Array:
        """(n, 6): slot in ``jointed`` of the coordinate that a row measures, -1 for none."""
        slots = np.full((len(self.joints), 6), -1, dtype=np.int64)
        (joint, row), own = self.joints.row_of_slot, self.joints.own_slots
        slots[joint[own], row[own]] = own
        return slots

    def in_rows(self, values: Array) -> Array:
        """Values (..., jointed.nv) of coordinates in the joints' rows, (..., n, 6), 0 in others."""
        at = self._coordinates
        return np.where(at < 0, 0.0, values[..., at]) if values.shape[-1] else np.zeros((*values.shape[:-1], *at.shape))

    def _of_coordinates(self, rows: JointRows, tau: Array) -> Array:
        return flat(rows.forces(self.joints, self.in_rows(tau)), self.nv)
