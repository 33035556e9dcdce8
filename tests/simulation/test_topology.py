"""Bodies that are cut off, hung anew or break off while they move: momentum, energy, loads at which joints give."""

import threading

import numpy as np
import pytest
from trees import random_body

import recursive_dyn as rd
from recursive_dyn.model.own_masses import own_masses
from scene import Body, Scene, joints, shapes

H, G = 1 / 240, 9.81


def chain(count, joint=joints.ball, length=0.4, offset=(0.02, 0.01)):
    """Rods on top of one another, hung by their upper ends."""
    scene, node = Scene(), None
    for k in range(count):
        rod = Body(f"rod {k}", [shapes.Capsule(0.05, 0.25, at=rd.pose((*offset, -length / 2)))], mass=1.0 + 0.1 * k)
        at = rd.pose((0, 0, -length)) if k else None
        node = (node or scene.world).attach(rod, joint(), at)
    return scene


def running(scene, timestep=H, seed=0, **options):
    sim = rd.Simulation(scene.compile(), timestep, **options)
    sim.v = np.random.default_rng(seed).normal(size=sim.dynamics.nv)
    return sim


def momentum(sim, bodies):
    """[angular about the world's origin; linear] (6,) and kinetic energy of some bodies, from their masses alone."""
    X, V = sim.frames()
    m, c, inertia = own_masses(sim.dynamics.model, dict(sim.parameters))
    total, energy = np.zeros(6), 0.0
    for name in bodies:
        k = sim.dynamics.bodies.index(name)
        arm, spin = X[k, :3, :3] @ c[k], X[k, :3, :3] @ inertia[k] @ X[k, :3, :3].T @ V[k, :3]
        v = V[k, 3:] + np.cross(V[k, :3], arm)
        total += np.concatenate([spin + np.cross(X[k, :3, 3] + arm, m[k] * v), m[k] * v])
        energy += 0.5 * (m[k] * v @ v + V[k, :3] @ spin)
    return total, energy


def test_masses_by_bodies_are_those_of_the_whole():
    """Bodies fixed to others included."""
    scene = chain(3)
    scene["rod 1"].attach(random_body(np.random.default_rng(4), "tip"), joints.fixed(), rd.pose((0.1, 0.2, 0.3)))
    sim = running(scene)
    total, energy = momentum(sim, sim.dynamics.bodies)
    np.testing.assert_allclose(total, sim.dynamics.momentum(sim.q, sim.v), rtol=1e-12, atol=1e-12)
    assert energy == pytest.approx(sim.dynamics.kinetic_energy(sim.q, sim.v), rel=1e-13)


def test_both_halves_of_a_chain_that_is_cut_keep_their_momentum():
    scene = chain(5)
    sim = running(scene, integrator="linearly_implicit_rk4")
    sim.step(50)
    halves = ["rod 0", "rod 1"], ["rod 2", "rod 3", "rod 4"]
    before, poses = [momentum(sim, half) for half in halves], sim.frames()[0]
    scene.cut("rod 2")
    sim.update(scene.compile())
    order = [sim.dynamics.bodies.index(f"rod {k}") for k in range(5)]
    np.testing.assert_allclose(sim.frames()[0][order], poses, atol=1e-14)
    for half, (total, energy) in zip(halves, before, strict=True):
        now = momentum(sim, half)
        np.testing.assert_allclose(now[0], total, atol=1e-14)
        assert now[1] == pytest.approx(energy, rel=1e-14)
    sim.step(60)
    total, _ = momentum(sim, halves[1])
    mass = sum(scene[name].mass for name in halves[1])
    fallen = [*before[1][0][3:5], before[1][0][5] - mass * G * 60 * H]
    np.testing.assert_allclose(total[3:], fallen, atol=1e-9)


def test_a_joint_swapped_without_a_place_keeps_its_own():
    scene = chain(3)
    before = np.array(scene["rod 1"].placement, dtype=float)
    assert np.abs(before - np.eye(4)).max() > 0.1
    scene.swap("rod 1", joints.ball())
    np.testing.assert_array_equal(np.array(scene["rod 1"].placement, dtype=float), before)


@pytest.mark.parametrize("seed", range(3))
def test_a_swapped_joint_takes_energy_and_gives_none(seed):
    """A ball becomes a hinge; where the hinge can follow, all goes on as it was."""
    scene = chain(3)
    sim = running(scene, seed=seed)
    sim.step(20)
    _, before = momentum(sim, sim.dynamics.bodies)
    X, V = sim.frames()
    relative = np.linalg.inv(X[0]) @ X[1]
    axis = relative[:3, :3].T @ X[0, :3, :3].T @ (V[1, :3] - V[0, :3])
    scene.swap("rod 1", joints.revolute(axis), at=relative)  # the axis about which it turns
    sim.update(scene.compile())
    np.testing.assert_allclose(sim.frames()[0], X, atol=1e-12)
    np.testing.assert_allclose(sim.frames()[1], V, atol=1e-12)
    scene.swap("rod 1", joints.revolute("x"), at=relative)
    sim.update(scene.compile())
    np.testing.assert_allclose(sim.frames()[0], X, atol=1e-12)
    after = momentum(sim, sim.dynamics.bodies)[1]
    assert 0.1 * before < after < before
    M, lost = sim.dynamics.mass_matrix(sim.q), sim.v.copy()
    scene.swap("rod 1", joints.fixed(), at=relative)
    sim.update(scene.compile())
    assert momentum(sim, sim.dynamics.bodies)[1] < 0.5 * lost @ M @ lost


def test_a_body_that_is_thrown_is_caught_by_a_hinge():
    """An inelastic catch keeps the angular momentum about the hinge: v = p / M, in closed form for a ball on a rod."""
    scene = Scene(gravity=(0, 0, 0))
    ball = Body("ball", mass=2.0, inertia=np.eye(3) * 0.1)
    scene.world.attach(ball, joints.free())
    sim = rd.Simulation(scene.compile(), H)
    sim.v = [0.0, 0.0, 0.0, 3.0, 1.0, 0.5]
    X = rd.pose((1.0, 0, 0))
    scene.swap(ball, joints.Joint(*_arm()), parent=scene.world)
    q = sim.q.copy()
    q[:3] = X[:3, 3]
    sim.q = q
    sim.update(scene.compile())
    assert sim.q == pytest.approx([0.0], abs=1e-9) and sim.v == pytest.approx([2.0 * 1.0 / (2.0 + 0.1)])


def _arm():
    """A ball 1 m from the z axis."""
    import sympy as sp

    a = sp.Symbol("a")
    c, s = sp.cos(a), sp.sin(a)
    return sp.Matrix([[c, -s, 0, c], [s, c, 0, s], [0, 0, 1, 0], [0, 0, 0, 1]]), a


@pytest.mark.parametrize("joint", [joints.ball, lambda: joints.revolute("y"), joints.fixed])
@pytest.mark.parametrize("share", [1 - 1e-9, 1 + 1e-9])
def test_a_joint_holds_the_weight_that_hangs_on_it_and_no_more(joint, share):
    scene = Scene()
    carrier = scene.world.attach(Body("carrier", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    load = Body("load", mass=3.0, inertia=np.eye(3), center_of_mass=(0, 0, -0.2))
    carrier.attach(load, joint(), rd.pose((0, 0, -0.5))).breaks_at(force=3.0 * G * share)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    sim.step(3)
    assert len(sim.broken) == (share < 1.0)
    if sim.broken:
        (broken,) = sim.broken
        assert broken.body == "load" and broken.parent == "carrier" and broken.time == pytest.approx(1 / 60)
        assert broken.force == pytest.approx(3.0 * G, rel=1e-12) and broken.point == pytest.approx((0, 0, -0.5))
        assert sim.frames()[0][1, 2, 3] == pytest.approx(-0.5 - 0.5 * G * (2 / 60) ** 2, rel=0.5)


def test_a_torque_breaks_a_weld():
    """A beam of 2 m, welded by its end: m g l / 2."""
    for share, count in ((0.999, 1), (1.001, 0)):
        scene = Scene()
        post = scene.world.attach(Body("post", mass=1.0, inertia=np.eye(3)), joints.prismatic("x"))
        beam = Body("beam", mass=4.0, inertia=np.eye(3), center_of_mass=(1, 0, 0))
        post.attach(beam, joints.fixed()).breaks_at(torque=4.0 * G * share)
        sim = rd.Simulation(scene.compile(), H)
        sim.step(4)
        assert len(sim.broken) == count


def test_loads_are_those_that_inverse_dynamics_finds():
    """In motion, of second order in the step's middle; forces on bodies and motors included."""
    scene = chain(3)
    scene["rod 1"].breaks_at(force=1e6)
    sim = running(scene, 1e-5, integrator="rk4")
    push = np.array([3.0, -2.0, 5.0])
    sim.apply_force("rod 2", push, (0.1, 0.2, 0.3))
    q, v = sim.q.copy(), sim.v.copy()
    sim.step()
    d, k = sim.dynamics, sim.dynamics.bodies.index("rod 2")
    external = np.zeros((3, 6))
    X = d.poses(q)
    external[k] = [*np.cross(X[k, :3, :3] @ [0.1, 0.2, 0.3], push), *push]
    expected = d.joint_wrenches(q, v, d.forward_dynamics(q, v, external=external), external)
    np.testing.assert_allclose(sim._timesteps.loads.means, expected, atol=2e-3)


def test_a_rope_under_a_growing_load_breaks_at_its_top():
    scene = chain(4, offset=(0, 0))
    for k in range(4):
        scene[f"rod {k}"].breaks_at(force=100.0)
    sim = rd.Simulation(scene.compile(), H)
    mass, load = sum(scene[f"rod {k}"].mass for k in range(4)), 0.0
    while not sim.broken:
        load += 0.05
        sim.apply_force("rod 3", (0, 0, -load), (0, 0, -0.4))
        sim.step()
    assert [broken.body for broken in sim.broken] == ["rod 0"]
    assert load == pytest.approx(100.0 - mass * G, abs=0.06)


def test_a_copy_tells_of_what_breaks_and_leaves_the_scene_alone():
    scene = chain(2)
    scene["rod 0"].breaks_at(force=1.0)
    sim = rd.Simulation(scene.compile(), H)
    other = sim.__copy__()
    other.step()
    assert [b.body for b in other.broken] == ["rod 0"] and scene["rod 0"].joint.coordinates[0].name == "wx"
    assert other.dynamics.nq == sim.dynamics.nq == 8
    snapshot = sim.snapshot()
    sim.step()
    assert sim.dynamics.nq == 11 and len(sim.broken) == 1
    with pytest.raises(rd.StateError, match="snapshot"):
        sim.restore(snapshot)


def test_what_cannot_be_done_is_told_and_changes_nothing():
    scene = chain(3, lambda: joints.revolute("x"))
    scene["rod 2"].detach()
    scene["rod 1"].attach(Body("rod 2", mass=1.0, inertia=np.eye(3)), joints.revolute("x").follow("rod 0"))
    sim = running(scene)
    sim.step(3)
    state, bodies, joint = sim.q.copy(), [body.name for body in scene.bodies], scene["rod 0"].joint
    for force in (0.0, -1.0, np.nan, "much", None):
        with pytest.raises(rd.ModelError, match=r"rod 1.*force above 0"):
            scene["rod 1"].breaks_at(force=force)
    with pytest.raises(rd.ModelError, match="rod 0"):
        scene.cut("rod 0")  # whose coordinate another one follows
    with pytest.raises(rd.ModelError, match="carries"):
        scene.swap("rod 1", joints.ball(), parent="rod 2")
    with pytest.raises(rd.ModelError, match="not in this scene"):
        scene.swap("rod 1", joints.ball(), parent=Body("elsewhere", mass=1.0, inertia=np.eye(3)))
    with pytest.raises(rd.ModelError, match="unknown body"):
        scene.cut("nobody")
    with pytest.raises(rd.ModelError, match="hangs on no joint"):
        Body("loose", mass=1.0, inertia=np.eye(3)).breaks_at(force=1.0)
    assert scene["rod 0"].joint is joint and [body.name for body in scene.bodies] == bodies
    sim.update(scene.compile())
    np.testing.assert_array_equal(sim.q, state)
    scene.cut("rod 1")
    with pytest.raises(rd.ModelError, match="free already"):
        scene.cut("rod 1")
    with pytest.raises(rd.ModelError, match=r"rod 1.*is free"):
        scene["rod 1"].breaks_at(force=1.0)


def test_files_keep_what_joints_bear(tmp_path):
    scene = chain(2)
    scene["rod 1"].breaks_at(force=30.5)
    scene.save(tmp_path / "scene.json")
    again = Scene.load(tmp_path / "scene.json")
    assert again["rod 1"].strength == scene["rod 1"].strength == (30.5, np.inf) and again["rod 0"].strength is None
    text = (tmp_path / "scene.json").read_text().replace("30.5", "-1")
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(rd.SceneFileError, match=r"rod 1.*force above 0"):
        Scene.load(tmp_path / "bad.json")


def test_gravity_that_changes_changes_what_is_borne():
    scene = Scene()
    scene.gravity = (0, 0, -scene.parameter("g", G))
    load = Body("load", mass=2.0, inertia=np.eye(3))
    scene.world.attach(load, joints.revolute("x")).breaks_at(force=30.0)
    sim = rd.Simulation(scene.compile(), H)
    sim.step(2)
    assert not sim.broken
    sim.parameters["g"] = 15.1
    sim.step()
    assert sim.broken[0].force == pytest.approx(30.2)


def test_joints_of_a_loop_carry_what_the_loop_leaves_them():
    """A portal: a beam of 2 kg on two hung posts of 1 kg, the second one pinned by a constraint, which bears half."""

    def portal(force):
        scene = Scene()
        inertia = np.eye(3) * 0.1
        post = Body("post", mass=1.0, inertia=inertia, center_of_mass=(0, 0, -0.5))
        beam = Body("beam", mass=2.0, inertia=inertia, center_of_mass=(0.5, 0, 0))
        other = Body("other", mass=1.0, inertia=inertia, center_of_mass=(0, 0, 0.5))
        scene.world.attach(post, joints.revolute("y"))
        post.attach(beam, joints.revolute("y"), rd.pose((0, 0, -1)))
        beam.attach(other, joints.revolute("y"), rd.pose((1, 0, 0)))
        end = other.point((0, 0, 1))
        scene.constrain(end[0] - 1, end[2], name="pin")
        beam.breaks_at(force=force)
        return rd.Simulation(scene.compile(), H)

    holds, breaks = portal(G * (1 + 1e-9)), portal(G * (1 - 1e-9))
    holds.step(5), breaks.step(5)
    assert not holds.broken and [joint.body for joint in breaks.broken] == ["beam"]
    breaks.step(30)
    assert np.abs(breaks.dynamics.constraint_errors(breaks.q, breaks.v)).max() < 1e-8


def test_what_is_prepared_is_kept_before_anyone_hears_that_it_is_done():
    """Who looked in between made all of it again, in the middle of a frame."""
    scene = Scene()
    scene.world.attach(Body("b", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    simulation, told, start = rd.Simulation(scene.compile()), [], threading.Event()
    coming = simulation.prepare(lambda: (start.wait(), scene.compile())[1])
    ready = coming._ready.set
    coming._ready.set = lambda: (told.append(len(simulation.preparing._known)), ready())
    start.set()
    coming.result(timeout=600.0)
    assert told == [1]
