"""Bullet's own bodies meet the scene's and each other at once: nothing is pushed twice, no push is lost.

Whatever touches whatever, the momentum of all together is kept, and without restitution no energy is won.
"""

import numpy as np
import pybullet
import pytest
from contact_scenes import (
    at,
    bullet,
    bullet_ball,
    bullet_box,
    bullet_position,
    bullet_twist,
    energy,
    mirror,
    position,
    put,
    set_twist,
    twist,
)  # fmt: skip

import recursive_dyn as rd
from bridge.collision import bullet_surroundings
from scene import Scene, shapes

INTEGRATOR = "linearly_implicit_rk4"


class Together:
    """Momentum and energy of a mirror's bodies and of Bullet's, of these masses by id."""

    def __init__(self, shown, client: int, masses: dict[int, float]) -> None:
        self._sim, self._client, self._masses = shown.sim, client, masses
        self._moments = {b: np.array(pybullet.getDynamicsInfo(b, -1, client)[2]) for b in masses}

    @property
    def momentum(self) -> np.ndarray:
        ours = np.array(self._sim.dynamics.momentum(self._sim.q, self._sim.v))[3:]
        return ours + sum(m * bullet_twist(self._client, b)[3:] for b, m in self._masses.items())

    @property
    def energy(self) -> float:
        result = energy(self._sim)
        for body, m in self._masses.items():
            V = bullet_twist(self._client, body)
            q = pybullet.getBasePositionAndOrientation(body, self._client)[1]
            R = np.array(pybullet.getMatrixFromQuaternion(q)).reshape(3, 3)
            result += 0.5 * m * V[3:] @ V[3:] + 0.5 * self._moments[body] @ (R.T @ V[:3]) ** 2
        return result


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("e", [0.0, 0.5])
def test_our_ball_behind_bullets_that_hits_bullets_box(h, e):
    """Ours of 10 g flies 1 mm behind it, and is in it where a step of Bullet's begins. The box of 20 kg got 71 kg m/s
    from a ball that had 4.5, which went on as if it had met nothing, again and again."""
    material = rd.Material(0.5, restitution=e)
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (0, 0, 0), 1.5, 0.12, material)
        box = bullet_box(client, (0.6, 0, 0), (0.1, 0.15, 0.12), 20.0, material)
        pybullet.resetBaseVelocity(ball, [3, 0, 0], [0, 0, 0], client)
        scene = Scene(gravity=(0, 0, 0))
        put(scene, "ours", shapes.Sphere(0.1, material=material), at(-0.221), 0.01)
        with mirror(scene, h, INTEGRATOR, client=client, ground=False) as shown:
            set_twist(shown.sim, "ours", velocity=(3, 0, 0))
            all_of_them = Together(shown, client, {ball: 1.5, box: 20.0})
            p, most = all_of_them.momentum, all_of_them.energy
            for _ in range(round(0.5 / h)):
                shown.step()
                assert all_of_them.energy <= most * (1 + 1e-9)
            np.testing.assert_allclose(all_of_them.momentum, p, atol=1e-12)
            common = 1.5 * 3.0 / 21.5
            assert bullet_twist(client, box)[3] == pytest.approx(common * (1 + e * e), rel=0.06)  # Bullet's restitution


@pytest.mark.parametrize("speed", [2.0, 12.0])
@pytest.mark.parametrize("late", [0.0, 0.1, 0.25])
def test_bullets_box_hits_a_ball_that_ours_has_just_pushed(speed, late):
    """Before, in or after the step in which ours leaves it."""
    material = rd.Material(0.5)
    with bullet(gravity=0.0) as client:
        ball = bullet_ball(client, (0, 0, 0), 1.5, 0.12, material)
        box = bullet_box(client, (0.6, 0.02, 0), (0.1, 0.15, 0.12), 2.0, material)
        pybullet.resetBaseVelocity(box, [-speed, 0, 0], [0, 0, 0], client)
        scene = Scene(gravity=(0, 0, 0))
        put(scene, "ours", shapes.Sphere(0.1, material=material), at(-0.25 - late, 0.03), 1.0)
        with mirror(scene, 1 / 240, INTEGRATOR, client=client, ground=False) as shown:
            set_twist(shown.sim, "ours", (0, 0, 3), (speed, 0, 0))
            all_of_them = Together(shown, client, {ball: 1.5, box: 2.0})
            p, most = all_of_them.momentum, all_of_them.energy
            shown.step(round(0.7 / speed * 240))
            np.testing.assert_allclose(all_of_them.momentum, p, atol=1e-12)
            assert all_of_them.energy < 0.6 * most


def crowd(seed: int, client: int, e: float, count: int, inwards: float) -> tuple[Scene, dict, dict]:
    """As many boxes and balls of ours as of Bullet's, of 10 g to 20 kg, that fly to the middle: the scene, twists of
    ours, masses of Bullet's."""
    rng = np.random.default_rng(seed)
    material, scene = rd.Material(0.5, restitution=e), Scene(gravity=(0, 0, 0))
    cells = [np.array((i, j, k)) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-0.5, 0.5)]
    rng.shuffle(cells)
    twists, masses = {}, {}
    for k, cell in enumerate(cells[: 2 * count]):
        x, mass = 0.45 * cell + rng.uniform(-0.05, 0.05, 3), float(np.exp(rng.uniform(*np.log((0.01, 20.0)))))
        omega, velocity, radius, half = 2 * rng.normal(size=3), rng.normal(size=3) - inwards * x, *_sizes(rng)
        if k % 2:
            form = shapes.Sphere(radius, material=material) if k % 4 == 1 else shapes.Box(2 * half, material=material)
            put(scene, f"ours{k}", form, at(*x, rng.uniform(-1, 1, 3)), mass)
            twists[f"ours{k}"] = omega, velocity
        else:
            if k % 4:
                body = bullet_box(client, x, half, mass, material)
            else:
                body = bullet_ball(client, x, mass, radius, material)
            pybullet.resetBaseVelocity(body, velocity.tolist(), omega.tolist(), client)
            masses[body] = mass
    return scene, twists, masses


def _sizes(rng: np.random.Generator) -> tuple[float, np.ndarray]:
    return rng.uniform(0.05, 0.15), rng.uniform(0.05, 0.13, 3)


def flown(seed: int, h: float, e: float, count: int = 9, inwards: float = 3.0) -> tuple[np.ndarray, int]:
    """The state in which a crowd ends up after 0.6 s, and how many of Bullet's bodies touched ours."""
    with bullet(gravity=0.0) as client:
        scene, twists, masses = crowd(seed, client, e, count, inwards)
        with mirror(scene, h, INTEGRATOR, client=client, ground=False) as shown:
            for name, (omega, velocity) in twists.items():
                set_twist(shown.sim, name, omega, velocity)
            all_of_them = Together(shown, client, masses)
            p, most, touched = all_of_them.momentum, all_of_them.energy, set()
            scale = sum(m * np.linalg.norm(bullet_twist(client, b)[3:]) for b, m in masses.items())
            for _ in range(round(0.6 / h)):
                shown.step()
                touched |= {c.body_b for c in shown.contacts if "bullet" in c.body_b and np.any(c.impulse)}
                np.testing.assert_allclose(all_of_them.momentum, p, atol=1e-12 * scale)
                assert all_of_them.energy < most * (1 + 1e-4)  # Bullet's boxes win as much as they spin
            theirs = [bullet_twist(client, b) for b in masses] + [bullet_position(client, b) for b in masses]
            return np.concatenate([shown.sim.q, shown.sim.v, *theirs]), len(touched)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("e", [0.0, 0.5])
@pytest.mark.parametrize("inwards", [3.0, 12.0])
def test_momentum_of_a_crowd_is_kept_and_no_energy_won(h, e, inwards):
    """Without who touches as a step begins, or with mirrors in Bullet's way, most of these fail."""
    assert sum(flown(seed, h, e, inwards=inwards)[1] for seed in (100, 101, 102, 103)) > 4


def test_a_crowd_flies_the_same_through_pybullet_alone(monkeypatch):
    """To the bit: by Bullet's own functions, and by the ordinary ones."""
    by_address, _ = flown(102, 1 / 60, 0.5)
    monkeypatch.setattr(bullet_surroundings, "reached", lambda client: None)
    np.testing.assert_array_equal(flown(102, 1 / 60, 0.5)[0], by_address)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
@pytest.mark.parametrize("masses", [(1.0, 1.0, 1.0), (0.01, 20.0, 0.01), (20.0, 0.01, 20.0)])
def test_a_stack_of_ours_bullets_and_ours_rests(h, masses):
    with bullet() as client:
        scene = Scene()
        low, theirs, high = masses
        for name, z, mass in (("low", 0.1, low), ("high", 0.5, high)):
            put(scene, name, shapes.Box((0.3, 0.3, 0.2)), at(z=z), mass)
        box = bullet_box(client, (0, 0, 0.3), (0.15, 0.15, 0.1), theirs)
        with mirror(scene, h, INTEGRATOR, client=client) as shown:
            shown.step(round(2 / h))
            np.testing.assert_allclose(position(shown.sim, "low"), (0, 0, 0.1), atol=1e-4)
            np.testing.assert_allclose(bullet_position(client, box), (0, 0, 0.3), atol=1e-4)
            np.testing.assert_allclose(position(shown.sim, "high"), (0, 0, 0.5), atol=1e-4)
            for V in (bullet_twist(client, box), twist(shown.sim, "high")):
                np.testing.assert_allclose(V, 0.0, atol=1e-5)


@pytest.mark.parametrize("h", [1 / 60, 1 / 240])
def test_what_nothing_of_ours_is_near_is_bullets_to_the_bit(h):
    """Balls heaped up on Bullet's floor, fast enough that steps would be cut for ours.

    Later they differ, as in Bullet alone if it is asked for contacts between its steps: it finds their points anew.
    """
    paths: list[list] = [[], []]
    for path, ours in zip(paths, (True, False), strict=True):
        rng = np.random.default_rng(1)
        with bullet() as client:
            pybullet.setTimeStep(h, client)
            bullet_box(client, (0, 0, -0.5), (5, 5, 0.5))
            material = rd.Material(0.5, restitution=0.3)
            places = [(*rng.uniform(-0.3, 0.3, 2), 0.3 + 0.3 * k) for k in range(6)]
            balls = [bullet_ball(client, place, 1.0 + k, 0.1, material) for k, place in enumerate(places)]
            scene = Scene()
            put(scene, "box", shapes.Box((0.2,) * 3), at(3.0, 0.0, 0.5))
            with mirror(scene, h, client=client, ground=False, contact=ours) as shown:
                for _ in range(round(0.9 / h)):
                    if ours:
                        shown.step()
                    else:
                        pybullet.stepSimulation(client)
                    path.append([(*bullet_position(client, b), *bullet_twist(client, b)) for b in balls])
    np.testing.assert_array_equal(*paths)
