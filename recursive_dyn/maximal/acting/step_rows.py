"""Memory of one simulation's joints over a step: their rows, and what ``step_system`` works on."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from recursive_dyn.integrators.integrator import joint_forces
from recursive_dyn.maximal.acting.step_system import CONSTRAINED, IMPLICITLY_SPRUNG, SPRUNG, SystemArrays
from recursive_dyn.maximal.holding import PENALTY
from recursive_dyn.maximal.joint_rows.row_memory import RowMemory
from recursive_dyn.maximal.kinds.springs_found import hardness
from recursive_dyn.maximal.kinds.turn_springs import turn_springs
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from recursive_dyn.maximal.poses import carried_back
from recursive_dyn.maximal.sparse.block_ldlt import JointEquations
from recursive_dyn.maximal.sparse.lanes import LaneBlocks, lane_blocks


class StepRows(RowMemory):
    """Rows of a step; system, solving: for machine code, equations: what they are solved by."""

    def __init__(self, dynamics: MaximalDynamics, implicit: bool) -> None:
        super().__init__(dynamics.joints)
        self._dynamics, order, joints = dynamics, self.order, dynamics.joints
        self.system = self._system(implicit)
        self.equations = JointEquations(
            joints.links, joints.parents[order], joints.children[order], self.system.heights, joints.more
        )
        self.solving = self.equations.arrays(self.arrays.parent, self.arrays.child, self.system.e, self.arrays.more)
        self._sprung: tuple[float, float, bytes] | None = None

    @cached_property
    def blocks(self) -> LaneBlocks:
        """All trees, for machine code."""
        blocks, self._programs, _ = lane_blocks(self.equations.order.tree, self.system.heights)
        return blocks

    def _system(self, implicit: bool) -> SystemArrays:
        d, order = self._dynamics, self.order
        model, own, count = d.jointed.model, joint_forces(d.jointed.model), len(order)
        rotors = np.array([c.armature for c in model.coordinates], dtype=float)
        given = rotors, own.damping, own.stiffness, own.rest, hardness(model) - own.stiffness
        rotor, damping, stiffness, rest, torsion = (d.in_rows(x)[order] for x in given)
        places = np.full((count, 6), -1, dtype=np.int64)
        where, (joint, row) = np.argsort(order), d.joints.row_of_slot
        at_place = {int(place): k for k, place in enumerate(self.place_of_q)}
        for place, slot in set(model.plain_slots) - {model.clock}:
            places[where[joint[slot]], row[slot]] = at_place[place]
        method = (IMPLICITLY_SPRUNG if implicit else SPRUNG) if d.method == PENALTY else CONSTRAINED
        turns = turn_springs(model)
        turns = turns._replace(places=np.array([at_place[p] for p in turns.places.tolist()], dtype=np.int64))
        soft = (rotor > 0.0,) if method == SPRUNG else (rotor > 0.0, damping > 0.0, stiffness > 0.0, torsion > 0.0)
        counts = d.joints.counts[order]
        most = np.where(order < d.joints.links, 6, 1)
        heights = np.where(np.any(soft, axis=(0, 2)), most, counts)
        told = d.joints.told[order].astype(np.int64)
        K, D, W = np.zeros((3, count, 6, 6))
        e, c = np.zeros((2, count, 6))
        return SystemArrays(
            np.array([method]), counts, told, heights, rotor, damping, stiffness, rest, places, turns, where[joint],
            row.copy(), torsion, np.zeros_like(torsion), K, D, W, e, c,
        )  # fmt: skip

    def prepare(self, h: float, whole: float) -> None:
        """Frames, and springs in a step of h, as stiff as one of ``whole`` allows, at the present values of the
        parameters."""
        self.parametrize()
        now = self._dynamics.joints.version
        if self._dynamics.method == PENALTY and self._sprung != (h, whole, now):
            self._stiffen(h, whole)
            self._sprung = h, whole, now

    def _stiffen(self, h: float, whole: float) -> None:
        d, s = self._dynamics, self.system
        n, implicit = d.joints.links, s.method[0] == IMPLICITLY_SPRUNG
        stiffness, damping = d.hardness(whole, implicit)
        back = carried_back(d.joints.frames()[1])  # twists in child frames of those in bodies' own
        for to, values in ((s.K, stiffness), (s.D, damping)):
            own = (back * values[:n, None, :]) @ np.swapaxes(back, -1, -2)
            to[:n] = own[self.order[:n]]
            to[n:, 0, 0] = values[n:, 0]
        s.W[:] = h * h * s.K + h * s.D
