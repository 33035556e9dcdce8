"""``python -m demos.manifolds``: list the systems, or derive the equations of one and print them."""

from __future__ import annotations

import argparse
import io
import sys
from time import perf_counter

from demos.manifolds.gallery import ALIASES, SYSTEMS, system
from recursive_dyn.manifold import Equations

REPEATS = 5


def main() -> None:
    """Read the command line and print."""
    parser = argparse.ArgumentParser(prog="python -m demos.manifolds", description="Without a name: list the systems.")
    parser.add_argument("name", nargs="?", choices=[*SYSTEMS, *ALIASES], metavar="NAME")
    parser.add_argument("--steps", action="store_true", help="print all seven steps")
    parser.add_argument("--latex", action="store_true", help="print LaTeX, not text")
    parser.add_argument("--links", type=int, default=3, metavar="N", help="links of the chain (default: %(default)s)")
    chosen = parser.parse_args()
    if chosen.links < 1:
        parser.error("--links must be positive: a chain needs a link at least")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # steps hold the signs of variation and integral
    if chosen.name is None:
        print_list()
        return
    equations = system(chosen.name, chosen.links).derive()
    if chosen.steps:
        print_steps(equations, chosen.latex)
    print(equations.latex() if chosen.latex else equations)


def print_list() -> None:
    """Names, manifolds and the time each derivation takes."""
    for name in SYSTEMS:
        found = system(name)
        print(f"{name:18} {found.name:26} {found.manifold:18} {derivation_time(name) * 1e3:6.2f} ms")


def derivation_time(name: str, links: int = 3) -> float:
    """Seconds to derive the equations, the least of some runs; symbols are declared anew for each."""
    times = []
    for _ in range(REPEATS):
        found = system(name, links)
        start = perf_counter()
        found.derive()
        times.append(perf_counter() - start)
    return min(times)


def print_steps(equations: Equations, latex: bool) -> None:
    """The steps before the equations, numbered, with their titles."""
    for number, step in enumerate(equations.steps, 1):
        print(f"Step {number}, {step.title}:\n  {step.latex() if latex else step}\n")
    print(f"Step {len(equations.steps) + 1}, extraction:")


if __name__ == "__main__":
    main()
