"""Coordinates and bodies: velocities and forces of the one as those of the other, and back (Liu & Jain, section 6)."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from recursive_dyn.codegen.arguments import real_array
from recursive_dyn.codegen.batch_rows import batch_shape
from recursive_dyn.codegen.evaluator import Array
from recursive_dyn.dynamics.model_evaluator import ModelEvaluator
from recursive_dyn.dynamics.nearest_configuration import nearest_configuration
from recursive_dyn.dynamics.point_jacobian import point_jacobian
from recursive_dyn.errors import StateError
from recursive_dyn.model.model import WORLD
from recursive_dyn.recursion.cartesian.cartesian_forces import pushes_freely, turns_freely

COUPLE, MINIMUM, FORCE, TREE, JOINTS = "couple", "minimum", "force", "tree", "joints"
_ROUNDING = 1e-11  # of tau and of the wrenches that act as it: what is left of a tau that was reached


class Conversions(ModelEvaluator):
    """What of an Evaluator of a model is about its bodies: frames, velocities, forces."""

    def poses(self, q: Any) -> Array:
        """X_WB of every body, (..., nb, 4, 4)."""
        return self.call("poses", q)

    def velocities(self, q: Any, v: Any) -> Array:
        """[omega; v] of every body at its origin, world axes, (..., nb, 6)."""
        return self.call("velocities", q, v)

    def accelerations(self, q: Any, v: Any, a: Any) -> Array:
        """[alpha; a] of every body at its origin, world axes, (..., nb, 6): angular acceleration and the second time
        derivative of the origin's place (not the spatial acceleration of Featherstone); gravity is not in it."""
        return self.call("accelerations", q, v, a)

    def generalized_velocities(
        self, q: Any, velocities: Any, *, choice: str = TREE, length: float = 1.0
    ) -> tuple[Array, Array]:
        """(v (..., nv), residual (..., nb, 6)) of bodies' velocities [omega; v] at their origins, world axes.

        The residual is what of ``velocities`` v does not give: nothing but rounding where the joints allow them. Else
        choice "tree" makes the sum of length^2 omega^2 + v^2 over all residuals least; "joints" does so for each joint
        alone, as its body moves against the parent as given (joints that share coordinates together). Constraints are
        not looked at: ``project`` brings v onto them. StateError at a singular joint. Liu & Jain 6.1.
        """
        function = {TREE: "tree_velocities", JOINTS: "joint_velocities"}.get(choice)
        if function is None:
            raise StateError(f"velocities are not fitted by '{choice}'; choose '{TREE}' or '{JOINTS}'")
        given = self._of_bodies("velocities", velocities, 6)
        v = self.call(function, q, given, self._weights(MINIMUM, length))
        reached = self.velocities(q, v)
        return v, given.reshape(*given.shape[:-1], *reached.shape[-2:]) - reached

    def generalized_positions(self, q: Any, poses: Any, *, length: float = 1.0) -> tuple[Array, Array]:
        """(q (..., nq), residual (..., nb, 6)) of bodies' poses X_WB (..., nb, 4, 4), searched from q on.

        Joints that do not allow the poses come as near as a step with the residual, [rotation vector; displacement] in
        world axes, can bring them: as ``generalized_velocities`` by "tree". StateError where nothing near is found.
        """
        weights = self._weights(MINIMUM, length)
        return nearest_configuration(self, self._finite("q", q, self.model.nq), poses, weights)

    def jacobian(self, q: Any, body: Any, point: Any = (0.0, 0.0, 0.0)) -> Array:
        """J (..., 6, nv) with [omega; v] = J v, world axes, at ``point`` in the frame of ``body``, a name or a Body."""
        index = self.model.body_index(body)
        point = self._finite("point", point, 3)
        S = self.call("screws", q)
        X = self.poses(q)[..., index, :, :]
        place = X[..., :3, 3] + np.einsum("...ij,...j->...i", X[..., :3, :3], point)
        return point_jacobian(self.model, index, S, place)

    def jacobian_rate_velocity(self, q: Any, v: Any, body: Any, point: Any = (0.0, 0.0, 0.0)) -> Array:
        """dJ/dt v (..., 6) of ``jacobian``: [alpha; a] of the point without accelerations of coordinates, world axes.

        J a + dJ/dt v is what the point does at accelerations a; of what time moves, all it does of itself is in it.
        """
        index = self.model.body_index(body)
        point = self._finite("point", point, 3)
        V = self.velocities(q, v)[..., index, :]
        A = self.accelerations(q, v, np.zeros(self.model.nv))[..., index, :]
        r = np.einsum("...ij,...j->...i", self.poses(q)[..., index, :3, :3], point)
        omega, alpha = V[..., :3], A[..., :3]
        turning = np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
        return np.concatenate([alpha, A[..., 3:] + turning], axis=-1)

    def center_of_mass_jacobian(self, q: Any) -> Array:
        """J (..., 3, nv): the centre of mass of all that moves has velocity J v, world axes, m/s."""
        A, sums = self._momenta(q, np.zeros(self.model.nv))
        return A[..., 3:, :] / sums[..., :1, None]

    def centroidal_momentum_matrix(self, q: Any) -> Array:
        """A (..., 6, nv): [angular momentum about the centre of mass; momentum] = A v, world axes, rotors not included
        (Orin, Goswami & Lee 2013)."""
        A, _ = self._momenta(q, np.zeros(self.model.nv))
        return A

    def centroidal_momentum_rate(self, q: Any, v: Any, a: Any) -> Array:
        """(..., 6) of [angular momentum about the centre of mass; momentum] at accelerations a (..., nv), world axes:
        A a + dA/dt v, the moment and the force from outside, gravity included, that such a motion takes."""
        A, sums = self._momenta(q, v)
        rate = sums[..., 10:].copy()
        rate[..., :3] -= np.cross(sums[..., 1:4], rate[..., 3:])
        return rate + np.einsum("...ij,...j->...i", A, self._finite("a", a, self.model.nv))

    def _momenta(self, q: Any, v: Any) -> tuple[Array, Array]:
        """The centroidal momentum matrix (..., 6, nv) and [mass; centre of mass (3,); momentum (6,); its rate without
        accelerations (6,)], these about the world origin."""
        found = self.call("centroidal", q, v)
        count = 6 * self.model.nv
        A, sums = found[..., :count].reshape(*found.shape[:-1], 6, self.model.nv).copy(), found[..., count:]
        A[..., :3, :] -= np.cross(sums[..., 1:4, None], A[..., 3:, :], axis=-2)
        return A, sums

    def generalized_forces(self, q: Any, wrenches: Any) -> Array:
        """tau (..., nv) of wrenches (..., nb, 6), world axes at each body's centre of mass: Liu & Jain 6.2."""
        return self.call("generalized_forces", q, self._of_bodies("wrenches", wrenches, 6))

    def cartesian_forces(
        self,
        q: Any,
        tau: Any,
        *,
        choice: str = COUPLE,
        length: float = 1.0,
        points: Any = None,
        partial: bool = False,
    ) -> Array:
        """Wrenches (..., nb, 6), world axes at each body's centre of mass, that act as tau and nothing else.

        They come in pairs, on a joint's child and against its parent at the same point of the world. choice "couple":
        pure couples; "force": forces alone, at ``points``; "minimum": of least moment^2 / length^2 + force^2 there, as
        for all joints of which couples, or forces at a point, cannot do everything. points (..., nb, 3): of each child,
        in its frame; its origin if None. "tree": no pairs, but the least of all wrenches, at the bodies' origins, which
        together push the whole against the world. What acts on a coordinate that several joints share acts through the
        first, if that can do it.

        StateError names the coordinate whose tau cannot be reached, as at a gimbal lock or by a force through a hinge's
        axis; with ``partial`` it is left out: tau - generalized_forces(q, wrenches) says what is missing. Constraints
        are not looked at. Liu & Jain 6.2.
        """
        if choice == COUPLE and points is None and not partial and length == 1.0:
            return self.call("cartesian_forces", q, tau)
        if choice == TREE:
            return self.call("tree_wrenches", q, tau, self._weights(MINIMUM, length))
        if choice not in (COUPLE, MINIMUM, FORCE):
            known = f"'{COUPLE}', '{MINIMUM}', '{FORCE}' or '{TREE}'"
            raise StateError(f"there are no wrenches by '{choice}'; choose {known}")
        count = self.model.nb
        at = np.zeros(3 * count) if points is None else self._of_bodies("points", points, 3)
        result = self.call("pair_wrenches", q, tau, at, self._weights(choice, length))
        wrenches, left = result[..., : 6 * count], result[..., 6 * count :]
        if not partial:
            self._check_reached(choice, np.asarray(tau, dtype=float), wrenches, left)
        return wrenches.reshape(*wrenches.shape[:-1], count, 6)

    def joint_wrenches(self, q: Any, v: Any, a: Any, external: Any = None) -> Array:
        """[moment; force] (..., nb, 6) on each body by its joint, world axes at the body's origin, at accelerations a.

        All that the body and what hangs on it need for their motion, less gravity's and ``external``'s part (..., nb,
        6; world axes at each body's origin): constraint and motor forces together. S^T of it is tau less armature times
        a, which the rotor takes. A fixed joint has one, too. As in ``inverse_dynamics`` constraints supply nothing: it
        is what tree joints alone would have to transmit. Liu & Jain section 7.
        """
        wrenches = self.call("joint_wrenches", q, v, a)
        if external is None:
            return wrenches
        count = self.model.nb
        applied = self._finite("wrenches", self._of_bodies("external", external, 6), 6 * count)
        lead = batch_shape(["a", "external"], [wrenches[..., 0], applied])
        return wrenches - self._carried(q, np.broadcast_to(applied, (*lead, 6 * count)).reshape(*lead, count, 6))

    def _carried(self, q: Any, wrenches: Array) -> Array:
        """On each body, wrenches (..., nb, 6) at the origins of it and of all that hangs on it, moved to its own."""
        total, place = wrenches.copy(), self.poses(q)[..., :3, 3]
        for index in reversed(range(self.model.nb)):
            parent, own = self.model.bodies[index].parent, total[..., index, :]
            if parent != WORLD:
                total[..., parent, :] += own
                total[..., parent, :3] += np.cross(place[..., index, :] - place[..., parent, :], own[..., 3:])
        return total

    def _weights(self, choice: str, length: Any) -> Array:
        """(2 nb,) of moment and force, as a choice wants them."""
        value = real_array(length)
        if value is None or value.shape != () or not np.isfinite(value) or not value > 0.0:
            raise StateError(f"'length' must be a positive number of metres, not {length!r}")
        return np.where(self._alone[choice][:, None], _ALONE[choice], [float(value) ** 2, 1.0]).reshape(-1)

    @cached_property
    def _alone(self) -> dict[str, Array]:
        """Of which bodies' joints (nb,) couples alone, or forces alone, can do everything."""
        links = {body.link: k for k, body in enumerate(self.model.bodies) if body.jointed}
        result = {choice: np.zeros(self.model.nb, dtype=bool) for choice in _ALONE}
        for i, link in enumerate(self.model.links):
            result[COUPLE][links[i]], result[FORCE][links[i]] = turns_freely(link), pushes_freely(link)
        return result

    def _check_reached(self, choice: str, tau: Array, wrenches: Array, left: Array) -> None:
        size = np.abs(tau).max(axis=-1, initial=0.0) + np.abs(wrenches).max(axis=-1, initial=0.0)
        missing = np.argwhere(np.abs(left) > _ROUNDING * size[..., None])
        if len(missing):
            *row, slot = (int(i) for i in missing[0])
            where = f", batch row {tuple(row)}" if row else ""
            raise StateError(
                f"cartesian_forces: no wrench by '{choice}' acts as tau at coordinate"
                f" '{self.model.coordinates[slot].name}'{where}: the joint is singular there, as at a gimbal lock, or"
                " the point is on its axis; keep away from there, choose another point, or take what can be reached"
                " with partial=True"
            )


_ALONE = {COUPLE: (1.0, 0.0), FORCE: (0.0, 1.0), MINIMUM: (0.0, 0.0)}  # weights of moment and force
