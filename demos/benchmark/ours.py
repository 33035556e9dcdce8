"""This project on a case, in the three ways it is called: from Python, in a compiled loop, in batches of scenes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

import recursive_dyn as rd
from demos.benchmark.cases import GRAVITY, Case, ChainCase, to_urdf
from recursive_dyn.codegen.kernel import BatchCall
from recursive_dyn.codegen.making import jit, optimizing
from recursive_dyn.dynamics.derivatives.tree_derivatives import TreeDerivatives
from scene import Body, Scene, joints

BLOCK = 256  # states per call of the compiled loop, as the peers' loops have it
ROWS = 8  # evaluations a call of a loop of derivatives: the call costs little, what is written stays in the cache
BATCH = 2048  # states per call of the vectorised batch


def chain_scene(case: ChainCase) -> Scene:
    """The hinge chain of a case."""
    scene = Scene(gravity=GRAVITY)
    node = scene.world
    for i, name in enumerate(case.hinges):
        pose = np.eye(4)
        pose[:3, :3], pose[:3, 3] = case.rotations[i], case.offsets[i]
        body = Body(name, mass=case.masses[i], center_of_mass=case.coms[i], inertia=case.inertias[i])
        node = node.attach(body, joints.revolute(case.axes[i]), at=pose)
    return scene


def scene_of(case: Case) -> Scene:
    """The scene of any case."""
    if isinstance(case, ChainCase):
        return chain_scene(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(to_urdf(case))
        return Scene.from_urdf(path, fixed_base=case.fixed_base)


class Compiled:
    """Compiled dynamics at one state q (nq,), v, tau (nv,)."""

    def __init__(self, dynamics: rd.Dynamics, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
        self.dynamics, self.q, self.v, self.tau = dynamics, q, v, tau
        self.a = dynamics.forward_dynamics(q, v, tau)

    def arguments(self, function: str) -> tuple[np.ndarray, ...]:
        """The state that a function takes."""
        return {
            "forward_dynamics": (self.q, self.v, self.tau),
            "inverse_dynamics": (self.q, self.v, self.a),
            "mass_matrix": (self.q,),
        }[function]

    def call(self, function: str):
        """One scene a call, from Python."""
        method, arguments = getattr(self.dynamics, function), self.arguments(function)

        def run(count: int) -> None:
            for _ in range(count):
                method(*arguments)

        return run

    def derivatives(self, function: str):
        """Derivatives at one state a call, from Python."""
        arguments = self.arguments(function)

        def run(count: int) -> None:
            for _ in range(count):
                self.dynamics.derivatives(function, *arguments)

        return run

    def loop(self, function: str):
        """One scene after another in a compiled loop."""
        return self._rows(function, 1)

    def batch(self, function: str):
        """Whole vectors of scenes in a compiled loop, on one core; seconds are per scene."""
        return self._rows(function, jit.vector_width())

    def _rows(self, function: str, width: int):
        call = BatchCall(self.dynamics.kernel(function, width))
        size = BLOCK if width == 1 else BATCH
        rows = [np.tile(x, (size, 1)) for x in self.arguments(function)]
        parameters = self.dynamics.parameters.values_array.reshape(1, -1)

        def run(count: int) -> None:
            for done in range(0, count, size):
                block = min(size, count - done)
                call([*(x[:block] for x in rows), parameters], block, threads=1)

        return run


class Ours(Compiled):
    """Compiled dynamics of a case; hinges in the case's order, everything else at rest."""

    def __init__(self, case: Case, q: np.ndarray, v: np.ndarray, tau: np.ndarray, method: str = "auto") -> None:
        dynamics = rd.Dynamics(scene_of(case).model(), method)
        model = dynamics.model
        hinges = [link for link in model.links if link.joint.nv == 1 and link.drive is None]
        slots, places = [link.slots[0] for link in hinges], [link.places[0] for link in hinges]
        state = dynamics.neutral(), np.zeros(model.nv), np.zeros(model.nv)
        state[0][places], state[1][slots], state[2][slots] = q, v, tau
        super().__init__(dynamics, *state)


def optimized(ours: Compiled, function: str):
    """Our compiled loop of derivatives, as it is once it is optimized."""
    arguments, trees = ours.arguments(function), ours.dynamics.functions.trees
    assert isinstance(trees, TreeDerivatives)
    ours.dynamics.derivatives(function, *arguments)
    machine = trees.machine(ours.dynamics, function)
    many, one = machine.repeated(ROWS), machine.repeated(1)
    optimizing.finish()

    def run(count: int) -> None:
        for _ in range(count // ROWS):
            many()
        for _ in range(count % ROWS):
            one()

    return run
