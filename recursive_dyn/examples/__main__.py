"""``python -m recursive_dyn.examples -l`` lists the games, ``python -m recursive_dyn.examples NAME`` runs one.

They are files, looked for where the games are installed and run as scripts: nothing here knows what is in them.
"""

from __future__ import annotations

import argparse
import ast
import runpy
import sys
from importlib.util import find_spec
from pathlib import Path

WHERE = "demos.games"


def games() -> dict[str, Path]:
    """Files of games by name."""
    try:
        found = find_spec(WHERE)
    except ModuleNotFoundError:
        found = None
    folders = [] if found is None else [Path(folder) for folder in found.submodule_search_locations or ()]
    return {path.stem: path for folder in folders for path in sorted(folder.glob("*.py")) if path.stem != "__init__"}


def summary(path: Path) -> str:
    """The first line of a file's docstring, without running it."""
    return (ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").partition("\n")[0]


def main(arguments: list[str] | None = None) -> None:
    """Read the command line, list or run; what follows a name is for the game."""
    parser = argparse.ArgumentParser(prog="python -m recursive_dyn.examples", description="Without a name: list them.")
    parser.add_argument("-l", "--list", action="store_true", help="list the games")
    parser.add_argument("name", nargs="?", metavar="NAME")
    parser.add_argument("rest", nargs=argparse.REMAINDER, help="NAME --help tells what a game takes")
    chosen, known = parser.parse_args(arguments), games()
    if chosen.list or chosen.name is None:
        for name, path in known.items():
            print(f"{name:16} {summary(path)}")
        return
    if chosen.name not in known:
        parser.error(f"there is no game '{chosen.name}'; there are {', '.join(known) or 'none: install the demos'}")
    sys.argv = [str(known[chosen.name]), *chosen.rest]
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    except ModuleNotFoundError as missing:
        parser.error(f"{chosen.name} needs '{missing.name}', which is not installed; the extra 'games' brings it")


if __name__ == "__main__":
    main()
