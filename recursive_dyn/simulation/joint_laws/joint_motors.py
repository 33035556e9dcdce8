"""Motors of joints between free bodies: rows of the solve of impulses, beside those of the joints."""

from __future__ import annotations

import numpy as np

from recursive_dyn.maximal.joint_rows.held_joints import CoordinateDrives
from recursive_dyn.simulation.joint_laws.charted_motors import MOST, shaft_ways
from recursive_dyn.simulation.joint_laws.motors import Motors
from recursive_dyn.simulation.joint_laws.pose_ways import way_to_point, way_to_turn


class JointMotors(Motors):
    """Motors of joint coordinates, one by one or of a joint as a whole."""

    def drives(self, h: float, q: np.ndarray) -> CoordinateDrives | None:
        """What they do over a step of h that would end at joint coordinates q (nq or more,) without them; None where
        there are none."""
        if not self:
            return None
        if not self.written:
            self.write()
        a, (n, points, turns, charted) = self.arrays, self.arrays.size.tolist()
        placed = a.places[:n] >= 0
        ways, along = a.positions[:n] - np.where(placed, q[np.where(placed, a.places[:n], 0)], 0.0), np.eye(1, MOST)
        along = np.repeat(along, n, axis=0)
        for (first, place, turn), to in zip(a.points[:points].tolist(), a.aims, strict=False):
            way_to_point(q, place, turn, to, ways, first)
        for (first, place), to in zip(a.turns[:turns].tolist(), a.quaternions, strict=False):
            way_to_turn(q, place, to, ways, first)
        if charted:
            motion = self._dynamics.call("chart_motion", q[: self._dynamics.nq])
            shaft_ways(a.targets, charted, motion, ways, along)
        several = a.sizes[:n] > 0
        kp, damping = h * a.kp[:n], h * a.kd[:n] + a.rigid[:n]
        return CoordinateDrives(
            a.slots[:n], np.where(several, a.firsts[:n], a.slots[:n]), np.where(several, a.sizes[:n], 1), along, ways,
            a.velocity[:n], kp, damping, damping + h * kp, h * a.forces[:n],
        )  # fmt: skip
