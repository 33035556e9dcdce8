"""Joints as rows on the velocities of their two bodies, any parametric joint alike.

With X the pose of a joint's child frame in its parent frame, and G(q) the joint at the coordinates nearest to it, what
is not met is log(G^-1 X). Rows are N^T, an orthonormal basis of what the joint does not allow, and S^+, which gives the
rates of its coordinates: with V the twist of the child against the parent, child axes,

    C = N^T log(G^-1 X),   C-dot = N^T V,   q-dot = S^+ V,
    V = Ad_b V_b - Ad_a V_a,   V-dot = Ad_b V_b-dot - Ad_a V_a-dot + ad_V Ad_a V_a

so that C-ddot = 0 where N^T V-dot = N^T c and q-ddot = S^+ (V-dot - c), c = S-dot q-dot the joint's bias.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.maximal.joint_rows.joint_frames import joint_frames
from recursive_dyn.maximal.joint_rows.loop_rows import NO_ENDS, LoopRows
from recursive_dyn.maximal.joint_rows.motion_rows import binding_rows
from recursive_dyn.maximal.kinds.joint_kinds import JointKind, complement, inverted, joint_kinds
from recursive_dyn.maximal.kinds.timed_joints import moving_columns, moving_links, time_column
from recursive_dyn.maximal.poses import applied, bracket, by_body, carried_back, inverse, logarithm, poses_of
from recursive_dyn.maximal.sparse.block_ldlt import JointEquations
from recursive_dyn.maximal.sparse.floating_together import assemblies_of, roots_of
from recursive_dyn.maximal.sparse.sparse_order import NO_MORE, MoreSides
from recursive_dyn.model.clock import NUMBER
from recursive_dyn.model.model import WORLD

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class JointRows:
    """Six rows of each of n joints: first what it does not allow, ``counts`` (n,) of them, then its coordinates' rates.

    parent, child (..., n, 6, 6): coefficients of the parent's and child's twist, own axes; errors (..., n, 6): C, and 0
    of coordinates; bias (..., n, 6): what the rows' rates at zero acceleration lack to be C-ddot and q-ddot, negative;
    basis (..., n, 6, 6): the rows N^T and S^+ on twists in child frames; q (..., nq): the joints'
    coordinates, v (..., nv): their rates; offsets (..., n, 6): what
    rows measure of bodies at rest, as those of joints that time moves, or of a motor; more (..., x, 6): coefficients
    that constraints' rows have of twists of further bodies, ``Joints.more``.
    """

    parent: Array
    child: Array
    errors: Array
    bias: Array
    basis: Array
    q: Array
    v: Array
    offsets: Array
    more: Array

    def scaled(self, joints: Joints, T: Array) -> JointRows:
        """The rows' combinations T (..., n, 6, 6)."""
        more = T[..., joints.more.rows, 0, 0, None] * self.more
        return replace(self, parent=T @ self.parent, child=T @ self.child, more=more)

    def rates(self, joints: Joints, twists: Array) -> Array:
        """The rows' velocities (..., n, 6) at the bodies' twists (..., n, 6)."""
        own = applied(self.child, twists[..., joints.children, :]) + applied(self.parent, joints.of_parents(twists))
        more = (self.more * twists[..., joints.more.links, :]).sum(axis=-1)
        np.add.at(np.moveaxis(own[..., 0], -1, 0), joints.more.rows, np.moveaxis(more, -1, 0))
        return own

    def forces(self, joints: Joints, multipliers: Array) -> Array:
        """What forces (..., n, 6) along the rows are on the bodies, (..., n, 6)."""
        own = np.zeros((*multipliers.shape[:-2], joints.links, 6))
        held = joints.parents != WORLD
        for J, links in ((self.child, joints.children), (self.parent[..., held, :, :], joints.parents[held])):
            along = multipliers if J is self.child else multipliers[..., held, :]
            pushes = applied(np.swapaxes(J, -1, -2), along)
            np.add.at(np.moveaxis(own, -2, 0), links, np.moveaxis(pushes, -2, 0))
        pushes = self.more * multipliers[..., joints.more.rows, 0, None]
        np.add.at(np.moveaxis(own, -2, 0), joints.more.links, np.moveaxis(pushes, -2, 0))
        return own


class Joints:
    """The joints of a reduced model between the links of its free one: joint i leads to link i.

    After them come ``loops``, one for every row of the scene's constraints and for every prescribed motion, of which
    they have only the first row; that of a coordinate which joints show together binds nothing. told (n,): which are
    motions.
    parents, children (n,): the links that each is between, the parent WORLD for none; counts (n,): how many rows are of
    what it does not allow; links: number of these.
    """

    def __init__(self, reduced: Dynamics, free: Dynamics, start: Array) -> None:
        """start (reduced.nq,): a configuration."""
        model = reduced.model
        self.reduced, self.free = reduced, free
        self.links, self.loops = model.nl, LoopRows(model, start) if binding_rows(model) else None
        ends = self.loops.ends if self.loops else NO_ENDS
        self.parents = np.concatenate([np.array([link.parent for link in model.links], dtype=np.int64), ends.first])
        self.children = np.concatenate([np.arange(model.nl), ends.second])
        self.more = MoreSides(model.nl + ends.more.rows, ends.more.links)
        links = moving_links(model)
        moving = [len(moving_columns(link.joint, time_column(model, link))) for link in links]
        bound = self.loops.bound if self.loops else ends.first
        self.counts = np.concatenate([6 - np.array(moving, dtype=np.int64), bound])
        self.told: Array = np.arange(len(self)) >= len(self) - len(model.motions)
        self.kinds: list[JointKind] = joint_kinds(model, reduced, start)
        self.equations = self._equations()
        self._at: bytes | None = None
        self._frames = np.zeros((0, 4, 4)), np.zeros((0, 4, 4))

    def __len__(self) -> int:
        return len(self.parents)

    def _equations(self) -> JointEquations:
        """Room for the factors of bodies and rows, all six of each joint."""
        return JointEquations(self.links, self.parents, self.children, np.full(len(self), 6), self.more)

    def of(self, reduced: Dynamics, free: Dynamics) -> Joints:
        """The same joints at the parameters of another view of the same dynamics."""
        result = copy.copy(self)
        result.reduced, result.free, result._at = reduced, free, None
        result.kinds = [kind.view() for kind in self.kinds]
        result.equations = self._equations()
        return result

    @cached_property
    def roots(self) -> Array:
        """The first link (n,) of what hangs together, by joints or loops, with each link."""
        return roots_of(self.links, self.parents, self.children, self.more)

    @cached_property
    def assemblies(self) -> Array:
        """The number (n,) of what floats together with each link, GROUNDED of those that joints hold to the world."""
        return assemblies_of(self.roots, self.children[(self.parents == WORLD) & (self.counts > 0)])

    @cached_property
    def structural(self) -> Array:
        """(n, 6): whether a row is of what a joint does not allow, or of a coordinate."""
        return np.asarray(np.arange(6) < self.counts[:, None])

    @cached_property
    def own_slots(self) -> Array:
        """Velocity coordinates of the reduced model that joints have rows of: all but that of time."""
        own = (kind.slots[:, kind.moving].reshape(-1) for kind in self.kinds)
        return np.sort(np.concatenate([self.loops.found_slots if self.loops else NO_MORE.rows, *own]))

    @cached_property
    def row_of_slot(self) -> tuple[Array, Array]:
        """Joint and row (reduced.nv,) of each velocity coordinate of the reduced model, 0 of that of time."""
        joint, row = np.zeros((2, self.reduced.nv), dtype=np.int64)
        for kind in self.kinds:
            own, n = kind.slots[:, kind.moving], len(kind.moving)
            joint[own], row[own] = kind.numbers[:, None], 6 - n + np.arange(n)
        if self.loops:
            joint[self.loops.found_slots] = self.links + self.loops.found_rows
        return joint, row

    @property
    def version(self) -> bytes:
        """The present values of the parameters that bodies and joints may depend on: those of motions change every
        step."""
        return self.reduced.parameters.values_array[self._lasting].tobytes()

    @cached_property
    def _lasting(self) -> Array:
        return np.array([NUMBER not in name for name in self.reduced.parameters], dtype=bool)

    def frames(self) -> tuple[Array, Array]:
        """(X_AP (n, 4, 4) of the joints in their parents, X_CB of the bodies in the joints' child frames)."""
        values = self.reduced.parameters.values_array
        if self._at != self.version:
            for kind in self.kinds:
                kind.at_parameters(values)
            self._frames, self._at = joint_frames(self.reduced), self.version
        return self._frames

    def of_parents(self, values: Array) -> Array:
        """What parents have of values (..., n, m) of links; zeros for the world."""
        return np.where((self.parents != WORLD)[:, None], values[..., self.parents, :], 0.0)

    def relative_poses(self, poses: Array) -> Array:
        """X (..., n, 4, 4) of the links' poses: child frames in parent frames."""
        in_parents, in_children = self.frames()
        own = self.parents[: self.links]
        parents = poses[..., own, :, :].copy()
        parents[..., own == WORLD, :, :] = np.eye(4)
        return np.asarray(inverse(parents @ in_parents) @ poses @ inverse(in_children))

    def located(self, X: Array, time: Array, q: Array | None = None) -> Array:
        """Coordinates (..., nq) of the reduced model nearest to relative poses X at a time (...,), joint by joint, from
        q on."""
        found = np.zeros((*X.shape[:-3], self.reduced.nq))
        for kind in self.kinds:
            start = None if q is None else q[..., kind.places] + kind.offsets
            found[..., kind.places] = kind.located(X[..., kind.numbers, :, :], start, time) - kind.offsets
        if (clock := self.reduced.model.clock) is not None:
            found[..., clock[0]] = time
        if self.loops and (group := self.loops.together) is not None:
            found[..., group.places] = 0.0 if q is None else q[..., group.places]
            group.locate(found, self.reduced.parameters.values_array, anywhere=q is None)
        return found

    def rows(self, q: Array, v: Array, start: Array | None = None) -> JointRows:
        """At the bodies' coordinates q (..., 7 n), v (..., 6 n); start (..., nq): joint coordinates to search from."""
        poses, twists = poses_of(by_body(q, 7)), by_body(v, 6)
        in_parents, in_children = self.frames()
        X = self.relative_poses(poses)
        timed = self.reduced.model.clock is not None
        own = self.located(X, q[..., -1] if timed else np.zeros(q.shape[:-1]), start)
        A, B = carried_back(in_parents @ X), carried_back(inverse(in_children))
        carried = applied(A, self.of_parents(twists)[..., : self.links, :])
        relative = applied(B, twists) - carried
        lead = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
        basis, error, c, pace = (
            np.zeros((*X.shape[:-2], 6, 6)),
            np.zeros((*X.shape[:-2], 6)),
            np.zeros((*lead, self.links, 6)),
            np.zeros((*X.shape[:-2], 6)),
        )
        rates = np.ones((*lead, self.reduced.nv))  # that of time
        for kind in self.kinds:
            k = kind.numbers
            now = kind.motion(own[..., kind.places] + kind.offsets)
            S = now.subspace[..., kind.moving]
            back = inverted(S)
            basis[..., k, :, :] = np.concatenate([complement(S), back], axis=-2)
            if kind.time >= 0:
                pace[..., k, :] = now.subspace[..., kind.time]
            error[..., k, :] = logarithm(inverse(now.pose) @ X[..., k, :, :])
            rates[..., kind.slots[:, kind.moving]] = applied(back, relative[..., k, :] - pace[..., k, :])
            where = np.broadcast_to(own, (*lead, own.shape[-1]))[..., kind.places] + kind.offsets
            c[..., k, :] = kind.motion(where, rates[..., kind.slots]).bias
        errors = np.where(self.structural[: self.links], applied(basis, error), 0.0)
        bias = applied(basis, c - bracket(relative, np.broadcast_to(carried, relative.shape)))
        rows = JointRows(
            -(basis @ A),
            basis @ B,
            errors,
            bias,
            basis,
            own,
            rates,
            -applied(basis, pace + np.zeros_like(bias)),
            np.zeros((*lead, 0, 6)),
        )
        return rows if self.loops is None else self._with_loops(rows, self.loops, q, v)

    def _with_loops(self, rows: JointRows, loops: LoopRows, q: Array, v: Array) -> JointRows:
        """The rows with those of constraints after them."""
        lead, m = np.broadcast_shapes(q.shape[:-1], v.shape[:-1]), len(loops)
        state = [np.broadcast_to(x, (*lead, x.shape[-1])) for x in (q, v, rows.q, rows.v)]
        told = loops.values(self.free, *state)
        parent, child, basis = (_room(x, lead, m, 2) for x in (rows.parent, rows.child, rows.basis))
        errors, bias, offsets = (_room(x, lead, m, 1) for x in (rows.errors, rows.bias, rows.offsets))
        (joint, row), at = self.row_of_slot, self.links + np.arange(m)
        basis[..., at, :, :], rows.v[..., loops.found_slots] = np.eye(6), told.psi[..., loops.found_rows]
        parent[..., at, 0, :], child[..., at, 0, :], more = told.first, told.second, told.more
        errors[..., at, 0], bias[..., at, 0] = told.phi, -told.bias
        for s, (k, slot) in enumerate(zip(loops.share_rows, loops.share_slots, strict=True)):
            i, r, loop, share = joint[slot], row[slot], self.links + k, told.shares[..., s]
            for J, link in ((child, self.children[i]), (parent, self.parents[i])):
                if link != WORLD:
                    further = np.flatnonzero((self.more.rows == loop) & (self.more.links == link))
                    side = child if link == self.children[loop] else parent
                    to = more[..., further[0], :] if len(further) else side[..., loop, 0, :]
                    to += share[..., None] * J[..., i, r, :]
            bias[..., loop, 0] += share * bias[..., i, r]
        result = replace(
            rows, parent=parent, child=child, basis=basis, errors=errors, bias=bias, offsets=offsets, more=more
        )
        offsets[..., at, 0] = told.psi - result.rates(self, by_body(state[1], 6))[..., at, 0]
        return result


def _room(x: Array, lead: tuple[int, ...], more: int, axes: int) -> Array:
    """x with zeros for so many more joints, and all leading axes."""
    own = x.shape[-1 - axes :]
    result = np.zeros((*lead, own[0] + more, *own[1:]))
    np.moveaxis(result, -1 - axes, 0)[: own[0]] = np.moveaxis(x, -1 - axes, 0)
    return result
