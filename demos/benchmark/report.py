"""The benchmark's tables, printed as they are measured."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from demos.benchmark import compile_times, counts
from demos.benchmark.cases import Case, hinge_chain, random_state, robots
from demos.benchmark.ours import Ours
from demos.benchmark.peers import PEERS
from demos.benchmark.timing import interleaved
from recursive_dyn.codegen.making.progress import each

FUNCTIONS = {
    "forward_dynamics": "forward dynamics",
    "inverse_dynamics": "inverse dynamics",
    "mass_matrix": "mass matrix",
}


def print_table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A Markdown table with aligned columns."""
    widths = [max(len(str(r[i])) for r in (head, *rows)) for i in range(len(head))]
    print(f"\n## {title}\n")
    for k, row in enumerate((head, ["-" * w for w in widths], *rows)):
        print("| " + " | ".join(str(c).ljust(w) if i == 0 or k == 1 else str(c).rjust(w) for i, (c, w) in
                                enumerate(zip(row, widths, strict=True))) + " |", flush=True)  # fmt: skip


def print_machine() -> None:
    """What was measured on what."""
    names = ("numpy", "llvmlite", "pin", "mujoco", "drake", "dartpy", "pybullet")
    found = []
    for name in names:
        try:
            found.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            found.append(f"{name} not installed")
    print(f"Python {platform.python_version()} on {platform.machine()}, {_cpu()}; {', '.join(found)}")
    print("Times in microseconds an evaluation, least of several repeats, contenders taken in turn; ratios in one run.")


def _cpu() -> str:
    try:
        with open("/proc/cpuinfo") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


def speed(cases: dict[str, Case], seconds: float) -> None:
    """Forward dynamics, inverse dynamics and mass matrix of every case: ours three ways, each peer, ratios."""
    for function, title in FUNCTIONS.items():
        rows, reasons = [], []
        for name, case in each(cases.items(), title):
            state = random_state(case)
            ours = Ours(case, *state)
            runs = {"call": ours.call(function), "loop": ours.loop(function), "batch": ours.batch(function)}
            for peer_type in PEERS:
                peer = peer_type(case, *state)
                run = getattr(peer, function)()
                if run is None:
                    reasons.append(f"{peer_type.label}, {name}: {peer.reason or 'not offered'}")
                else:
                    runs[peer_type.label] = run
                if function == "forward_dynamics" and hasattr(peer, "forward_dynamics_loop"):
                    loop = peer.forward_dynamics_loop()
                    if loop is not None:
                        runs["C++ loop"] = loop
            times = {label: 1e6 * timing.best for label, timing in interleaved(runs, seconds).items()}
            rows.append(_speed_row(name, function, times))
        head = ["case", "call", "loop", "batch"]
        if function == "forward_dynamics":
            head += ["Pinocchio C++ loop", "ratio to loop", "ratio to batch"]
        head += [f"{peer.label} (ratio to call)" for peer in PEERS]
        print_table(f"{title}, us", head, rows)
        for reason in dict.fromkeys(reasons):
            print(f"  - : {' '.join(reason.split())[:160]}")


def _speed_row(name: str, function: str, times: dict[str, float]) -> list[str]:
    row = [name, *(f"{times[k]:.3g}" for k in ("call", "loop", "batch"))]
    if function == "forward_dynamics":
        if "C++ loop" in times:
            cpp = times["C++ loop"]
            row += [f"{cpp:.3g}", f"{cpp / times['loop']:.2f}", f"{cpp / times['batch']:.1f}"]
        else:
            row += ["-"] * 3
    for peer in PEERS:
        t = times.get(peer.label)
        row.append("-" if t is None else f"{t:.3g} ({t / times['call']:.1f})")
    return row


def scaling(lengths: Sequence[int], seconds: float) -> None:
    """Cost, operations, compile time and memory against the number of links."""
    rows = []
    for n in each(lengths, "scaling"):
        case = hinge_chain(n)
        ours = Ours(case, *random_state(case))
        times = interleaved({"loop": ours.loop("forward_dynamics"), "batch": ours.batch("forward_dynamics")}, seconds)
        built = compile_times.measure(n)
        cold, cached = built["cold"], built["cached"]
        rows.append([
            str(n), f"{cold['operations']}", f"{cold['operations'] / n:.0f}",
            f"{1e6 * times['loop'].best:.3g}", f"{1e9 * times['loop'].best / n:.1f}",
            f"{1e6 * times['batch'].best:.3g}",
            f"{cold['seconds']:.2f}", f"{cold['code']:.2f}", f"{1e3 * cached['seconds']:.0f}",
            f"{cold['memory_mb']:.0f}", f"{cached['memory_mb']:.0f}",
        ])  # fmt: skip
    head = ["links", "operations", "a link", "loop us", "ns a link", "batch us", "cold s", "code s", "cached ms",
            "cold MB", "cached MB"]  # fmt: skip
    print_table("forward dynamics of hinge chains: cost, scene-to-first-result time, memory it adds", head, rows)


def operation_counts() -> None:
    """Six-joint chains against the published counts."""
    head = ["6R chain", "inverse", "plain graph", "forward, lagrangian", "forward, recursive", "plain graph (best)",
            "trace form, inverse", "trace form, forward"]  # fmt: skip
    rows = counts.rows()
    for name, (inverse, forward) in counts.PUBLISHED.items():
        rows.append(
            [f"published: {name}", f"{inverse[0]}+ {inverse[1]}*", "", f"{forward[0]}+ {forward[1]}*", "", "", "", ""]
        )
    print_table("operations, additions+ multiplications*", head, rows)


def cases_of(names: Sequence[str]) -> dict[str, Case]:
    """The benchmark's cases by name: xyz20, random50, kuka, ..."""
    cases: dict[str, Case] = {}
    for n in (20, 50, 100):
        cases[f"xyz{n}"] = hinge_chain(n, "xyz")
    for n in (20, 50, 100):
        cases[f"random{n}"] = hinge_chain(n, "random")
    cases |= robots()
    return {k: v for k, v in cases.items() if not names or k in names}
