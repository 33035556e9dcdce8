"""Motors that lead what springs and force elements pull: they give no energy to it that they do not take."""

from functools import cache

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints


def random_tree(seed: int, h: float, most: int = 5) -> tuple[rd.Dynamics, np.ndarray, np.ndarray]:
    """Hinges of random axes, of which some have motors, the others, and some of these, springs of
    z = h sqrt(K / M) = 0.5 to 60, hardly damped. Which have motors (nv,), and velocities (nv,) of the others."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, most + 1))
    driven = rng.permutation(n) < max(1, n // 2)
    sprung = ~driven | (rng.random(n) < 0.3)
    z, ratio = np.exp(rng.uniform(np.log(0.5), np.log(60.0), n)) * sprung / h, rng.choice([0.0, 0.005, 0.05], n)
    shape = rng.integers(1 << 30)

    def scene(K: np.ndarray, D: np.ndarray) -> Scene:
        own, made = np.random.default_rng(shape), Scene()
        nodes = [made.world]
        for k in range(n):
            A = own.normal(size=(3, 3))
            second = A @ A.T * 0.01 + np.eye(3) * 0.003
            link = Body(
                f"b{k}", mass=own.uniform(0.2, 3.0), center_of_mass=own.normal(size=3) * 0.2,
                inertia=np.trace(second) * np.eye(3) - second,
            )  # fmt: skip
            axis, parent = own.normal(size=3), nodes[-1] if own.random() < 0.6 else nodes[int(own.integers(len(nodes)))]
            joint = joints.revolute(axis, stiffness=float(K[k]), damping=float(D[k]))
            nodes.append(parent.attach(link, joint, at=rd.pose(own.normal(size=3) * 0.3)))
        return made

    plain = scene(np.zeros(n), np.zeros(n)).compile()
    M = np.diag(plain.mass_matrix(plain.neutral()))
    return scene(M * z**2, 2.0 * ratio * z * M).compile(), driven, rng.normal(size=n) * 2.0 * ~driven


def energy(sim: rd.Simulation) -> float:
    d, q = sim.dynamics, sim.q
    return float(d.kinetic_energy(q, sim.v) + d.potential_energy(q) + d.elastic_energy(q))


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12))])
def test_motors_that_stand_still_give_no_energy(seed, h):
    """A velocity of 0 takes no power: whatever the springs, nothing becomes faster than it began."""
    dynamics, driven, v = random_tree(seed, h)
    sim = rd.Simulation(dynamics, h)
    sim.v = v
    for k in np.flatnonzero(driven):
        sim.motors[dynamics.velocity_coordinates[k]] = rd.Motor(velocity=0.0)
    before = energy(sim)
    for _ in range(20):
        sim.step(round(0.1 / h))
        assert energy(sim) < before + 1e-3 * abs(before)


@pytest.mark.parametrize("h", [1 / 60, pytest.param(1 / 240, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 12))])
def test_springs_that_motors_wind_up_do_not_run_away(seed, h):
    """A motor that winds up a spring of its own joint does not move what is beside it."""
    dynamics, driven, _ = random_tree(seed, h)
    sim = rd.Simulation(dynamics, h)
    for k in np.flatnonzero(driven):
        sim.motors[dynamics.velocity_coordinates[k]] = rd.Motor(velocity=0.5)
    for _ in range(20):
        sim.step(round(0.1 / h))
        assert np.abs(sim.v).max() < 20.0
        assert np.abs(sim.v[driven] - 0.5).max() < 1e-3


@cache
def sprung(stiffness: float) -> rd.Dynamics:
    scene, node, at = Scene(), None, rd.pose((0, 0, 1))
    for k in range(2):
        link = Body(f"link {k}", mass=1.0, center_of_mass=(0.2, 0, 0), inertia=np.eye(3) * 0.02)
        node = (node or scene.world).attach(link, joints.revolute("y", stiffness=stiffness, damping=0.5), at=at)
        at = rd.pose((0.4, 0, 0))
    return scene.compile()


@pytest.mark.parametrize("stiffness", [20.0, 2e4])
def test_what_is_pushed_rests_on_motors_and_springs_too(stiffness):
    """By a loop that pushes bodies: statics says what motors bear."""
    d, push = sprung(stiffness), np.array([0.0, 0.0, -3.0])
    sim = rd.Simulation(d, 1 / 60)
    for name in d.velocity_coordinates:
        sim.motors[name] = rd.Motor(velocity=0.0)
    for _ in range(60):
        sim.apply_force("link 1", push, (0.4, 0, 0))
        sim.step()
    carried = d.inverse_dynamics(sim.q, 0 * sim.v, 0 * sim.v) - d.call("passive_forces", sim.q, 0 * sim.v)
    carried -= d.jacobian(sim.q, "link 1", (0.4, 0, 0))[3:].T @ push
    assert np.abs(sim.v).max() < 1e-12
    np.testing.assert_allclose([done.force for done in sim.motor_forces.values()], carried, rtol=1e-7)


@pytest.mark.parametrize("stiffness", [20.0, 2e4])
def test_motors_on_springs_give_no_more_than_they_may(stiffness):
    """And all that they may where that does not hold: the springs bear the rest."""
    d = sprung(stiffness)
    sim = rd.Simulation(d, 1 / 60)
    for name in d.velocity_coordinates:
        sim.motors[name] = rd.Motor(velocity=0.0, max_force=1.5)
    for _ in range(300):
        sim.step()
        forces = np.array([done.force for done in sim.motor_forces.values()])
        assert (np.abs(forces) <= 1.5 * (1 + 1e-12)).all()
    carried = d.inverse_dynamics(sim.q, 0 * sim.v, 0 * sim.v) - d.call("passive_forces", sim.q, 0 * sim.v)
    assert np.abs(sim.v).max() < 1e-3
    np.testing.assert_allclose(forces, carried, atol=1e-2)


@pytest.mark.parametrize("z", [1.0, 10.0, 75.0])
@pytest.mark.parametrize("most", [{}, {"max_force": 100.0}])
def test_what_a_motor_catches_wins_no_more_than_its_work(z, most):
    """1 rad/s, caught within a step by an impulse: in its stages a spring was wound by h v / 2, to 703 J at z = 75,
    of which a motor of 100 N m could give but a hundredth. Reversals, too."""
    h, scene = 1 / 60, Scene(gravity=(0, 0, 0))
    arm = Body("arm", mass=1.0, inertia=np.eye(3))
    scene.world.attach(arm, joints.revolute("y", stiffness=(z / h) ** 2))
    sim = rd.Simulation(scene.compile(), h)
    sim.v, work, start = [1.0], 0.0, 0.5
    for k in range(90):
        sim.motors["arm.angle"] = rd.Motor(velocity=0.0 if k < 30 else 0.2 * (-1) ** (k // 30), **most)
        q = sim.q[0]
        sim.step()
        work += sim.motor_forces["arm.angle"].force * (sim.q[0] - q)
        now = float(sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.elastic_energy(sim.q))
        assert now <= start + work + 1e-6 * max(1.0, now)


@pytest.mark.parametrize("z", [2.0, 5.0, 60.0])
def test_a_brake_holds_a_wound_spring_from_the_first_step_on(z):
    """Dry friction beyond what the spring gives: the first flight let it go, and was caught at twice the way behind."""
    h, scene = 1 / 60, Scene(gravity=(0, 0, 0))
    arm = Body("arm", mass=1.0, inertia=np.eye(3))
    scene.world.attach(arm, joints.revolute("y", stiffness=(z / h) ** 2, friction=0.2 * (z / h) ** 2))
    sim = rd.Simulation(scene.compile(), h)
    sim.q = [0.15]
    sim.step(20)
    assert sim.q[0] == pytest.approx(0.15, abs=1e-9)
    assert sim.v[0] == pytest.approx(0.0, abs=1e-9)
