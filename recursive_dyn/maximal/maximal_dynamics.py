"""The dynamics of a scene in maximal coordinates: every moving body free, joints as penalties or constraints."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Self

import numpy as np

from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.hanging import UNKNOWN, Hanging
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.expressible import check_light
from recursive_dyn.maximal.freed.link_inertias import link_inertias
from recursive_dyn.maximal.holding import PENALTY, VELOCITY_CONSTRAINTS, holding
from recursive_dyn.maximal.joint_rows.held_joints import held_width
from recursive_dyn.maximal.joint_rows.held_names import held_names
from recursive_dyn.maximal.joint_rows.joint_elements import JointElements
from recursive_dyn.maximal.joint_rows.joint_masses import masses_at_joints, springs_of
from recursive_dyn.maximal.joint_rows.joint_rows import JointRows, Joints
from recursive_dyn.maximal.joint_rows.light_bodies import falling, light_bodies, solved_with_light
from recursive_dyn.maximal.joint_rows.row_memory import RowMemory
from recursive_dyn.maximal.jointed_bodies import JointedBodies
from recursive_dyn.maximal.poses import applied, by_body, flat
from recursive_dyn.maximal.shared.following import FollowedCoordinates
from recursive_dyn.maximal.shared.loosening import loosened
from recursive_dyn.model.model import Model
from recursive_dyn.model.model_parts import altered
from recursive_dyn.recursion.context import AUTO

_STEP = 1 / 240  # s, of which springs are taken where there is no timestep


class MaximalDynamics(JointedBodies):
    """Equations of motion of the same bodies, each with a position, a quaternion and a twist of its own.

    q (..., 7 n): position and quaternion x, y, z, w of every moving body, v (..., 6 n): [omega; v] in its own axes;
    where the scene depends on time, that and its rate 1 come after them.
    ``bodies`` are those of the scene; ``reduced`` are the scene's dynamics in joint coordinates, ``jointed`` those with
    coordinates for all joints, that share or follow others', too. mass_matrix, bias, inverse_dynamics, kinetic energy
    and momenta are those of the bodies by themselves, the first three of these with masses that others lend to bodies
    without inertia (``lent_masses``); joints act in
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
        self.light = light_bodies(reduced)
        if len(self.light.links):
            check_light(self.light, self, method, self.inertias, self.rotors)

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
        pull = np.zeros(a.shape)
        if len(self.light.links):
            pull += falling(self, self._finite("q", q, self.nq))
            turning = by_body(self._finite("v", v, self.nv), 6)
            pull[..., 3:] -= np.cross(turning[..., :3], turning[..., 3:])
        given = rows, self.inertias, a, np.where(hard, 0.0, rotors), rows.bias
        return flat(solved_with_light(self.light, self.joints, *given, pull), self.nv)

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
        return self.call(
            "forward_dynamics", q, v, tau + self.call("passive_forces", q, v) if self.model.forces else tau
        )

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

    @cached_property
    def rotors(self) -> Array:
        """Inertia (n, 6) of rotors, along the joints' rows."""
        return self.in_rows(np.array([c.armature for c in self.jointed.model.coordinates], dtype=float))
