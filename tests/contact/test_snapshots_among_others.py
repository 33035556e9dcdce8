"""Snapshots of piles at random, taken up in a connection where Bullet has bodies of others, and gives other ids."""

import numpy as np
import pybullet
import pytest
from contact_scenes import at, bullet, bullet_ball, put
from test_snapshots import H, continued

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Scene, shapes

FEW = 10, 15, 32, 40, 52  # piles whose contacts went by who else was there, or by what was drawn


def pile(rng: np.random.Generator) -> Scene:
    """Boxes, balls, capsules and cylinders of any sizes, thrown on each other, or with bricks laid on each other."""
    scene, laid = Scene(), rng.random() < 0.5
    for k in range(8):
        a, b, c = rng.uniform(0.05, 0.2, 3)
        box = shapes.Box((0.2, 0.1, 0.1) if laid else (2 * a, 2 * b, 2 * c))
        forms = box, box, shapes.Sphere(a), shapes.Capsule(0.5 * a, 2 * b), shapes.Cylinder(a, b)
        if laid:
            near = rng.uniform(-0.02, 0.02, 2)
            place = at(0.11 * (k % 2) + near[0], near[1], 0.05 + 0.1 * k, (0.0, 0.0, rng.uniform(-0.3, 0.3)))
        else:
            place = rd.pose((*rng.uniform(-0.1, 0.1, 2), 0.2 + 0.25 * k), rng.uniform(-3, 3, 3))
        put(scene, f"body{k}", forms[rng.integers(len(forms))], place, mass=rng.uniform(0.5, 2.0))
    return scene


def _known_to_bullet(client: int) -> None:
    """Others of Bullet: some that went, one far off, and one amid the scene's that nothing can meet."""
    for k in range(3):
        pybullet.removeBody(bullet_ball(client, (50.0 + k, 0.0, 50.0), mass=0.0), client)
    bullet_ball(client, (60.0, 0.0, 60.0), mass=0.0)
    pybullet.createMultiBody(0, -1, -1, (0.0, 0.0, 0.15), physicsClientId=client)


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize("seeds", [FEW, pytest.param(range(60), marks=pytest.mark.slow)], ids=["few", "many"])
def test_of_any_pile_others_ids_change_nothing(seeds):
    """Nor what is drawn, in a connection where someone looks: where bodies are is all that contacts come from."""
    for seed in seeds:
        rng = np.random.default_rng(seed)
        scene = pile(rng)
        sim = rd.Simulation(scene.compile(), H)
        with PyBulletMirror(scene, sim, gui=False) as shown:
            sim.v[:] = rng.normal(scale=0.5, size=sim.v.shape)
            shown.step(int(rng.integers(20, 150)))
            snapshot = sim.snapshot()
            states = continued(sim, shown.step, 20)
        other = rd.Simulation(sim.dynamics, H)
        with bullet() as client:
            _known_to_bullet(client)
            with PyBulletMirror(scene, other, client=client) as shown:
                other.restore(snapshot)
                assert continued(other, shown.step, 20) == states, seed
