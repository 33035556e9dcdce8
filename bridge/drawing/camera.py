"""Where a picture is taken from."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from recursive_dyn.errors import ModelError

MARGIN = 1.15  # the scene keeps this far from the picture's edge
VERTICAL = 89.0  # degrees of pitch beyond which the horizon's direction is lost


def _numbers(name: str, value: object, count: int) -> tuple[float, ...]:
    wanted = "one number" if count == 1 else f"{count} numbers, or a body's name"
    try:
        found = np.asarray(value, dtype=float).reshape(-1).tolist()
    except (TypeError, ValueError):
        found = []
    if len(found) != count or isinstance(value, str | bytes):
        raise ModelError(f"a camera's {name} is {wanted}, not {value!r}")
    if not np.isfinite(found).all() and name != "distance":
        raise ModelError(f"a camera's {name} must be finite, not {value!r}")
    return tuple(found)


@dataclass(frozen=True)
class Camera:
    """A camera that looks at ``target`` (3,) from ``distance`` m; world z is up.

    yaw and pitch in DEGREES, as in PyBullet's resetDebugVisualizerCamera: at yaw 0 it looks along +y, a positive yaw
    turns it counterclockwise seen from above, a negative pitch looks down. fov: the vertical field of view in degrees.
    distance and target that are None are chosen so that the scene fills the picture; a target that is a body's name is
    where that body is, in every picture. Raises ModelError for numbers that make no camera.
    """

    distance: float | None = None
    yaw: float = 35.0
    pitch: float = -22.0
    target: Sequence[float] | np.ndarray | str | None = None
    fov: float = 40.0

    def __post_init__(self) -> None:
        if self.target is not None and not isinstance(self.target, str):
            object.__setattr__(self, "target", _numbers("target", self.target, 3))
        for name in ("yaw", "pitch", "fov") if self.distance is None else ("yaw", "pitch", "fov", "distance"):
            object.__setattr__(self, name, _numbers(name, getattr(self, name), 1)[0])
        if self.distance is not None and not 0.0 < self.distance < math.inf:
            raise ModelError(f"a camera's distance must be positive, in metres, not {self.distance!r}")
        if not 0.0 < self.fov < 170.0:
            raise ModelError(f"a camera's fov must be between 0 and 170 degrees, not {self.fov!r}")

    def rotation(self) -> np.ndarray:
        """R (3, 3) whose rows are the camera's right, up and backward directions in world axes."""
        yaw, pitch = math.radians(self.yaw), math.radians(max(-VERTICAL, min(VERTICAL, self.pitch)))
        right = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        back = np.array([math.sin(yaw) * math.cos(pitch), -math.cos(yaw) * math.cos(pitch), -math.sin(pitch)])
        return np.stack([right, np.cross(back, right), back])

    def aimed(self, names: Sequence[str], poses: np.ndarray) -> Camera:
        """This camera at the place of the body that its target names, if it does, at X_WB ``poses`` (nb, 4, 4).

        Raises ModelError where there is no such body.
        """
        if not isinstance(self.target, str):
            return self
        if self.target not in names:
            raise ModelError(f"a camera looks at body '{self.target}'; there are {', '.join(names[:20])}")
        return replace(self, target=poses[list(names).index(self.target), :3, 3])

    def framed(self, points: np.ndarray, aspect: float) -> Camera:
        """This camera with what is open of its target and distance chosen so that points (n, 3) are in the picture."""
        if isinstance(self.target, str):
            raise ModelError(f"where body '{self.target}' is that this camera looks at is not known here")
        middle = (points.min(axis=0) + points.max(axis=0)) / 2.0
        target = middle if self.target is None else np.asarray(self.target, dtype=float)
        distance = self.distance
        if distance is None:
            x, y, z = self.rotation() @ (points - target).T
            tangent = math.tan(math.radians(self.fov) / 2.0)
            # A point is seen if |x| <= (distance - z) tan(half of the field of view), and likewise for y.
            distance = float(max((np.abs(x) / (tangent * aspect) + z).max(), (np.abs(y) / tangent + z).max()))
            distance = max(MARGIN * distance, 1e-3)
        return Camera(distance, self.yaw, self.pitch, tuple(target.tolist()), self.fov)

    def reach(self) -> float:
        """Half the height in m of what the picture shows at the target; the distance must be given."""
        return (1.0 if self.distance is None else self.distance) * math.tan(math.radians(self.fov) / 2.0)

    def moved(self, target: tuple[float, float, float], scale: float) -> Camera:
        """The same look at another place, from ``scale`` times as far; the distance must be given."""
        return Camera(None if self.distance is None else scale * self.distance, self.yaw, self.pitch, target, self.fov)

    def view(self) -> np.ndarray:
        """View matrix (4, 4) of a camera whose target and distance are given."""
        if self.target is None or self.distance is None:
            raise ModelError("this camera has no target or distance; call framed first")
        V = np.eye(4)
        V[:3, :3] = self.rotation()
        V[:3, 3] = -V[:3, :3] @ np.asarray(self.target, dtype=float) - (0.0, 0.0, self.distance)
        return V

    def eye(self) -> np.ndarray:
        """Where it stands (3,), world axes; its target and distance must be given."""
        return self.view()[:3, :3].T @ -self.view()[:3, 3]

    @property
    def nearest(self) -> float:
        """Distance in m of the nearest thing that OpenGL draws; there is no farthest."""
        return 0.02 * (1.0 if self.distance is None else self.distance)

    def projection(self, aspect: float) -> np.ndarray:
        """Projection matrix (4, 4) of OpenGL for a picture ``aspect`` times as wide as high, without a far plane."""
        scale = 1.0 / math.tan(math.radians(self.fov) / 2.0)
        P = np.diag((scale / aspect, scale, -1.0, 0.0))
        P[2, 3], P[3, 2] = -2.0 * self.nearest, -1.0
        return P

    def depths(self) -> tuple[float, float]:
        """Distances in m of the nearest and the farthest thing drawn."""
        distance = 1.0 if self.distance is None else self.distance
        return 0.05 * distance, 60.0 * distance


def camera_of(given: Camera | None) -> Camera:
    """The camera that was given, or one that shows the whole scene. Raises ModelError for what is none."""
    if not isinstance(given, Camera | None):
        raise ModelError(
            "camera takes a bridge.Camera, such as Camera(distance=3.0, yaw=35.0, pitch=-22.0, target=(0, 0, 1)), not"
            f" {given!r}"
        )
    return Camera() if given is None else given
