"""Derivatives of inverse and forward dynamics beside Pinocchio's, and what they cost to be compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from time import perf_counter

import recursive_dyn as rd
from demos.benchmark import held, report
from demos.benchmark.cases import Case, hinge_chain, random_state, robots
from demos.benchmark.ours import Ours, chain_scene, optimized
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from demos.benchmark.timing import interleaved
from recursive_dyn.codegen.making.progress import each

FUNCTIONS = ("inverse_dynamics", "forward_dynamics")
COLD = (36, 100)
REPEATS = 2000  # of a fraction of a millisecond each: some have the machine for themselves, however busy it is


def cases_of(names: list[str]) -> dict[str, Case]:
    """Chains of hinges and robots, by name."""
    cases: dict[str, Case] = {f"xyz{n}": hinge_chain(n) for n in (7, 12, 24, 36, 50, 100)}
    cases |= robots()
    return {name: case for name, case in cases.items() if not names or name in names}


def tables(names: list[str], seconds: float) -> None:
    """Each function of every case: our compiled loop, our call, Pinocchio's call, and that less what a call costs."""
    empty = PinocchioPeer(hinge_chain(1), *random_state(hinge_chain(1)))
    for function in FUNCTIONS:
        rows = []
        for name, case in each(cases_of(names).items(), function):
            state = random_state(case)
            ours, peer = Ours(case, *state), PinocchioPeer(case, *state)
            runs = {"loop": optimized(ours, function), "call": ours.derivatives(function)}
            runs |= {"peer": peer.derivatives(function), "empty": empty.derivatives(function)}
            times = {label: 1e6 * timing.best for label, timing in interleaved(runs, seconds, REPEATS).items()}
            less = times["peer"] - times["empty"]
            rows.append([
                name, str(ours.dynamics.nv), *(f"{times[k]:.3g}" for k in ("loop", "call", "peer")), f"{less:.3g}",
                f"{times['peer'] / times['loop']:.2f}", f"{less / times['loop']:.2f}",
            ])  # fmt: skip
        head = [
            "case",
            "nv",
            "loop",
            "call",
            "Pinocchio, call",
            "less a call of one hinge",
            "ratio to loop",
            "less a call",
        ]
        report.print_table(f"derivatives of {function.replace('_', ' ')}, us", head, rows)
    held.table(names, seconds)
    cold()


def cold() -> None:
    """Seconds from a chain's scene to its first derivatives, in processes whose caches are empty."""
    rows = []
    for n in COLD:
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {"RECURSIVE_DYN_CACHE": folder, "RECURSIVE_DYN_PROGRESS": "off"}
            command = [sys.executable, "-m", __spec__.name, str(n)]
            first, second = (
                json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)
                for _ in range(2)
            )
        rows.append([str(n), *(f"{t:.2f}" for t in first), *(f"{t:.2f}" for t in second)])
    head = ["hinges", "inverse, cold s", "then forward", "inverse, cached s", "then forward"]
    report.print_table("from a chain's model to its first derivatives", head, rows)


def _first(n: int) -> None:
    """What a process of its own does: prints the seconds of each function."""
    dynamics, taken = rd.Dynamics(chain_scene(hinge_chain(n)).model()), []
    q, v = dynamics.neutral(), [0.0] * n
    for function in FUNCTIONS:
        start = perf_counter()
        dynamics.derivatives(function, q, v, v)
        taken.append(perf_counter() - start)
    print(json.dumps(taken))


if __name__ == "__main__":
    _first(int(sys.argv[1]))
