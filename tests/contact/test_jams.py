"""What is wedged between others: impulses stay of the size of what they change, where friction lets them."""

import numpy as np
import pytest
from contact_scenes import INTEGRATORS, mirror

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes


def rolling_in_a_crate(friction: float, seed: int, integrator: str = "rk4") -> tuple[float, float]:
    """A crate of 3 kg floats and turns, a ball of 1 kg loose in it: (largest impulse, N s, share of the angular
    momentum about the origin that is lost)."""
    rng, material, scene = np.random.default_rng(seed), rd.Material(friction=friction), Scene(gravity=(0, 0, 0))
    walls = []
    for axis in range(3):
        for side in (-1, 1):
            size, at = np.full(3, 0.8), np.zeros(3)
            size[axis], at[axis] = 0.1, 0.35 * side
            walls.append(shapes.Box(tuple(size), at=rd.pose(at), material=material))
    scene.world.attach(Body("crate", walls, mass=3.0), joints.free())
    ball = Body("ball", [shapes.Sphere(0.08, material=material)], mass=1.0)
    scene.world.attach(ball, joints.free(), at=rd.pose((-0.15, -0.15, -0.15)))
    with mirror(scene, 1 / 60, integrator, ground=False) as shown:
        sim = shown.sim
        sim.place("crate", velocity=(*5.0 * rng.normal(size=3), 0, 0, 0))
        sim.place("ball", velocity=(*2.0 * rng.normal(size=3), *3.0 * rng.normal(size=3)))
        start, largest = sim.dynamics.momentum(sim.q, sim.v)[:3], 0.0
        for _ in range(200):
            shown.step()
            largest = max([largest, *(float(np.linalg.norm(c.impulse)) for c in shown.contacts)])
        lost = np.linalg.norm(sim.dynamics.momentum(sim.q, sim.v)[:3] - start) / np.linalg.norm(start)
    return largest, float(lost)


@pytest.mark.parametrize("seed", range(3))
def test_a_ball_in_a_crate_is_pressed_by_what_it_has(seed):
    largest, lost = rolling_in_a_crate(0.5, seed)
    assert largest < 20.0 and lost < 0.1


@pytest.mark.parametrize("friction", [1.0, 1.5])
@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_so_is_one_that_friction_could_wedge(friction, integrator, seed):
    largest, lost = rolling_in_a_crate(friction, seed, integrator)
    assert largest < 20.0 and lost < 0.02


def thrown_about(friction: float, restitution: float, seed: int) -> tuple[float, float]:
    """Three balls in a narrow box, which touch each other and walls at once: (largest impulse, N s, residual, m/s)."""
    rng, material, scene = np.random.default_rng(seed), rd.Material(friction, restitution=restitution), Scene()
    for axis in range(3):
        for side in (-1, 1):
            size, at = np.full(3, 0.8), np.zeros(3)
            size[axis], at[axis] = 0.1, 0.25 * side
            scene.world.shapes.append(shapes.Box(tuple(size), at=rd.pose(at), material=material))
    for k, at in enumerate(((-0.12, -0.1, -0.1), (0.12, -0.1, -0.1), (0.0, 0.1, -0.1))):
        ball = Body(f"b{k}", [shapes.Sphere(0.06, material=material)], mass=1.0 + k)
        scene.world.attach(ball, joints.free(), at=rd.pose(at))
    largest = residual = 0.0
    with mirror(scene, 1 / 60, ground=False) as shown:
        for k in range(3):
            shown.sim.place(f"b{k}", velocity=(*10 * rng.normal(size=3), *3 * rng.normal(size=3)))
        for _ in range(150):
            shown.step()
            largest = max([largest, *(float(np.linalg.norm(c.impulse)) for c in shown.contacts)])
            residual = max(residual, shown.sim.solution.residual)
    return largest, residual


def test_what_is_wedged_is_pressed_by_the_least_that_holds_it():
    """Contacts of two balls on each other and on walls could press with any force."""
    assert max(thrown_about(2.0, 0.0, seed)[0] for seed in range(4)) < 50.0


@pytest.mark.parametrize(("friction", "restitution"), [(1.0, 0.3), (1.2, 0.5), (2.0, 0.8)])
def test_there_is_a_solution_where_restitution_and_friction_have_none(friction, restitution):
    """What should bounce and is wedged comes to rest."""
    assert max(thrown_about(friction, restitution, seed)[1] for seed in range(6)) <= 1e-5


@pytest.mark.parametrize("gap", [0.1, pytest.param(0.19, marks=pytest.mark.slow)])
def test_a_wedge_thrown_between_blocks_is_not_thrown_out(gap):
    """It hits both again and again, with impulses that are alike; there is no friction. What it wins in a step is what
    leads it out of the blocks, of 27 J."""
    material, most = rd.Material(friction=0.0), 0.0
    for seed in range(6):
        rng, scene = np.random.default_rng(seed), Scene()
        for k, side in enumerate((-1, 1)):
            block = Body(f"block {k}", [shapes.Box((0.4, 0.4, 0.4), material=material)], mass=50.0)
            scene.world.attach(block, joints.free(), at=rd.pose((side * (0.2 + gap / 2), 0, 0.2)))
        at = rd.pose((*0.03 * rng.normal(size=2), 0.6), (0, np.pi / 4, 0.1 * rng.normal()))
        wedge = Body("wedge", [shapes.Box((0.18, 0.18, 0.18), material=material)], mass=5.0)
        scene.world.attach(wedge, joints.free(), at=at)
        with mirror(scene) as shown:
            sim = shown.sim
            sim.place("wedge", velocity=(0, 0, 0, 0.3 * rng.normal(), 0, -3.0))
            before = np.inf
            for _ in range(240):
                shown.step()
                now = sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q)
                most, before = max(most, now - before), now
    assert most < 0.12


@pytest.mark.xfail(strict=True, reason="the first rebounds into the second in the step in which it hits: 32 mm told 0")
def test_overlap_that_a_bounce_leads_to_is_told():
    """Two balls fly into a wall one behind the other."""
    material, scene = rd.Material(friction=0.0, restitution=1.0), Scene(gravity=(0, 0, 0))
    scene.world.shapes.append(shapes.Box((0.2, 4, 4), at=rd.pose((-0.1, 0, 0)), material=material))
    for k in range(2):
        ball = Body(f"ball {k}", [shapes.Sphere(0.1, material=material)], mass=1.0)
        scene.world.attach(ball, joints.free(), at=rd.pose((0.3 + 0.205 * k, 0, 0)))
    with mirror(scene, 1 / 60, ground=False) as shown:
        for k in range(2):
            shown.sim.place(f"ball {k}", velocity=(0, 0, 0, -1.0, 0, 0))
        for _ in range(40):
            shown.step()
            first, second = (pose[0, 3] for pose in shown.sim.dynamics.poses(shown.sim.q)[-2:])
            assert 0.2 - (second - first) <= shown.sim.solution.penetration + 1e-3
