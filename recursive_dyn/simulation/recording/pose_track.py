"""Where bodies are over time, however they got there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.errors import StateError


@dataclass(frozen=True, eq=False)
class PoseTrack:
    """Poses X_WB (n, nb, 4, 4) of bodies, by name, at times (n,), s, that increase: all that a film of them needs.

    Raises StateError for other shapes, or what is not finite.
    """

    bodies: tuple[str, ...]
    time: np.ndarray
    poses: np.ndarray

    def __post_init__(self) -> None:
        for name in ("time", "poses"):
            try:
                object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
            except (TypeError, ValueError) as trouble:
                raise StateError(f"a track's {name} are numbers: {trouble}") from trouble
        n = self.time.size
        if not n or self.time.shape != (n,) or self.poses.shape != (n, len(self.bodies), 4, 4):
            raise StateError(
                f"a track of {len(self.bodies)} bodies needs times (n,) and poses (n, {len(self.bodies)}, 4, 4), not"
                f" {self.time.shape} and {self.poses.shape}"
            )
        if not (np.isfinite(self.time).all() and np.isfinite(self.poses).all() and (np.diff(self.time) > 0).all()):
            raise StateError("a track's times must increase, and times and poses be finite")

    @property
    def dynamics(self) -> PoseTrack:
        """What knows the names of the bodies: this."""
        return self

    def frames(self) -> tuple[np.ndarray, np.ndarray]:
        """Poses (nb, 4, 4) at the first of the times, and twists of zero (nb, 6)."""
        return self.poses[0].copy(), np.zeros((len(self.bodies), 6))
