"""Motors of joints between free bodies: rows of the solve of impulses, beside those of the joints."""

from __future__ import annotations

from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.held_joints import CoordinateDrives
from recursive_dyn.simulation.motor import Motor
from recursive_dyn.simulation.motors import Motors


class JointMotors(Motors):
    """Motors of joint coordinates one by one. ModelError for the place of a ball or free joint as a whole."""

    def __setitem__(self, name: str, motor: Motor) -> None:
        coordinates = self._coordinates(name)
        if isinstance(motor, Motor) and motor.position is not None and coordinates.turn >= 0:
            raise ModelError(
                f"motors['{name}'] leads to a quaternion or a point, which motors in maximal coordinates do not; give"
                " its coordinates velocities, or compile with method='recursive'"
            )
        if isinstance(motor, Motor) and any(link.name == name for link in self._dynamics.model.charted):
            raise ModelError(
                f"motors['{name}'] leads a joint of several charts, which motors in maximal coordinates do not; compile"
                " with method='recursive', or give the joint one chart"
            )
        super().__setitem__(name, motor)

    def drives(self, h: float) -> CoordinateDrives | None:
        """What they do over a step of h that ends at its own velocity; None where there are none."""
        if not self:
            return None
        if not self.written:
            self.write()
        a, n = self.arrays, int(self.arrays.size[0])
        kp, damping = a.kp[:n], h * a.kd[:n] + a.rigid[:n]
        return CoordinateDrives(
            a.slots[:n], a.places[:n], a.positions[:n], a.velocity[:n], h * kp, damping, damping + h * h * kp,
            h * a.forces[:n],
        )  # fmt: skip
