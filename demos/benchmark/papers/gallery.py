"""What the mechanisms of the demos cost: coordinates, rows of constraints, operations, microseconds."""

from __future__ import annotations

import importlib
from time import perf_counter

import recursive_dyn as rd
from demos.benchmark.ours import Compiled
from demos.benchmark.report import print_table
from demos.benchmark.timing import best_of
from recursive_dyn.codegen.making.progress import each

NAMES = ("coaster", "bezier_chain", "surface_board", "tong", "leg", "wheels", "ellipsoids", "rattleback", "disc",
         "over_the_pole")  # fmt: skip
METHODS = ("recursive", "lagrangian")


def mechanisms(seconds: float) -> None:
    """One row a demo: operations by both methods, forward dynamics by the cheaper one, a step of its integrator."""
    rows = []
    for name in each(NAMES, "mechanisms"):
        stage = importlib.import_module(f"demos.{name}").build()
        simulation, model = stage.simulation, stage.simulation.dynamics.model
        q, v, tau = simulation.q.copy(), simulation.v.copy(), simulation.tau.copy()
        start = perf_counter()
        counts = {m: rd.Dynamics(stage.scene.model(), m).operation_count().total for m in METHODS}
        prepared = perf_counter() - start
        loop = best_of(Compiled(simulation.dynamics, q, v, tau).loop("forward_dynamics"), seconds)
        step = best_of(simulation.step, seconds)
        rows.append([
            name, str(len(model.bodies)), str(model.nv), str(len(model.constraints)),
            *(str(counts[m]) for m in METHODS), f"{1e3 * prepared:.0f}", f"{1e6 * loop:.3g}",
            f"{simulation.integrator} {1e3 * simulation.timestep:.3g} ms", f"{1e6 * step:.3g}",
        ])  # fmt: skip
    head = ["demo", "bodies", "coordinates", "rows", "operations O(n)", "M and factors", "both graphs ms",
            "forward dynamics us", "integrator", "step us"]  # fmt: skip
    print_table("Mechanisms of the demos: cost of forward dynamics, and of a step as Python calls it", head, rows)
    print("Steps of scenes with constraints are taken one by one, with a projection.")
