"""What it costs to get one mechanism's forward dynamics ready: symbolic time, compile time, code and memory.

Run as a module it is the fresh process that pays for it: it prints one line of JSON.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from time import process_time

METHODS = {"I": "recursive", "II": "method_two"}  # as scene.compile calls them
LIMIT = 5.0  # s, of preparation; Si & Guenter report "less than one minute"


@dataclass(frozen=True)
class Footprint:
    """CPU seconds from scene to model (lowering), from model to program (graph) and from program to machine code
    (compile; of Method II both, as its programs are made when they are compiled); operations of the programs; machine
    code in kB; growth of the process's peak memory in MB."""

    lowering: float
    graph: float
    compile: float
    operations: int
    code_kb: float
    memory_mb: float

    @property
    def seconds(self) -> float:
        """All of the preparation."""
        return self.lowering + self.graph + self.compile


def measure(name: str, method: str) -> Footprint:
    """One mechanism, nothing cached, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "demos.benchmark.papers.footprint", name, method]
        environment = os.environ | {"RECURSIVE_DYN_CACHE": folder}
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{name}, Method {method}: {done.stderr[-2000:]}")
    line = next(line for line in done.stdout.splitlines() if line.startswith("{"))  # PyBullet greets on the same stream
    return Footprint(**json.loads(line))


def main(name: str, method: str) -> None:
    """Prepare one mechanism; modules are imported, SymPy among them, before the clock starts."""
    import recursive_dyn as rd
    from demos.benchmark.compile_times import peak_memory
    from demos.benchmark.papers.mechanisms import scene_and_rest
    from recursive_dyn.dynamics.mixed.mixed_kernel import MixedKernel
    from recursive_dyn.graph.program import OperationCount

    import_module("sympy")
    before, clock = peak_memory(), [process_time()]
    model = scene_and_rest(name)[0].model()
    clock.append(process_time())
    dynamics = rd.Dynamics(model, METHODS[method])
    if method == "I":
        dynamics.program("forward_dynamics")
    clock.append(process_time())
    kernel = dynamics.kernel("forward_dynamics")
    kernel.memory()
    clock.append(process_time())
    lowering, graph, compiling = (later - earlier for earlier, later in pairwise(clock))
    code = sum(path.stat().st_size for path in Path(os.environ["RECURSIVE_DYN_CACHE"]).rglob("*") if path.is_file())
    programs = kernel.programs if isinstance(kernel, MixedKernel) else [kernel]
    operations = sum(OperationCount(**part.native.facts["count"]).total for part in programs)
    print(json.dumps(Footprint(lowering, graph, compiling, operations, code / 1e3, peak_memory() - before).__dict__))


if __name__ == "__main__":
    main(*sys.argv[1:])
