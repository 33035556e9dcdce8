"""What spins freely where contacts may come keeps energy and angular momentum, however fast it is."""

from itertools import pairwise

import numpy as np
import pytest
from contact_scenes import at, energy, mirror, position, put, set_twist, twist

import recursive_dyn as rd
from scene import Body, Scene, joints, shapes

LONE = {
    "capsule": shapes.Capsule(0.05, 0.2),
    "box": shapes.Box((0.1, 0.2, 0.3)),
    "long box": shapes.Box((0.05, 0.08, 0.6)),
    "ellipsoid": shapes.Ellipsoid((0.06, 0.09, 0.13)),
}
RULES = "linearly_implicit_rk4", "rk4", "implicit_midpoint", "semi_implicit_euler", "variational_midpoint"
H, SPINNING = 1 / 60, 10.0  # s
A_STEP = [0.1, 0.3, 0.73, 1.5]  # rad


def thrown(shape: shapes.Shape) -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    put(scene, "body", shape, at(rpy=(0.1, 0.2, 0.3)))
    return scene


def jointed() -> Scene:
    """A box with a capsule on a hinge."""
    scene = thrown(LONE["box"])
    scene["body"].attach(Body("limb", [shapes.Capsule(0.04, 0.2)], mass=0.5), joints.revolute("y"), at=at(z=0.3))
    return scene


def spin(sim: rd.Simulation) -> np.ndarray:
    """Angular momentum (3,) about the centre of mass."""
    return (sim.dynamics.centroidal_momentum_matrix(sim.q) @ sim.v)[:3]


def set_spinning(sim: rd.Simulation, a_step: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    axis = rng.normal(size=3)
    sim.v[6:] = rng.normal(size=sim.dynamics.nv - 6) * 0.3 * a_step / H
    set_twist(sim, "body", a_step / H * axis / np.linalg.norm(axis), (0.5, 0.2, 0.1))


@pytest.mark.parametrize("integrator", RULES)
@pytest.mark.parametrize("shape", LONE)
def test_a_lone_body_keeps_both(shape, integrator):
    """By the implicit midpoint rule it won up to 18 times its energy: its spin was put right by its velocity alone."""
    with mirror(thrown(LONE[shape]), H, integrator, ground=False) as shown:
        for seed, a_step in enumerate(A_STEP):
            set_spinning(shown.sim, a_step, seed)
            had, owed = energy(shown.sim), spin(shown.sim)
            for _ in range(int(SPINNING)):
                shown.step(round(1 / H))
                assert energy(shown.sim) == pytest.approx(had, rel=1e-9)
                assert spin(shown.sim) == pytest.approx(owed, abs=1e-10 * np.linalg.norm(owed))


@pytest.mark.parametrize(
    ("integrator", "bounds"),
    [
        ("linearly_implicit_rk4", (1e-5, 1e-3, 1e-2)),
        ("variational_midpoint", (1e-3, 5e-3, 1e-2)),
        ("implicit_midpoint", (1e-3, 5e-3, 0.12)),
    ],
)
def test_what_has_a_limb_keeps_its_spin_and_the_energy_that_its_rule_does(integrator, bounds):
    """By the implicit midpoint rule it won four times its energy; without a mirror that rule is off by 2 % at worst.
    What is too much is taken from it, as it misses its momenta, and what is too little is not made up for: of eight
    such flights of 0.73 rad a step the median loses 0.8 % in 10 s, two 4 and 20 %, this one, after others, 10 %."""
    with mirror(jointed(), H, integrator, ground=False) as shown:
        for seed, (a_step, bound) in enumerate(zip(A_STEP[:3], bounds, strict=True)):
            set_spinning(shown.sim, a_step, seed)
            had, owed = energy(shown.sim), spin(shown.sim)
            for _ in range(int(SPINNING)):
                shown.step(round(1 / H))
                assert energy(shown.sim) == pytest.approx(had, rel=bound)
                assert spin(shown.sim) == pytest.approx(owed, abs=1e-10 * np.linalg.norm(owed))


@pytest.mark.parametrize("build", [lambda: thrown(LONE["long box"]), jointed], ids=["long box", "with a limb"])
@pytest.mark.parametrize(
    ("integrator", "order"), [("implicit_midpoint", 2), ("variational_midpoint", 2), ("linearly_implicit_rk4", 4)]
)
def test_attitudes_converge_in_the_order_of_the_rule(build, integrator, order):
    def poses(rate, rule, contacts=True):
        scene = build()
        shown = mirror(scene, 1 / rate, rule, ground=False) if contacts else None
        sim = shown.sim if shown else rd.Simulation(scene.compile(), 1 / rate, rule)
        set_spinning(sim, 0.1, 1)
        (shown or sim).step(rate)
        if shown:
            shown.close()
        return sim.frames()[0]

    true = poses(4000, "rk4", contacts=False)
    misses = [np.abs(poses(rate, integrator) - true).max() for rate in (60, 120, 240)]
    for coarse, fine in pairwise(misses):
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(("integrator", "off"), [("linearly_implicit_rk4", 1e-2), ("implicit_midpoint", 1e-9)])
def test_a_body_is_turned_about_its_centre_of_mass(integrator, off):
    """Whose frame is elsewhere, on a joint that is turned and stands elsewhere, as it falls; off: m, by the rule."""
    scene, center = Scene(), np.array([0.3, -0.1, 0.2])
    body = Body("body", mass=2.0, center_of_mass=center, inertia=np.diag([0.02, 0.05, 0.06]))
    scene.world.attach(body, joints.free(), at=at(1.0, 2.0, 3.0, rpy=(0.4, -1.0, 2.0)))
    with mirror(scene, H, integrator, ground=False) as shown:
        sim = shown.sim
        set_twist(sim, "body", (3.0, 40.0, 5.0), (1.0, -2.0, 3.0))

        def middle():
            return position(sim) + sim.frames()[0][0, :3, :3] @ center

        start, velocity = middle(), sim.dynamics.centroidal_momentum_matrix(sim.q)[3:] @ sim.v / 2.0
        owed = spin(sim)
        had = twist(sim)[:3] @ owed
        shown.step(120)
        fallen = start + 2.0 * velocity + (0, 0, -0.5 * 9.81 * 4.0)
        assert middle() == pytest.approx(fallen, abs=off)
        assert twist(sim)[:3] @ owed == pytest.approx(had, rel=1e-9), "twice the energy of rotation"
        assert spin(sim) == pytest.approx(owed, abs=1e-10 * np.linalg.norm(owed))
        assert np.linalg.norm(sim.q[3:]) == pytest.approx(1.0, abs=1e-14)


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "implicit_midpoint"])
def test_a_snapshot_goes_on_to_the_bit(integrator):
    with mirror(jointed(), H, integrator, ground=False) as shown:
        set_spinning(shown.sim, 0.3, 2)
        shown.step(30)
        snapshot = shown.sim.snapshot()
        shown.step(30)
        q, v = shown.sim.q.copy(), shown.sim.v.copy()
        shown.sim.restore(snapshot)
        shown.step(30)
        assert shown.sim.q.tobytes() == q.tobytes() and shown.sim.v.tobytes() == v.tobytes()


@pytest.mark.parametrize("integrator", ["linearly_implicit_rk4", "implicit_midpoint"])
def test_slow_spins_beside_whipping_limbs_turn_nothing(integrator):
    """A spin next to nothing has no direction: what limbs do to it is put right by velocities."""
    with mirror(jointed(), H, integrator, ground=False) as shown:
        sim = shown.sim
        sim.v[6] = 5.0
        A = sim.dynamics.centroidal_momentum_matrix(sim.q)
        sim.v[:6] = -np.linalg.solve(A[:, :6], A[:, 6] * 5.0)
        had = energy(sim)
        shown.step(300)
        assert energy(sim) == pytest.approx(had, rel=1e-3)
        assert np.linalg.norm(spin(sim)) < 1e-13


@pytest.mark.parametrize("integrator", RULES[:4])
def test_what_whips_in_free_flight_keeps_its_momenta(integrator):
    """Three links at 20 to 80 rad/s, of which a rule makes energy that they may not win: they were slowed beside a base
    as it lay before it was turned to its spin, which changed by up to a twentieth in a step."""
    for seed, speed in enumerate((20.0, 40.0, 40.0)):
        scene, rng = Scene(gravity=(0, 0, 0)), np.random.default_rng(seed)
        put(scene, "body", LONE["capsule"], at())
        for k, axis in enumerate("yx"):
            parent = scene["body"] if k == 0 else scene["limb 0"]
            parent.attach(Body(f"limb {k}", [LONE["capsule"]], mass=1.0), joints.revolute(axis), at=at(z=0.32))
        with mirror(scene, H, integrator, ground=False) as shown:
            sim = shown.sim
            sim.v[:] = speed * rng.normal(size=sim.dynamics.nv)
            owed = spin(sim)
            for _ in range(60):
                shown.step()
                assert spin(sim) == pytest.approx(owed, abs=1e-10 * np.linalg.norm(owed))
