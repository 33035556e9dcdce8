"""Films as MP4, by the encoder that the package imageio-ffmpeg brings."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from recursive_dyn.errors import StateError


def encoder_here() -> str:
    """The path of FFmpeg. Raises StateError where there is none, and says what does without."""
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        path: str = get_ffmpeg_exe()
    except (ImportError, RuntimeError) as trouble:
        raise StateError(
            f"an MP4 needs the package imageio-ffmpeg, pip install imageio-ffmpeg ({trouble}); a .gif does without"
        ) from trouble
    return path


def write_mp4(encoder: str, path: Path, film: Sequence[np.ndarray], fps: float) -> None:
    """Write pictures (h, w, 3), uint8, of one size as H.264, which every player reads.

    It has colours for two by two pixels: an odd last row or column is shown twice. Raises StateError in FFmpeg's words.
    """
    height, width = film[0].shape[:2]
    command = [
        encoder, "-y", "-loglevel", "error", "-f", "rawvideo", "-pix_fmt", "rgb24",
        "-s", f"{width + width % 2}x{height + height % 2}", "-r", f"{fps:g}", "-i", "-",
        "-c:v", "libx264", "-crf", "18", "-pix_fmt", "yuv420p", "-movflags", "+faststart", str(path.absolute()),
    ]  # fmt: skip
    even = (np.pad(frame, ((0, height % 2), (0, width % 2), (0, 0)), "edge").tobytes() for frame in film)
    done = subprocess.run(command, input=b"".join(even), capture_output=True, check=False)
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        raise StateError(f"'{path}' cannot be written: {words[-1] if words else 'FFmpeg failed'}")
