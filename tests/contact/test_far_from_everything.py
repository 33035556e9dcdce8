"""What boxes say of what is far from everything: Bullet tells nothing there, and steps are as if it had been asked."""

import numpy as np
import pytest
from contact_scenes import mirror, put

import recursive_dyn as rd
from bridge.collision.population import Population
from recursive_dyn.simulation.bounds import UNKNOWN, meets, note_ways
from recursive_dyn.simulation.stepping import timestep
from scene import Body, Scene, joints, shapes

MADE = (
    lambda r, at: shapes.Box(tuple(r.uniform(0.05, 0.4, 3)), at=at),
    lambda r, at: shapes.Sphere(r.uniform(0.03, 0.2), at=at),
    lambda r, at: shapes.Capsule(r.uniform(0.03, 0.1), r.uniform(0.1, 0.4), at=at),
    lambda r, at: shapes.Cylinder(r.uniform(0.03, 0.2), r.uniform(0.05, 0.4), at=at),
    lambda r, at: shapes.Ellipsoid(tuple(r.uniform(0.05, 0.2, 3)), at=at),
    lambda r, at: shapes.Torus(0.2, r.uniform(0.03, 0.1), at=at),
    lambda r, at: shapes.Box((4.0, 0.1, 3.0), at=at),
)


def somewhere(r: np.random.Generator, low=(-1.5, -1.5, -1.5), high=(1.5, 1.5, 1.5)) -> np.ndarray:
    return rd.pose(tuple(r.uniform(low, high)), rpy=tuple(r.uniform(-np.pi, np.pi, 3)))


def shape(r: np.random.Generator, kinds: int, at: np.ndarray | None = None) -> shapes.Shape:
    return MADE[r.integers(kinds)](r, np.eye(4) if at is None else at)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_bullet_tells_nothing_of_what_boxes_leave_out_and_cuts_no_step_for_it(seed):
    """Bodies of two shapes, walls and a plane, at random, at 0 to 60 m/s and rad/s; some pairs pass each other."""
    r, scene, n = np.random.default_rng(seed), Scene(), 5
    for k in range(n):
        own = [shape(r, len(MADE), at) for at in (None, somewhere(r, 3 * (-0.3,), 3 * (0.3,)))]
        scene.world.attach(Body(f"b{k}", own, mass=1.0, inertia=np.eye(3)), joints.free())
    heights = shapes.HeightField(heights=r.uniform(0, 0.3, (6, 6)), spacing=(0.2, 0.2), at=somewhere(r))
    scene.world.shapes += [heights, shape(r, len(MADE), somewhere(r)), shapes.Plane(at=rd.pose((0, 0, -1.5)))]
    for other in ("world", "b1"):
        scene.pair("b0", other, collide=False)
    with mirror(scene, 1 / 60, ground=False) as shown:
        sim, told, left_out = shown.sim, 0, 0
        surroundings, h = sim.surroundings, np.array([1 / 60])
        surroundings.detect(sim)
        bounds, ways = surroundings.bounds, np.zeros((n, 8))
        for _ in range(20):
            for k in range(n):
                sim.place(f"b{k}", somewhere(r, *(np.multiply(r.uniform(0.3, 1.5), ((-2, -2, -2), (2, 2, 2))))))
            sim.v[:] = r.normal(size=sim.v.shape) * r.choice([0.0, 0.1, 1.0, 10.0, 60.0])
            contacts, present = surroundings.detect(sim), sim.present
            present.start_twists[:] = r.uniform(0, 2) * present.twists
            where = present.poses.ravel(), present.twists.ravel(), present.start_twists.ravel()
            note_ways(bounds, *where, 0.0, ways)
            near = [meets(bounds, np.array(np.arange(n) == k, dtype=np.int64), where[0], ways) for k in range(n)]
            assert all(near[k] for k in {*contacts.a, *contacts.b} - {-1})
            parts = surroundings._population.parts(surroundings._population.sweep(present, h))
            note_ways(bounds, *where, h[0], ways)
            assert parts == 1 or meets(bounds, np.ones(n, dtype=np.int64), where[0], ways)
            told, left_out = told + len(contacts), left_out + near.count(False)
        assert told > 20 and left_out > 0


def arm_among_others(seed: int) -> Scene:
    """An arm of three links above the ground, walls about it, and boxes that tumble there, none too fast for a step or
    near another one: a look more changes which points Bullet remembers."""
    r, scene, node = np.random.default_rng(seed), Scene(), None
    for k, axis in enumerate("yxy"):
        link = Body(f"link {k}", [shape(r, 3, rd.pose((0, 0, -0.2)))], mass=1.0)
        node = (node or scene.world).attach(link, joints.revolute(axis), at=rd.pose((0, 0, -0.45 if k else 1.5)))
    for _ in range(r.integers(3)):
        scene.world.shapes.append(shape(r, 3, somewhere(r, (-1.5, -1.5, 0.1), (1.5, 1.5, 1.5))))
    for k in range(4):
        at = rd.pose((0.9 * (k % 2) - 0.3, 0.9 * (k // 2) - 0.3, 0.26), rpy=tuple(r.uniform(-1, 1, 3)))
        put(scene, f"b{k}", shapes.Box(tuple(r.uniform(0.2, 0.3, 3))), at, 0.5)
    return scene


def waved(seed: int, h: float) -> tuple[list[bytes], int]:
    """What an arm led by motors, which now and then meets the others, comes to, step by step; how often it was looked
    for what it was led into."""
    r, states, looks = np.random.default_rng(seed), [], 0
    with mirror(arm_among_others(seed), h, "semi_implicit_euler") as shown, pytest.MonkeyPatch.context() as patch:
        look, sim = timestep.looked_into, shown.sim

        def counted(*given):
            nonlocal looks
            looks += 1
            return look(*given)

        patch.setattr(timestep, "looked_into", counted)
        for step in range(50):
            if step % 2 == 0:
                for k, speed in enumerate(r.uniform(-0.13 / h, 0.13 / h, 3)):
                    sim.motors[f"link {k}.angle"] = rd.Motor(velocity=float(speed), max_force=1000.0)
            shown.step()
            states.append(sim.q.tobytes() + sim.v.tobytes())
    return states, looks


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(k, marks=pytest.mark.slow) for k in range(2, 12))])
def test_steps_are_the_same_to_the_bit_as_where_all_is_looked_for(seed, h, monkeypatch):
    """What tumbles beside it lost what contacts had turned it by, wherever a look found nothing."""
    states, looks = waved(seed, h)
    monkeypatch.setattr(Population, "bounds", lambda *given: UNKNOWN)
    expected, all_looks = waved(seed, h)
    assert states == expected
    assert looks < all_looks
