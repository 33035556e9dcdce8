"""The papers' tables and figures, printed beside what was published."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import recursive_dyn as rd
from demos.benchmark import counts
from demos.benchmark.ours import Compiled
from demos.benchmark.papers import complexity, figures, footprint, gallery
from demos.benchmark.papers.complexity import EQUATIONS, Growth, fit
from demos.benchmark.papers.mechanisms import PUBLISHED, hinge_case, scene_and_rest, state
from demos.benchmark.peers import PinocchioPeer
from demos.benchmark.report import print_table
from demos.benchmark.timing import interleaved
from recursive_dyn.codegen.making.progress import each

SIZES = ("RC20", "RC100", "RC300", "RC1000")
REACH = 10.0  # Method I is to take less than one tenth of the published time
NOTES = """
Counts are of the straight-line program that is compiled and run (dynamics.operation_count), not of formulas. What keeps
them low: mass moments that a joint does not move are regrouped into the parent (base inertial parameters); link frames
are turned and slid along the hinges until consecutive ones differ by one elementary rotation and two translations
(Denavit-Hartenberg); and every value is one node of a hash-consed graph that all equations share, so that common
factors of sums and products are computed once, as in D*: constants, 0 and 1 are folded, numerically identical nodes
merged. "parallel", "alternating" and "PUMA-like" have slender links (centre of mass on the link's axis, diagonal
inertia), the other two full inertias. "their trace form" is method="trace", equation 13 and coefficients taken from it,
in our graph and our link frames. The published counts are for chains of six hinges that the papers do not list."""


def all_of_them(seconds: float, folder: Path | None) -> None:
    """Every table, and both figures where they have a folder."""
    guenter_lee_figures(folder)
    guenter_lee_counts()
    si_guenter_times(seconds)
    si_guenter_preparation()
    si_guenter_sizes(seconds)
    gallery.mechanisms(seconds)


def guenter_lee_figures(
    folder: Path | None, hinges: Sequence[int] = complexity.HINGES, tori: Sequence[int] = complexity.TORI
) -> list[Growth]:
    """Figures 6 and 7 as a table of fits, and as pictures in a folder."""
    kinds = (("hinge chain", complexity.hinges, hinges), ("torus chain", complexity.tori, tori))
    chains = [complexity.growth(*kind) for kind in each(kinds, "counting")]
    print_table("Guenter & Lee, figures 6 and 7: growth of operations with coordinates n",
                ["chain and function", "n", "operations", "a coordinate", "R² n", "R² n²", "R² n³"],
                [row for chain in chains for row in _growth_rows(chain)])  # fmt: skip
    print(
        f"'{EQUATIONS}' is what their figure 7 counts; solving M a = tau - c adds a cubic term, which rules in the end."
    )
    if folder is None:
        return chains
    written = figures.draw(chains, folder)
    print("\n".join(f"wrote {path}" for path in written) if written else figures.MISSING)
    return chains


def _growth_rows(chain: Growth) -> list[list[str]]:
    kinds = {
        "inverse dynamics": chain.inverse,
        "forward, recursive": chain.recursive,
        f"forward, lagrangian: {EQUATIONS}": chain.equations,
        "forward, lagrangian with factorization": chain.lagrangian,
    }
    n = chain.coordinates
    return [
        [
            f"{chain.label}, {kind}", f"{n[0]}..{n[-1]}", f"{y[0]}..{y[-1]}", f"{fit(n, y, 1).coefficients[0]:.0f}",
            *(f"{fit(n, y, degree).r2:.6f}" for degree in (1, 2, 3)),
        ]
        for kind, y in kinds.items()
    ]  # fmt: skip


def guenter_lee_counts() -> None:
    """Table 1: six hinges against the symbolic Lagrangian's best and worst and Balafoutis & Patel."""
    head = ["6R chain", "function", "counted", *(f"below {name}" for name in counts.PUBLISHED)]
    rows = []
    for k, function in enumerate(("inverse", "forward")):
        for kind in counts.PLAIN:
            found = counts.measured(kind)
            labels = ("inverse",) if function == "inverse" else ("recursive", "lagrangian")
            label = min(labels, key=lambda name: found[name].total)  # as method="auto" chooses
            name = function if function == "inverse" else f"forward, {label}"
            form = "inverse, trace" if function == "inverse" else "trace"
            for shown, count in ((name, found[label]), (f"{function}, their trace form", found[form])):
                own = (count.add, count.mul)
                rows.append([kind, shown, _count(own), *(_below(own, both[k]) for both in counts.PUBLISHED.values())])
    print_table("Guenter & Lee, table 1: additions+ multiplications*", head, rows)
    print(NOTES)


def _count(pair: tuple[int, int]) -> str:
    return f"{pair[0]}+ {pair[1]}*"


def is_below(own: tuple[int, int], published: tuple[int, int]) -> bool:
    """Fewer additions and fewer multiplications."""
    return own[0] < published[0] and own[1] < published[1]


def _below(own: tuple[int, int], published: tuple[int, int]) -> str:
    return f"{_count(published)}: {'yes' if is_below(own, published) else 'no'}"


def si_guenter_times(seconds: float) -> None:
    """Table 1: Method I in a compiled loop, Method II from Python, Pinocchio's C++ loop where it can read the model."""
    rows = []
    for name, published in each(PUBLISHED.items(), "methods I and II"):
        scene, rest = scene_and_rest(name)
        dynamics = rd.Dynamics(scene.model(), "recursive")
        at = state(name, dynamics, rest)
        two = rd.Dynamics(dynamics.model, "method_two")
        runs = {
            "I": Compiled(dynamics, *at).loop("forward_dynamics"),
            "II": Compiled(two, *at).loop("forward_dynamics"),
        }
        case = hinge_case(name)
        peer = PinocchioPeer(case, *at) if case is not None else None
        loop = peer.forward_dynamics_loop() if peer is not None else None
        if loop is not None:
            runs["Pinocchio"] = loop
        times = {label: 1e6 * timing.best for label, timing in interleaved(runs, seconds).items()}
        before = 1e3 * published.method_one, 1e3 * published.method_two
        ratios = before[0] / times["I"], before[1] / times["II"]
        pinocchio = f"{times['Pinocchio']:.3g} ({times['Pinocchio'] / times['I']:.1f})" if loop is not None else "-"
        rows.append([
            name, str(dynamics.nv), f"{times['I']:.3g}", f"{before[0]:.0f}", f"{ratios[0]:.1f}",
            "yes" if ratios[0] > REACH else "no",
            f"{times['II']:.3g}", f"{before[1]:.0f}", f"{ratios[1]:.1f}", pinocchio,
        ])  # fmt: skip
    head = ["mechanism", "coordinates", "Method I", "published", "ratio", "below a tenth", "Method II", "published",
            "ratio", "Pinocchio C++ (ratio)"]  # fmt: skip
    print_table("Si & Guenter, table 1: one forward dynamics, us (published: ms x 1000)", head, rows)
    print("Published on one core of a 2.67 GHz Core 2 Quad. Method II: a program a kind of joint, numeric over links")
    print("Pinocchio has no joint for tori, spheres and ellipsoids on each other: TC and WM are beyond it.")


def si_guenter_sizes(seconds: float, names: Sequence[str] = SIZES) -> None:
    """Where Method II pays: from a scene to its first acceleration, nothing cached, and one acceleration."""
    rows = []
    for name in each(names, "sizes"):
        scene, rest = scene_and_rest(name)
        costs = {method: footprint.measure(name, method) for method in footprint.METHODS}
        runs = {}
        for method, label in footprint.METHODS.items():
            dynamics = rd.Dynamics(scene.model(), label)
            runs[method] = Compiled(dynamics, *state(name, dynamics, rest)).loop("forward_dynamics")
        times = {method: 1e6 * timing.best for method, timing in interleaved(runs, seconds).items()}
        rows.append([
            name, *(f"{costs[m].seconds:.2f}" for m in times), f"{costs['I'].seconds / costs['II'].seconds:.1f}",
            *(f"{times[m]:.3g}" for m in times), f"{times['I'] / times['II']:.2f}",
            *(f"{costs[m].code_kb:.0f}" for m in times), *(f"{costs[m].memory_mb:.0f}" for m in times),
        ])  # fmt: skip
    head = ["mechanism", "I, ready s", "II, ready s", "ratio", "I us", "II us", "ratio", "I code kB", "II code kB",
            "I memory MB", "II memory MB"]  # fmt: skip
    print_table(
        "Methods I and II against size: ready from the scene, nothing cached, then one forward dynamics", head, rows
    )


def si_guenter_preparation() -> None:
    """What section 5 says of preprocessing and memory: seconds, operations, code and memory, nothing cached."""
    rows = []
    cases = [(name, method) for name in PUBLISHED for method in footprint.METHODS]
    for name, method in each(cases, "preparation"):
        cost = footprint.measure(name, method)
        rows.append([
            f"{name}, Method {method}", str(cost.operations), f"{cost.lowering:.2f}", f"{cost.graph:.2f}",
            f"{cost.compile:.2f}", f"{cost.seconds:.2f}", "yes" if cost.seconds < footprint.LIMIT else "no",
            f"{cost.code_kb:.0f}", f"{cost.memory_mb:.0f}",
        ])  # fmt: skip
    head = ["mechanism", "operations", "lowering s", "graph s", "compile s", "all s", f"under {footprint.LIMIT:.0f} s",
            "code kB", "memory MB"]  # fmt: skip
    print_table("Si & Guenter, preparation, each in a fresh process with nothing cached", head, rows)
    print("Lowering writes and derives the joints, graph builds and schedules the program. Published: under a minute.")
