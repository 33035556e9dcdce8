"""Films and pictures as files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recursive_dyn.errors import ModelError

COLORS = 128


def save_animation(path: str | Path, frames: Iterable[NDArray[Any]], fps: float = 25.0) -> Path:
    """Write pictures (h, w, 3), uint8, as a looping GIF at ``fps`` pictures a second, or the last of them as a PNG.

    Frames may come from a generator. A GIF counts hundredths of a second: 25, 33.3 and 50 a second are exact, others
    are mixed from the two nearest. Returns the path. Raises ModelError for no frames, or for another suffix.
    """
    raise NotImplementedError
