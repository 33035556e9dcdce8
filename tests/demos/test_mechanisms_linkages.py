"""Mechanisms of Guenter & Lee (2009), figures 5c, 5d and section 7: loops that close, wheels that do not slip."""

from importlib import import_module

import numpy as np
import pytest

import recursive_dyn as rd
from demos import knee, leg, tong, wheels
from demos.stage import total_energy
from scene import Scene

MIDDLES = range(1, tong.CROSSES + 1)


def undamped(name: str) -> tuple[Scene, np.ndarray, np.ndarray]:
    """(scene, q, v) of a demo without friction, stops and muscles, moving."""
    if name == "tong":
        return tong.tong(damping=0.0, swing=0.0), np.array([0.6, 0.9, 0.25]), np.array([0.3, 0.0, 0.5])
    if name == "wheels":
        return wheels.exhibit(damping=0.0), wheels.start(), np.zeros(5)
    return leg.figure(damping=0.0, stops=False), leg.build().simulation.q.copy(), np.zeros(10)


def simulated(name: str, timestep: float, integrator: str) -> rd.Simulation:
    scene, q, v = undamped(name)
    simulation = rd.Simulation(scene.compile(), timestep, integrator)
    simulation.q, simulation.v = q, v
    return simulation


@pytest.mark.parametrize(
    ("scene", "coordinates", "bodies"), [(tong.tong, 3, 32 + 1), (leg.figure, 10, 7), (wheels.exhibit, 5, 7)]
)
def test_coordinates_and_bodies(scene, coordinates: int, bodies: int) -> None:
    model = scene().model()
    assert (model.nv, len(model.bodies)) == (coordinates, bodies)


@pytest.mark.parametrize("name", ["tong", "leg", "wheels"])
def test_energy_error_falls_with_the_square_of_the_step(name: str) -> None:
    errors = []
    for timestep in (1 / 60, 1 / 120, 1 / 240):
        simulation = simulated(name, timestep, "implicit_midpoint")
        energies, fastest = [total_energy(simulation)], 0.0
        for _ in range(40):
            simulation.step(round(1 / (20 * timestep)))
            energies.append(total_energy(simulation))
            fastest = max(fastest, simulation.dynamics.kinetic_energy(simulation.q, simulation.v))
        errors.append(np.abs(np.array(energies) - energies[0]).max() / fastest)
    assert errors[0] < 2e-3  # of the kinetic energy, at one step a frame
    assert 3.5 < errors[0] / errors[1] < 4.5 and 3.5 < errors[1] / errors[2] < 4.5, errors


@pytest.mark.parametrize("name", ["tong", "leg", "wheels"])
def test_a_minute_of_one_step_a_frame(name: str) -> None:
    stage = import_module(f"demos.{name}").build()
    simulation = stage.simulation
    assert simulation.timestep == 1 / 60
    start = total_energy(simulation)
    for _ in range(3600):
        if stage.control:
            stage.control(simulation)
        simulation.step()
    assert simulation.time == pytest.approx(60.0)
    assert np.isfinite(simulation.q).all() and np.isfinite(simulation.v).all()
    if stage.control is None:
        assert total_energy(simulation) < start


# The tongs


def test_the_tongs_close_for_every_opening() -> None:
    """Bars cross in their middles, on the axis, and their ends meet."""
    dynamics = tong.tong().compile()
    opening = np.linspace(0.05, 1.5, 60)
    poses = dynamics.poses(np.column_stack([opening, np.zeros((60, 2))]))

    def along(chain: str, number: int, x: float) -> np.ndarray:
        return (poses[:, dynamics.bodies.index(f"{chain}{number}")] @ [x, 0, 0, 1])[:, :3]

    for k in MIDDLES:
        middle = 0.0 if k == 1 else tong.HALF
        expected = np.column_stack([
            2 * (k - 1) * tong.HALF * np.cos(opening), 0 * opening, tong.HEIGHT + 0 * opening
        ])  # fmt: skip
        np.testing.assert_allclose(along("a", k, middle), expected, rtol=0, atol=1e-12)
        np.testing.assert_allclose(along("b", k, middle), expected, rtol=0, atol=1e-12)
        if k > 1:
            before = tong.HALF if k == 2 else 2 * tong.HALF
            np.testing.assert_allclose(along("a", k, 0.0), along("b", k - 1, before), rtol=0, atol=1e-12)
            np.testing.assert_allclose(along("b", k, 0.0), along("a", k - 1, before), rtol=0, atol=1e-12)


def test_the_jaws_meet_where_they_close() -> None:
    dynamics = tong.tong().compile()
    poses = dynamics.poses([tong.CLOSED, 0.0, 0.0])
    for chain, side in (("a", 1.0), ("b", -1.0)):
        x, z = tong.jaw_tip(side)
        tip = poses[dynamics.bodies.index(f"{chain}{tong.CROSSES}")] @ [x, 0.0, z, 1.0]
        assert tip[2] == pytest.approx(tong.HEIGHT, abs=1e-12)


@pytest.mark.parametrize("theta", [0.3, 0.8, 1.3])
def test_inertia_of_the_tongs_is_the_sum_over_their_bars(theta: float) -> None:
    """Crossing k is at 2 (k - 1) L cos(theta), its bars turn by +-theta: T = M theta-dot^2 / 2 follows by hand."""
    scene = tong.tong()
    dynamics = scene.compile()
    q = np.array([theta, 0.4, -0.3])
    total = 0.0
    for body, X in zip(scene.bodies, dynamics.poses(q), strict=True):
        name = f"b{tong.CROSSES}" if body.name == "fish" else body.name  # at rest in its joint it moves with the jaw
        k, side = int(name[1:]), (-1.0 if name[0] == "a" else 1.0)  # a turns about -y
        reach = 2 * (k - 1) * tong.HALF
        arm = X[:3, :3] @ body.center_of_mass + X[:3, 3] - (reach * np.cos(theta), 0.0, tong.HEIGHT)
        axis = np.array([0.0, side, 0.0])
        velocity = np.cross(axis, arm) - (reach * np.sin(theta), 0.0, 0.0)
        total += body.mass * velocity @ velocity + axis @ X[:3, :3] @ body.inertia @ X[:3, :3].T @ axis
    assert dynamics.mass_matrix(q)[0, 0] == pytest.approx(total, rel=1e-12)


def test_both_methods_agree_on_the_tongs_and_the_recursion_is_cheaper() -> None:
    scene = tong.tong()
    recursive, lagrangian = scene.compile("recursive"), scene.compile("lagrangian")
    rng = np.random.default_rng(5)
    for _ in range(20):
        q, v, tau = rng.uniform((0.2, -1, -1), (1.4, 1, 1)), rng.normal(size=3), rng.normal(size=3)
        expected = lagrangian.forward_dynamics(q, v, tau)
        np.testing.assert_allclose(recursive.forward_dynamics(q, v, tau), expected, rtol=1e-10, atol=1e-10)
    counts = [d.operation_count("forward_dynamics").total for d in (recursive, lagrangian)]
    assert counts[0] < 0.7 * counts[1], counts


# The leg and the shoulder

BENDS = np.linspace(knee.BEND[0] - 0.1, knee.BEND[1] + 0.1, 60)


def bent(bends: np.ndarray) -> tuple[rd.Dynamics, np.ndarray]:
    """(dynamics, q (n, nq)) of the figure with its knee bent by ``bends`` and its hip turned somehow."""
    dynamics = leg.figure().compile()
    q = np.tile(dynamics.neutral(), (len(bends), 1))
    q[:, dynamics.coordinates.index("knee")] = bends
    q[:, :2] = 0.3, -0.2
    return dynamics, q


def test_the_knee_closes_for_every_flexion() -> None:
    dynamics, q = bent(BENDS)
    poses = dict(zip(dynamics.bodies, np.moveaxis(dynamics.poses(q), 1, 0), strict=True))
    x, w = knee.PLATEAU
    ligament = poses["posterior_ligament"] @ [knee.PCL, 0.0, 0.0, 1.0]
    np.testing.assert_allclose(ligament, poses["shank"] @ [x, 0.0, -w, 1.0], rtol=0, atol=1e-12)
    turn = np.swapaxes(poses["thigh"][:, :3, :3], 1, 2) @ poses["shank"][:, :3, :3]
    np.testing.assert_allclose(turn[:, 0, 0], np.cos(BENDS), rtol=0, atol=1e-12)
    np.testing.assert_allclose(turn[:, 0, 2], np.sin(BENDS), rtol=0, atol=1e-12)


def test_the_shank_turns_about_the_crossing_of_the_ligaments() -> None:
    """Only the knee moves: the shank's material stands still there, and the axis wanders by centimetres."""
    dynamics, q = bent(BENDS)
    v = np.zeros((len(BENDS), dynamics.nv))
    v[:, dynamics.velocity_coordinates.index("knee")] = 2.0
    here = dynamics.bodies.index("shank")
    X, V = dynamics.poses(q)[:, here], dynamics.velocities(q, v)[:, here]
    femur, shank = knee.axis_of_the_knee(BENDS)
    arm = np.einsum("nij,nj->ni", X[:, :3, :3], np.column_stack([shank[:, 0], 0 * BENDS, -shank[:, 1]]))
    np.testing.assert_allclose(V[:, 3:] + np.cross(V[:, :3], arm), 0.0, atol=1e-12)
    thigh = dynamics.poses(q)[:, dynamics.bodies.index("thigh")]
    place = np.column_stack([femur[:, 0], 0 * BENDS, -femur[:, 1] - leg.THIGH])
    seen = np.einsum("nij,nj->ni", thigh[:, :3, :3], place) + thigh[:, :3, 3]
    np.testing.assert_allclose(seen, X[:, :3, 3] + arm, rtol=0, atol=1e-12)
    assert np.ptp(femur, axis=0).max() > 0.05


def test_the_condyle_touches_the_plateau_and_never_enters_it() -> None:
    bends = np.linspace(*knee.BEND, 120)
    femur, shank = knee.axis_of_the_knee(bends)
    outline = knee.condyle(bends)
    normal = np.array([knee.PLATEAU[1], -knee.PLATEAU[0]]) / np.linalg.norm(knee.PLATEAU)  # downward
    for i, bend in enumerate(bends):
        seen = knee.turned(outline - femur[i], np.full(len(bends), -bend)) + shank[i]
        depth = seen @ normal
        assert abs(depth[i]) < 1e-12
        assert depth.max() < 1e-5  # the outline is a polygon through touching points


def test_the_scapula_stays_flat_on_the_ribs() -> None:
    """Position on the ellipsoid, normal along its gradient, in a fast motion under gravity."""
    simulation = simulated("leg", 1 / 60, "implicit_midpoint")
    here = simulation.dynamics.bodies.index("scapula")
    for _ in range(120):
        simulation.step()
        X = simulation.dynamics.poses(simulation.q)[here]
        scaled = (X[:3, 3] - leg.CHEST) / leg.GLIDE
        assert scaled @ scaled == pytest.approx(1.0, abs=1e-12)
        np.testing.assert_allclose(np.cross(X[:3, 2], scaled / leg.GLIDE), 0.0, atol=1e-12)


def test_the_arm_hangs_down_where_the_scapula_rests() -> None:
    dynamics = leg.figure().compile()
    q = leg.build().simulation.q
    X = dynamics.poses(q)[dynamics.bodies.index("upper_arm")]
    np.testing.assert_allclose(X[:3, :3], np.eye(3), atol=1e-12)


# Wheels


def test_no_wheel_slips_along_the_motion() -> None:
    """The materials that touch have no relative velocity, while the wheels themselves move by metres a second."""
    simulation = simulated("wheels", 1 / 60, "implicit_midpoint")
    dynamics, fastest = simulation.dynamics, 0.0
    places = {name: i for i, name in enumerate(dynamics.bodies)}
    for _ in range(240):
        simulation.step()
        q = simulation.q
        X, V = dynamics.poses(q), dynamics.velocities(q, simulation.v)

        def material(body: str, point: np.ndarray, X=X, V=V) -> np.ndarray:
            i = places[body]
            return V[i, 3:] + np.cross(V[i, :3], point - X[i, :3, 3])

        def on(pose: np.ndarray, radius: float, angle: float) -> np.ndarray:
            return (pose @ [radius * np.cos(angle), radius * np.sin(angle), 0.0, 1.0])[:3]

        in_track = on(wheels.upright(*wheels.CENTRE), wheels.TRACK, q[0])
        in_wheel = on(X[places["wheel"]], wheels.HOLE, q[1])
        on_rack = np.array([wheels.RACK[0] + q[2], 0.0, wheels.RACK[1]])
        pitch = np.array([wheels.PAIR[0] + wheels.GEAR, 0.0, wheels.PAIR[1]])
        for slip in (
            material("wheel", in_track),
            material("small_wheel", in_wheel) - material("wheel", in_wheel),
            material("pinion", on_rack),
            material("large_gear", pitch) - material("gear", pitch),
        ):
            np.testing.assert_allclose(slip, 0.0, atol=1e-12)
        assert np.linalg.norm(X[places["wheel"], :3, 3] - in_track) == pytest.approx(wheels.WHEEL)
        assert np.linalg.norm(X[places["small_wheel"], :3, 3] - in_wheel) == pytest.approx(wheels.SMALL)
        fastest = max(fastest, np.linalg.norm(V[:, 3:], axis=1).max())
    assert fastest > 1.0


def test_the_pinion_keeps_its_momentum_along_the_rack() -> None:
    """Nothing depends on where the pinion is while the pendulum keeps its direction: that momentum is conserved."""
    simulation = simulated("wheels", 1 / 240, "rk4")
    simulation.v[2] = 0.4
    shift = np.array([0.0, 0.0, 1.0, 1.0 / wheels.PINION, 0.0])  # the pendulum's angle is from the turning pinion

    def momentum() -> float:
        return float(shift @ simulation.dynamics.mass_matrix(simulation.q) @ simulation.v)

    start = momentum()
    for _ in range(20):
        simulation.step(24)
        # fourth order: (h omega)^4 = 1e-7 with the pendulum's 5 rad/s, shared with a moving pinion
        assert momentum() == pytest.approx(start, rel=1e-6)
    assert abs(start) > 1.0


def test_the_gears_turn_two_to_one() -> None:
    scene = wheels.exhibit()
    dynamics = scene.compile()
    V = dynamics.velocities(wheels.start(), [0.0, 0.0, 0.0, 0.0, 3.0])
    spin = [V[dynamics.bodies.index(name), 1] for name in ("gear", "large_gear")]
    assert spin[0] == pytest.approx(-2.0 * spin[1], rel=1e-14)
