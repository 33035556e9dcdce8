"""Time to the first result, cold and from the cache, of one chain's forward dynamics, in processes of their own.

Run as a module it is that process: it prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
from time import perf_counter


def measure(n: int, axes: str = "xyz") -> dict[str, dict[str, float]]:
    """{"cold": ..., "cached": ...} of one chain, with a cache folder of their own."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"RECURSIVE_DYN_CACHE": folder}
        command = [sys.executable, "-m", "demos.benchmark.compile_times", str(n), axes]

        def once() -> dict[str, float]:
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            return json.loads(done.stdout)

        cold = once()
        cached = min((once() for _ in range(3)), key=lambda r: r["seconds"])
        return {"cold": cold, "cached": cached}


def peak_memory() -> float:
    """Most memory this process has held so far, MB; the kernel's other figure would include the parent's."""
    try:
        with open("/proc/self/status") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) / 1024
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(n: int, axes: str) -> None:
    """Scene to first acceleration: lowering, graph, program or cache, first call; then until there is machine code."""
    import numpy as np

    from demos.benchmark.cases import hinge_chain, random_state
    from demos.benchmark.ours import chain_scene
    from recursive_dyn.codegen.making import optimizing

    case = hinge_chain(n, axes)
    q, v, tau = random_state(case)
    scene = chain_scene(case)
    before = peak_memory()
    start = perf_counter()
    dynamics = scene.compile()
    a = dynamics.forward_dynamics(q, v, tau)
    seconds = perf_counter() - start
    after = peak_memory()
    if not np.all(np.isfinite(a)):
        raise SystemExit("the accelerations are not finite")
    optimizing.finish()
    code = perf_counter() - start
    facts = dynamics.kernel("forward_dynamics").native.facts
    print(
        json.dumps(
            {
                "seconds": seconds,
                "code": code,
                "memory_mb": after - before,
                "process_mb": after,
                "operations": sum(facts["count"][k] for k in ("add", "mul", "div", "sqrt", "trig", "other")),
            }
        )
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2])
