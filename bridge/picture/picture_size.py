"""What sizes pictures have."""

from __future__ import annotations

from recursive_dyn.errors import ModelError

SAMPLES = (1, 4)  # a pixel


def check_size(width: int, height: int, samples: int = 1) -> None:
    """Raise ModelError for a size or a number of samples that no picture has."""
    if samples not in SAMPLES:
        raise ModelError(f"samples must be one of {', '.join(map(str, SAMPLES))}, not {samples!r}")
    if width < 1 or height < 1:
        raise ModelError(f"a picture is at least 1 pixel wide and high, not {width} x {height}")
