"""Films and pictures as files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bridge.picture.video import encoder_here, write_mp4
from recursive_dyn.errors import ModelError, StateError

COLORS = 255  # the last of a GIF's 256 stands for a pixel that does not change
SAMPLED = 12  # pictures that a film's colours are chosen from
FASTEST = 50.0  # pictures a second: browsers slow down any film that is faster


def save_animation(path: str | Path, frames: Iterable[NDArray[Any]], fps: float = 25.0) -> Path:
    """Write pictures (h, w, 3), uint8, as an endless GIF of ``fps`` pictures a second, as an MP4, or the last as a PNG.

    ``frames`` may be a generator. A GIF counts hundredths of a second, so that of fps like 30 pictures last unequally
    but the film takes its time. Returns the path. Raises ModelError, which says what is wrong, for another suffix, no
    pictures or pictures that differ in size, and an fps that no GIF can have; StateError where the file cannot
    be written, and where the package imageio-ffmpeg, which an MP4 needs, is missing or fails.
    """
    from PIL import Image

    path = Path(path)
    if path.suffix.lower() not in (".gif", ".png", ".mp4"):
        raise ModelError(f"'{path.name}' must end in .gif or .mp4, for a film, or .png, for its last picture")
    if not 1.0 <= fps <= FASTEST:
        raise ModelError(f"a film's fps must be from 1 to {FASTEST:g}, not {fps!r}")
    encoder = encoder_here() if path.suffix.lower() == ".mp4" else None  # before pictures are drawn in vain
    film = [np.asarray(frame) for frame in frames]
    if not film:
        raise ModelError("a film needs at least one picture")
    if any(f.shape != film[0].shape or f.ndim != 3 or f.shape[2] != 3 or f.dtype != np.uint8 for f in film):
        raise ModelError("a film's pictures must all be uint8 arrays of one shape (height, width, 3)")
    try:
        if encoder is not None:
            write_mp4(encoder, path, film, fps)
        elif path.suffix.lower() == ".png":
            Image.fromarray(film[-1]).save(path, optimize=True)
        else:
            _write_gif(path, film, fps)
    except OSError as trouble:
        raise StateError(f"'{path}' cannot be written: {trouble}") from trouble
    return path


def _write_gif(path: Path, film: Sequence[NDArray[Any]], fps: float) -> None:
    from PIL import Image

    # One palette and no dithering: what stands still keeps its very colours, and takes no room in the file.
    chosen = np.stack([film[k] for k in np.linspace(0, len(film) - 1, min(SAMPLED, len(film))).astype(int)])
    palette = Image.fromarray(_balanced(chosen.reshape(-1, 3))[None]).quantize(COLORS, Image.Quantize.MEDIANCUT)
    pictures = [Image.fromarray(frame).quantize(palette=palette, dither=Image.Dither.NONE) for frame in film]
    ends = [round(100.0 * k / fps) for k in range(len(film) + 1)]
    durations = [10 * (end - start) for start, end in pairwise(ends)]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=False, disposal=1
    )


def _balanced(pixels: NDArray[Any]) -> NDArray[Any]:
    """Pixels (n, 3) thinned to the square root of each colour's number, so that small things keep their colours."""
    key = (pixels >> 3).astype(np.int32) @ np.array([1, 32, 1024], dtype=np.int32)
    _, first, count = np.unique(key, return_index=True, return_counts=True)
    result: NDArray[Any] = np.repeat(pixels[first], np.ceil(np.sqrt(count)).astype(int), axis=0)
    return result
