"""``python -m demos.benchmark``: this project beside Pinocchio, MuJoCo, Drake, DART and PyBullet, in one run."""

import argparse

from demos.benchmark import report


def main() -> None:
    """Print every table, or the chosen ones."""
    parser = argparse.ArgumentParser(prog="python -m demos.benchmark", description=__doc__)
    parser.add_argument("tables", nargs="*", choices=[[], "speed", "scaling", "counts"], help="all when none is named")
    parser.add_argument("--cases", nargs="*", default=[], help="xyz20 ... random100, kuka, laikago, humanoid")
    parser.add_argument("--seconds", type=float, default=0.5, help="time spent on each contender of each case")
    chosen = parser.parse_args()
    tables = chosen.tables or ["counts", "speed", "scaling"]
    report.print_machine()
    if "counts" in tables:
        report.operation_counts()
    if "speed" in tables:
        report.speed(report.cases_of(chosen.cases), chosen.seconds)
    if "scaling" in tables:
        report.scaling((10, 20, 50, 100, 200, 300), chosen.seconds)


if __name__ == "__main__":
    main()
