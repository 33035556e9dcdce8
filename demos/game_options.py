"""The command line of a game: played in a window, or by script into a picture."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from bridge.display import has_display


def picture_wanted(about: str | None, arguments: Sequence[str] | None) -> Path | None:
    """Where a picture is to be saved; None to play. Ends the program where neither is possible, and says why."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--picture", type=Path, metavar="OUT.png", help="play by script, save a picture, no window")
    path: Path | None = parser.parse_args(arguments).picture
    if path is None and not has_display():
        parser.error("there is no display for a window here; --picture OUT.png plays by script and saves a picture")
    if path is not None and not path.absolute().parent.is_dir():
        parser.error(f"there is no folder '{path.parent}' to save a picture in")
    return path
