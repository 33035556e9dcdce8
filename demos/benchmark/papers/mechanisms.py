"""The six mechanisms of Si & Guenter (2011), table 1, and what the paper reports of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import recursive_dyn as rd
from demos import torus_chain, windmill
from demos.benchmark.cases import ChainCase, hinge_chain, random_state
from demos.benchmark.ours import chain_scene
from scene import Scene

SPREAD = 0.1  # of the states about the mechanisms' rest, rad: surface coordinates must stay off their poles


@dataclass(frozen=True)
class Published:
    """Milliseconds of one forward dynamics on a 2.67 GHz Core 2 Quad: all symbolic, and recursions 4-6 numeric."""

    coordinates: int
    method_one: float
    method_two: float


PUBLISHED = {
    "RC20": Published(20, 0.020, 1.0),
    "RC50": Published(50, 0.050, 2.4),
    "RC100": Published(100, 0.112, 4.9),
    "TC10": Published(38, 0.055, 1.05),
    "TC20": Published(78, 0.115, 2.2),
    "WM": Published(73, 0.108, 2.4),
}


def hinge_case(name: str) -> ChainCase | None:
    """The revolute chain RCn as other libraries can read it; None for mechanisms of surface joints."""
    return hinge_chain(int(name[2:])) if name.startswith("RC") else None


def scene_and_rest(name: str) -> tuple[Scene, np.ndarray]:
    """One mechanism and a configuration (nq,) to be near of."""
    case = hinge_case(name)
    if case is not None:
        return chain_scene(case), np.zeros(len(case.hinges))
    if name == "WM":
        return windmill.mill()
    count = int(name[2:])
    return torus_chain.chain(count), torus_chain.at_rest(count)


def state(name: str, dynamics: rd.Dynamics, rest: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Seeded q, v, tau of the mechanism: a hinge chain's anywhere, the others' near their rest."""
    case = hinge_case(name)
    if case is not None:
        return random_state(case)
    rng = np.random.default_rng(2011)
    n = dynamics.nv
    return rest + SPREAD * rng.uniform(-1, 1, n), rng.uniform(-1, 1, n), rng.uniform(-1, 1, n)
