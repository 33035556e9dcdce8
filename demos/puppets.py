"""Bodies on free joints that are put where a motion on a manifold has them, step by step: a simulation to look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

import recursive_dyn as rd
from bridge import quaternion
from recursive_dyn.manifold.motion.motion import Motion, whole
from recursive_dyn.simulation.state import Snapshot
from scene import Body, Scene, joints

Array = np.ndarray
Placement = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class PuppetSnapshot(Snapshot):
    """A simulation's snapshot with the motion's q, v and forces; parameters and timestep are not kept."""

    motion: tuple[Array, ...] = ()


class Puppets(rd.Simulation):
    """A simulation whose bodies follow a motion: poses, velocities and energies are the motion's, at its timestep.

    bodies: what is seen, with the masses that give the motion's energy; show(motion): pose (4, 4) and twist (6,), world
    axes at the body's origin, of each by name; control(motion): called before every timestep, sets the motion's forces.
    ``scene`` is what a mirror takes. tau and contacts do not reach puppets. Raises ModelError for bodies that are not
    shown, StateError for attempts to push one.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        motion: Motion,
        show: Callable[[Motion], Mapping[str, Placement]],
        control: Callable[[Motion], None] | None = None,
    ) -> None:
        self.scene = Scene()
        for body in bodies:
            self.scene.world.attach(body, joints.free())
        super().__init__(self.scene.compile(), motion.timestep)
        self._integrator = "Runge-Kutta-Munthe-Kaas of order 4"  # to be read: the motion steps, no integrator of joints
        self.motion, self._show, self._control = motion, show, control
        self.follow()

    def step(self, count: int = 1) -> None:
        """Advance the motion by ``count`` timesteps, under control, and the puppets with it."""
        count = whole(count)
        try:
            for _ in range(count):
                if self._control is not None:
                    self._control(self.motion)
                self.motion.step()
        finally:
            self.follow()

    def follow(self) -> None:
        """Put the puppets where the motion is."""
        placements, names = self._show(self.motion), self.dynamics.bodies
        missing = [name for name in names if name not in placements]
        if missing:
            raise rd.ModelError(f"the motion does not show body '{missing[0]}'; give it a pose and a twist")
        poses = np.stack([placements[name][0] for name in names])
        twists = np.stack([placements[name][1] for name in names]).reshape(-1, 2, 3)
        turns = poses[:, :3, :3]
        self.q = np.concatenate([poses[:, :3, 3], quaternion.from_rotations(turns)], axis=1).ravel()
        self.v = (twists @ turns).ravel()
        self.time = self.motion.time

    def snapshot(self) -> PuppetSnapshot:
        """A copy of the whole state, the motion's included."""
        state = super().snapshot()
        own = {field.name: getattr(state, field.name) for field in fields(state)}
        m = self.motion
        return PuppetSnapshot(**own, motion=(m.q.copy(), m.v.copy(), m.forces.numbers.copy()))

    def restore(self, snapshot: Snapshot) -> None:
        """Return to what ``snapshot`` gave."""
        if not isinstance(snapshot, PuppetSnapshot):
            raise rd.StateError(f"restore takes what the snapshot() of puppets gave, not {type(snapshot).__name__}")
        super().restore(snapshot)
        self.motion.q, self.motion.v, self.motion.forces.numbers[:] = snapshot.motion
        self.motion.time = snapshot.time

    def apply_force(self, body: Any, force: Any, point: Any = (0.0, 0.0, 0.0)) -> None:
        """Refused: a puppet is not pushed."""
        raise rd.StateError(f"'{getattr(body, 'name', body)}' is a puppet: set motion.forces instead of pushing it")

    def apply_torque(self, body: Any, torque: Any) -> None:
        """Refused: a puppet is not pushed."""
        self.apply_force(body, torque)
