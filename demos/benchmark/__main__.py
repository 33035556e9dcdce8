"""``python -m demos.benchmark``: this project beside Pinocchio, MuJoCo, Drake, DART, PyBullet and published figures."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from demos.benchmark import (
    controllers,
    derivatives,
    drawing,
    edits,
    formulations,
    integrators,
    kinematics,
    local_coordinates,
    manifold,
    maximal,
    report,
    startup,
    sweeps,
    topology,
)
from demos.benchmark.contact import tables as contact
from demos.benchmark.page import rewriting
from demos.benchmark.papers import tables as papers

TABLES = (
    "counts",
    "speed",
    "derivatives",
    "scaling",
    "startup",
    "kinematics",
    "control",
    "papers",
    "contact",
    "integrators",
    "sweeps",
    "formulations",
    "edits",
    "topology",
    "drawing",
    "manifold",
    "maximal",
)


def main() -> None:
    """Print every table, or the chosen ones."""
    parser = argparse.ArgumentParser(prog="python -m demos.benchmark", description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[[], *TABLES], help="all when none is named")
    parser.add_argument("--cases", nargs="*", default=[], help="xyz20 ... random100, kuka, laikago, humanoid")
    parser.add_argument("--seconds", type=float, default=0.5, help="time spent on each contender of each case")
    parser.add_argument("--figures", type=Path, help="folder for the papers' figures; none are drawn without")
    parser.add_argument("--write", type=Path, help="page whose tables of the same heads become these")
    parser.add_argument("--long", action="store_true", help="contact: 10^6 steps as well; maximal: 10^5 bodies")
    parser.add_argument("--rows", nargs="*", default=[], help="contact: only rows whose names hold one of these")
    chosen = parser.parse_args()
    with rewriting(chosen.write):
        _print(chosen, chosen.tables or TABLES)


def _print(chosen: argparse.Namespace, tables: Sequence[str]) -> None:
    report.print_machine()
    if "counts" in tables:
        report.operation_counts()
    if "speed" in tables:
        report.speed(report.cases_of(chosen.cases), chosen.seconds)
    if "derivatives" in tables:
        derivatives.tables(chosen.cases, chosen.seconds)
    if "scaling" in tables:
        report.scaling((10, 20, 50, 100, 200, 300), chosen.seconds)
    if "startup" in tables:
        startup.table()
    if "kinematics" in tables:
        kinematics.table(chosen.seconds)
    if "control" in tables:
        controllers.table(chosen.seconds)
    if "papers" in tables:
        papers.all_of_them(chosen.seconds, chosen.figures)
    if "contact" in tables:
        contact.all_of_them(chosen.long, chosen.rows)
    if "integrators" in tables:
        integrators.table()
    if "sweeps" in tables:
        sweeps.table()
    if "formulations" in tables:
        formulations.table(20 * chosen.seconds)
    if "edits" in tables:
        edits.table()
    if "topology" in tables:
        topology.table()
    if "drawing" in tables:
        drawing.table()
    if "manifold" in tables:
        manifold.all_of_them(chosen.seconds)
        local_coordinates.beside_sympy()
    if "maximal" in tables:
        maximal.all_of_them(chosen.long)


if __name__ == "__main__":
    main()
