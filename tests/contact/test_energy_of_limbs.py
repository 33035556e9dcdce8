"""Bodies with a limb each meet in the air and press on each other for a while: they win nothing by it."""

import numpy as np
import pytest
from contact_scenes import energy, mirror, set_twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

SLIPPERY = rd.Material(friction=0.0)


def hulk(rng: np.random.Generator) -> shapes.Shape:
    """Of some 0.2 m."""
    sizes = 0.22 * rng.uniform(0.6, 1.6, 3)
    kinds = [
        lambda: shapes.Box(tuple(sizes), material=SLIPPERY),
        lambda: shapes.Ellipsoid(tuple(0.6 * sizes), material=SLIPPERY),
        lambda: shapes.Capsule(0.07, 0.22, material=SLIPPERY),
        lambda: shapes.Cylinder(0.11, 0.22, material=SLIPPERY),
        lambda: shapes.Torus(0.13, 0.045, material=SLIPPERY),
    ]
    return kinds[rng.integers(len(kinds))]()


def largest_rise(joint: str, h: float, seed: int) -> float:
    """In one of the steps of 1 s, as a share of all there is at the start."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, 0))
    for k in range(2):
        at = rd.pose((0.4 * (2 * k - 1), 0.05 * k, 0.05 * k), rpy=tuple(rng.uniform(-3, 3, 3)))
        body = scene.world.attach(Body(f"body {k}", [hulk(rng)], mass=1.0), joints.free(), at=at)
        limb = shapes.Capsule(0.03, 0.15, at=rd.pose((0, 0, -0.12)), material=SLIPPERY)
        hinge = joints.ball() if joint == "ball" else joints.revolute((1, 2, 0))
        body.attach(Body(f"limb {k}", [limb], mass=0.4), hinge, at=rd.pose((0, 0, -0.2)))
    with mirror(scene, h, "linearly_implicit_rk4", ground=False) as shown:
        sim, rise = shown.sim, 0.0
        for k in range(2):
            set_twist(sim, f"body {k}", 2.0 * rng.normal(size=3), np.array([-1.5 * (2 * k - 1), 0, 0]))
        start = before = energy(sim)
        for _ in range(round(1 / h)):
            shown.step()
            before, rise = energy(sim), max(rise, energy(sim) - before)
    return float(rise / start)


@pytest.mark.parametrize("joint, seed", [("ball", 0), ("hinge", 35)])
def test_limbs_win_nothing_by_what_presses_on(joint, seed):
    """2.2e-3 and 4.1e-3 of what there is at the start came in within a step."""
    assert largest_rise(joint, 1 / 240, seed) < 3e-4


@pytest.mark.slow
@pytest.mark.parametrize("joint", ["ball", "hinge"])
@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_nor_in_nearly_any_other_draw(joint, h):
    """One of 240, of a torus and a capsule, wins 2.3e-3: half of what it did, and not by corrections alone."""
    rises = np.array([largest_rise(joint, h, seed) for seed in range(60)])
    assert rises.max() < 3e-3 and (rises > 4e-4).sum() <= 1, int(rises.argmax())
