"""The dynamics of a scene in maximal coordinates: every moving body free, joints as penalties or constraints."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.hanging import UNKNOWN, Hanging
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.expressible import check_joints, check_masses
from recursive_dyn.maximal.following import FollowedCoordinates
from recursive_dyn.maximal.held_joints import held_width
from recursive_dyn.maximal.held_names import held_names
from recursive_dyn.maximal.holding import PENALTY, VELOCITY_CONSTRAINTS, holding
from recursive_dyn.maximal.joint_elements import JointElements
from recursive_dyn.maximal.joint_masses import masses_at_joints, springs_of
from recursive_dyn.maximal.joint_rows import JointRows, Joints
from recursive_dyn.maximal.joint_solve import solved
from recursive_dyn.maximal.link_inertias import link_inertias
from recursive_dyn.maximal.loosening import loosened
from recursive_dyn.maximal.outward import carried_outward
from recursive_dyn.maximal.poses import applied, by_body, coordinates_of, flat
from recursive_dyn.maximal.row_memory import RowMemory, RowsFound
from recursive_dyn.maximal.springs_found import hardness, spring_energy
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import altered
from recursive_dyn.recursion.context import AUTO

_STEP = 1 / 240  # s, of which springs are taken where there is no timestep


class MaximalDynamics(Dynamics):
    """Equations of motion of the same bodies, each with a position, a quaternion and a twist of its own.

    q (..., 7 n): position and quaternion x, y, z, w of every moving body, v (..., 6 n): [omega; v] in its own axes;
    where the scene depends on time, that and its rate 1 come after them.
    ``bodies`` are those of the scene; ``reduced`` are the scene's dynamics in joint coordinates, ``jointed`` those with
    coordinates for all joints, that share or follow others', too. mass_matrix, bias, inverse_dynamics, kinetic energy
    and momenta are those of the bodies by themselves; joints act in
    ``forward_dynamics``, by forces A^T lambda that keep C-ddot = 0 ("velocity_constraints") or by springs of no length
    ("penalty"), whose energy is not among ``elastic_energy``.

    stiffness, damping: of "penalty", N/m and N m/rad, N s/m and N m s/rad, a number or two, one for rotations and one
    for translations; None: what a simulation's timestep and the masses allow. stabilization: of
    "velocity_constraints", the share of a joint's error that a timestep takes back. ModelError as for the scene, and
    for joints and bodies that have no such form.
    """

    def __init__(
        self, reduced: Model, free: Model, method: str = VELOCITY_CONSTRAINTS, hanging: Hanging = UNKNOWN,
        **settings: Any,
    ) -> None:  # fmt: skip
        check_joints(reduced)
        loose = loosened(reduced)
        super().__init__(altered(free, held=held_names(loose.model)), AUTO, hanging)
        self._method, self._settings = method, settings
        self.reduced = Dynamics(reduced, AUTO, hanging)
        self.jointed = Dynamics(loose.model, AUTO, hanging)
        self.reduced._values = self.jointed._values = self._values
        self._following = FollowedCoordinates(loose, reduced.nq, reduced.nv)
        self.stiffness, self.damping, self.stabilization = holding(method, settings)
        self.joints, self.elements = Joints(self.jointed, self, self.start), JointElements(loose.model)
        self.model = altered(self.model, held_width=held_width(self.joints.more))
        self._inertias_at: bytes | None = None
        self._rows: RowMemory | None = None
        check_masses(self, self.inertias)

    def __getstate__(self) -> dict[str, Any]:
        """Without memory at addresses of this process."""
        return vars(self) | {"_rows": None}

    @property
    def method(self) -> str:
        """How joints hold: "penalty" or "velocity_constraints"."""
        return self._method

    @property
    def settings(self) -> dict[str, Any]:
        """Those that were given: stiffness, damping, stabilization."""
        return dict(self._settings)

    @property
    def tree(self) -> Model:
        """The scene's own model, in which bodies hang on each other."""
        return self.reduced.model

    def view(self) -> Self:
        """The same functions, nothing compiled twice, with values of the parameters of their own."""
        result = super().view()
        result.reduced, result.jointed = self.reduced.view(), self.jointed.view()
        result.reduced._values = result.jointed._values = result._values
        result._rows = None
        result.joints, result._inertias_at = self.joints.of(result.jointed, result), None
        return result

    @property
    def inertias(self) -> Array:
        """Of every moving body by itself, (n, 6, 6) on twists in its own axes."""
        at = self.joints.version
        if self._inertias_at != at:
            self._inertias, self._inertias_at = link_inertias(self), at
        return self._inertias

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

    def elastic_energy(self, q: Any, near: Any = None) -> Array:
        """Energy (...) of joint springs and of the scene's force elements; near: as in ``to_reduced``."""
        model, between = self.reduced.model, super().elastic_energy(q)
        if not (self.elements.functions or hardness(model).any()):
            return between
        places = self.to_reduced(q, None, near)[0]
        return between + self.elements.energy(self, np.asarray(q, dtype=float), places) + spring_energy(model, places)

    def forward_dynamics(self, q: Any, v: Any, tau: Any = None, external: Any = None) -> Array:
        """Accelerations (..., 6 n) of the bodies as their joints let them, under forces tau (..., 6 n) and wrenches
        ``external`` (..., nb, 6), world axes at each body's origin; joint damping and springs are not included.

        By "velocity_constraints" joints keep C-ddot = 0; by "penalty" they pull as in a step of 1/240 s where no
        stiffness was given.
        """
        rows = self.joint_rows(q, v)
        a = super().forward_dynamics(q, v, tau, external)
        a = by_body(a, 6)
        if self._method == PENALTY:
            twists = self._finite("v", v, self.nv)
            pulls = rows.forces(self.joints, self.spring_forces(rows, by_body(twists, 6), _STEP))
            a = a + applied(np.linalg.inv(self.inertias), pulls)
        rotors = np.divide(1.0, self.rotors, out=np.full_like(self.rotors, np.inf), where=self.rotors > 0.0)
        hard = self.structural if self._method == VELOCITY_CONSTRAINTS else np.zeros_like(self.structural)
        x, _ = solved(self.joints, rows, self.inertias, a, np.where(hard, 0.0, rotors), rows.bias)
        return flat(x, self.nv)

    def derivatives(self, function: str, *arguments: Any, **settings: Any) -> tuple[Array, ...]:
        """As of any dynamics, of functions of the bodies by themselves; ModelError for those that joints act in."""
        if function == "step" or self.functions.function(function).solves:
            raise ModelError(f"{function} has no derivatives in maximal coordinates; differentiate dynamics.reduced")
        return super().derivatives(function, *arguments, **settings)

    def linearize(self, *arguments: Any, **settings: Any) -> tuple[Array, Array]:
        """ModelError: joints are not in the derivatives of free bodies."""
        raise ModelError("there is no linear model in maximal coordinates; linearize dynamics.reduced")

    def free_accelerations(self, q: Array, v: Array, tau: Array) -> Array:
        """Accelerations (..., 6 n) of the bodies as if there were no joints, force elements included."""
        return self.call("forward_dynamics", q, v, tau + self.passive_forces(q, v) if self.model.forces else tau)

    def hardness(self, h: float, implicit: bool) -> tuple[Array, Array]:
        """(stiffness, damping), each (n, 6), of "penalty" against displacements in child frames, in a timestep of h."""
        masses = masses_at_joints(self.joints, self.inertias, self.joint_rows(self.neutral(), None, self.start))
        k, d = springs_of(masses, self.stiffness, self.damping, h, implicit)
        sprung = ~self.joints.told[:, None]  # motions are met as they are told
        return k * sprung, d * sprung

    def springs(self, rows: JointRows, h: float, implicit: bool) -> tuple[Array, Array]:
        """(K, D), each (..., n, 6, 6), of "penalty" on the joints' rows in a timestep of h, 0 on coordinates."""
        k, d = self.hardness(h, implicit)
        N = rows.basis * self.structural[:, :, None]
        return (N * k[:, None, :]) @ np.swapaxes(N, -1, -2), (N * d[:, None, :]) @ np.swapaxes(N, -1, -2)

    def spring_forces(self, rows: JointRows, twists: Array, h: float) -> Array:
        """-K C - D C-dot (..., n, 6) along the joints' rows."""
        K, D = self.springs(rows, h, implicit=False)
        return -(applied(K, rows.errors) + applied(D, rows.rates(self.joints, twists) + rows.offsets))

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

    @cached_property
    def rotors(self) -> Array:
        """Inertia (n, 6) of rotors, along the joints' rows."""
        return self.in_rows(np.array([c.armature for c in self.jointed.model.coordinates], dtype=float))

    def _of_coordinates(self, rows: JointRows, tau: Array) -> Array:
        return flat(rows.forces(self.joints, self.in_rows(tau)), self.nv)
