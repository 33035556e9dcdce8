"""Ground given by the heights of a grid's points."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from recursive_dyn.errors import ModelError
from scene.mass_properties import MassProperties
from scene.number_checks import SIZE_RANGE, FloatArray, is_symbolic
from scene.shape import Shape, Vector


@dataclass(frozen=True, eq=False)
class HeightField(Shape):
    """Ground over a grid, static and without mass, for scenery.

    `heights` (nx, ny): z in m, rows along +x, columns along +y; `spacing`: (dx, dy) in m. The grid is centred on the
    origin: sample (i, j) is at x = (i - (nx - 1) / 2) dx, y = (j - (ny - 1) / 2) dy. Between four samples two
    triangles meet along the edge from (i + 1, j) to (i, j + 1), as in Bullet. Raises ModelError.
    """

    heights: FloatArray
    spacing: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_sizes((2,), "spacing")
        self._store(heights=_checked(self.label, self.heights))

    @property
    def volume(self) -> float:
        return 0.0

    def _solid(self) -> MassProperties:
        return MassProperties(0.0, np.zeros(3), np.zeros((3, 3)))

    def triangles(self) -> tuple[FloatArray, np.ndarray]:
        """The surface in the shape's own frame: points (nx ny, 3), row by row, and faces (n, 3) wound upward."""
        nx, ny = self.heights.shape
        x, y = (d * (np.arange(n) - (n - 1) / 2.0) for n, d in zip((nx, ny), self.spacing, strict=True))
        points = np.stack([*np.meshgrid(x, y, indexing="ij"), self.heights], axis=-1).reshape(-1, 3)
        near = (np.arange(nx - 1)[:, None] * ny + np.arange(ny - 1)).ravel()  # (i, j); (i + 1, j) is ny further
        lower = np.stack([near, near + ny, near + 1], axis=-1)
        upper = np.stack([near + ny, near + ny + 1, near + 1], axis=-1)
        return points, np.stack([lower, upper], axis=1).reshape(-1, 3)


def _checked(where: str, heights: object) -> FloatArray:
    """A read-only copy of a grid of heights. Raises ModelError."""
    try:
        given = np.asarray(heights)
    except (ValueError, TypeError) as error:  # rows of several lengths
        raise ModelError(f"{where}: heights must be a grid of numbers (nx, ny) with rows of one length") from error
    if given.dtype == object and any(map(is_symbolic, given.flat)):
        raise ModelError(f"{where}: heights cannot depend on scene parameters; give numbers")
    if given.dtype.kind not in "iuf":
        raise ModelError(f"{where}: heights must be a grid of real numbers (nx, ny), not of {given.dtype}")
    if given.ndim != 2 or min(given.shape) < 2:
        raise ModelError(f"{where}: heights must be a grid (nx, ny) of at least 2 x 2 samples, not {given.shape}")
    result = given.astype(np.float64)
    if not np.isfinite(result).all():
        raise ModelError(f"{where}: heights has an entry that is NaN or infinite; give finite heights in m")
    if np.abs(result).max() > SIZE_RANGE[1]:
        raise ModelError(f"{where}: heights of up to {np.abs(result).max():.3g} are out of range; they are in metres")
    result.setflags(write=False)
    return result
