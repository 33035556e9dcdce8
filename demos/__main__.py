"""``python -m demos``: list the gallery, show it to pick from, or run one demo in a window or into a picture."""

import argparse
import importlib
import sys
from pathlib import Path

from bridge.display import has_display
from bridge.picture.video import encoder_here
from demos.gallery import GALLERY, open_gallery, summary, write_gallery
from demos.stage import energy_of, run_bullet_window, run_headless, run_window
from recursive_dyn.errors import StateError


def main() -> None:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(prog="python -m demos", description="Without a name: list the demos.")
    parser.add_argument("name", nargs="?", choices=("gallery", *GALLERY), metavar="NAME|gallery")
    parser.add_argument(
        "--headless",
        type=Path,
        metavar="OUT.gif|OUT.mp4|OUT.png|FOLDER",
        help="render into a file, the gallery's into a folder, no window",
    )  # fmt: skip
    parser.add_argument("--bullet", action="store_true", help="in PyBullet's window")
    parser.add_argument("--seconds", type=float, help="how long to run")
    chosen = parser.parse_args()
    if chosen.name is None:
        for name in GALLERY:
            print(f"{name:16} {summary(name)}")
        return
    if chosen.seconds is not None and not chosen.seconds > 0:
        parser.error("--seconds must be positive")
    if chosen.name == "gallery":
        _gallery(parser, chosen)
        return
    if chosen.headless is not None and chosen.headless.suffix.lower() not in (".gif", ".mp4", ".png"):
        parser.error(f"--headless writes .gif, .mp4 or .png, not '{chosen.headless}'")
    if chosen.headless is not None and not chosen.headless.absolute().parent.is_dir():
        parser.error(f"there is no folder '{chosen.headless.parent}' to write into")
    if chosen.headless is not None and chosen.headless.suffix.lower() == ".mp4":
        try:
            encoder_here()
        except StateError as missing:  # now, not when all is drawn
            parser.error(str(missing))
    stage = importlib.import_module(f"demos.{chosen.name}").build()
    start = energy_of(stage)
    output = chosen.headless
    if output is None and not has_display():
        output = Path(f"{chosen.name}.gif")
        print(f"no display: rendering into {output}", file=sys.stderr)
    if output is None:
        (run_bullet_window if chosen.bullet else run_window)(stage, chosen.seconds)
    else:
        run_headless(stage, output, chosen.seconds)
        print(f"wrote {output}")
    simulation = stage.simulation
    print(
        f"{simulation.dynamics.nv} coordinates, {len(simulation.dynamics.bodies)} bodies, t = {simulation.time:.2f} s,"
        f" {simulation.integrator} at {simulation.timestep * 1e3:.3g} ms;"
        f" energy {start:.6g} J at the start, {energy_of(stage):.6g} J now"
    )
    if stage.report is not None:
        print(stage.report())


def _gallery(parser: argparse.ArgumentParser, chosen: argparse.Namespace) -> None:
    if chosen.headless is None and not has_display():
        parser.error("there is no display for a window here; --headless FOLDER writes the gallery's pages and pictures")
    if chosen.headless is None:
        open_gallery(chosen.seconds)
    else:
        print(f"wrote {write_gallery(chosen.headless, seconds=chosen.seconds)}")


if __name__ == "__main__":
    main()
