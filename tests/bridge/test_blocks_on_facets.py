"""Boxes and convex meshes on height fields and meshes, in motion: as on paper."""

import math
import warnings

import numpy as np
import pytest
import trimesh

import recursive_dyn as rd
from bridge import PyBulletMirror
from scene import Body, Scene, joints, shapes

MU = 0.3
MATERIAL = rd.Material(friction=MU)
CUBE = shapes.Box((0.2, 0.2, 0.2), material=MATERIAL)
WEDGE = [(x, y, z) for y in (-0.1, 0.1) for x, z in ((-0.1, -0.05), (0.1, -0.05), (-0.1, 0.1))]
RIDGE = shapes.HeightField([[-0.5, -0.5], [0.0, 0.0], [-0.5, -0.5]], (1.0, 1.0))
VALLEY = shapes.HeightField(-2.0 * RIDGE.heights, (1.0, 1.0))
MESHED = pytest.mark.parametrize("meshed", [False, True])
RATES = pytest.mark.parametrize("rate", [60, 240])


def ground(field: shapes.HeightField, meshed: bool, tilt=None, material=MATERIAL) -> shapes.Shape:
    at = np.eye(4) if tilt is None else tilt
    if meshed:
        return shapes.Mesh(trimesh.Trimesh(*field.triangles(), process=False), at=at, material=material)
    return shapes.HeightField(field.heights, field.spacing, at=at, material=material)


def flat(samples: int = 81) -> shapes.HeightField:
    return shapes.HeightField(np.zeros((samples, samples)), (4 / (samples - 1), 4 / (samples - 1)))


def wedge() -> shapes.Shape:
    return shapes.Mesh(trimesh.convex.convex_hull(np.array(WEDGE)), material=MATERIAL)


def thrown(shape, scenery, at, velocity=(0, 0, 0, 0, 0, 0), rate=240) -> tuple[rd.Simulation, PyBulletMirror]:
    scene = Scene()
    scene.world.shapes.append(scenery)
    scene.world.attach(Body("block", [shape], mass=1.0), joints.free(), at=at)
    sim = rd.Simulation(scene.compile(), 1 / rate)
    sim.place("block", velocity=np.array(velocity))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sim, PyBulletMirror(scene, sim, gui=False, ground=False)


def twist(sim) -> np.ndarray:
    return sim.dynamics.velocities(sim.q, sim.v)[0]


def energy(sim) -> float:
    return sim.dynamics.kinetic_energy(sim.q, sim.v) + sim.dynamics.potential_energy(sim.q)


@MESHED
@RATES
@pytest.mark.parametrize("slope", [0.0, 0.2])
@pytest.mark.parametrize(
    "heading, turn", [(0.0, 0.0), (-math.pi / 4, 0.3), *(pytest.param(a, 0.7 * a, marks=pytest.mark.slow) for a in
                      (0.4, math.pi / 4, 2.0))]
)  # fmt: skip
@pytest.mark.parametrize("kind", ["cube", "wedge"])
def test_what_slides_on_flat_triangles_is_held_back_by_friction_alone(kind, heading, turn, slope, rate, meshed):
    """Along sides, diagonals and across; a = g sin - mu g cos down the slope, without any turn."""
    tilt, speed, time = rd.pose(rpy=(0.0, slope, 0.0)), 1.5, 0.5
    shape, height = (CUBE, 0.1) if kind == "cube" else (wedge(), 0.05)
    along = np.array([math.cos(heading), math.sin(heading), 0.0]) if slope == 0.0 else np.array([1.0, 0.0, 0.0])
    start = np.concatenate([np.zeros(3), speed * tilt[:3, :3] @ along])
    at = tilt @ rd.pose((-0.487, 0.021, height), rpy=(0.0, 0.0, turn))
    sim, mirror = thrown(shape, ground(flat(), meshed, tilt), at, start, rate)
    with mirror:
        mirror.step(round(time * rate))
    wanted = (speed + 9.81 * (math.sin(slope) - MU * math.cos(slope)) * time) * along
    assert tilt[:3, :3].T @ twist(sim)[3:] == pytest.approx(wanted, abs=1e-8)
    assert np.abs(twist(sim)[:3]).max() < 1e-8


@MESHED
@RATES
def test_it_comes_to_rest_where_its_speed_is_used_up(rate, meshed):
    """After v^2 / (2 mu g), to what the last step leaves, and stays."""
    sim, mirror = thrown(CUBE, ground(flat(), meshed), rd.pose((-0.5, 0.02, 0.1)), (0, 0, 0, 1, 0.5, 0), rate)
    with mirror:
        mirror.step(rate)
        rest = np.array(sim.q)
        way = np.linalg.norm(sim.dynamics.poses(sim.q)[0][:2, 3] - (-0.5, 0.02))
        assert np.abs(twist(sim)).max() < 1e-9
        mirror.step(rate)
    assert way == pytest.approx(1.25 / (2 * MU * 9.81), abs=math.sqrt(1.25) / rate)
    assert np.abs(sim.q - rest).max() < 1e-9


@MESHED
@pytest.mark.parametrize("offset", [0.0, 0.03])
@pytest.mark.parametrize("top", ["ridge", "pyramid"])
def test_a_box_over_what_sticks_out_stays_or_tilts_as_about_a_pivot(top, offset, meshed):
    """With its middle over it, or d beside: about the edge or the corner it falls as g (d cos + h sin) /
    (k^2 + d^2 + h^2) says, first as the sinh of the time."""
    heights = np.zeros((3, 3))
    heights[1, 1] = 0.2
    field = RIDGE if top == "ridge" else shapes.HeightField(heights, (1.0, 1.0))
    rough = rd.Material(friction=1.0)
    scenery, height = ground(field, meshed, material=rough), 0.1 if top == "ridge" else 0.3
    sim, mirror = thrown(shapes.Box((0.2, 0.2, 0.2), material=rough), scenery, rd.pose((offset, 0.0, height)), rate=480)
    with mirror:
        mirror.step(24)
    inertia = 0.2**2 / 6 + offset**2 + 0.1**2
    rate = math.sqrt(9.81 * 0.1 / inertia)
    wanted = 9.81 * offset / inertia / rate * math.sinh(rate * 0.05)
    assert twist(sim)[1] == pytest.approx(wanted, rel=2e-3, abs=1e-9)
    assert np.abs(twist(sim)[[0, 2]]).max() < 1e-6
    assert {contact.normal[2] > 0.9 for contact in sim.contacts} == {True}


@MESHED
def test_an_edge_in_a_valley_is_held_from_both_sides(meshed):
    """Without friction, by m g / sqrt(2) from each of two slopes at right angles."""
    smooth = rd.Material(friction=0.0)
    at = rd.pose((0.0, 0.02, 0.1 * math.sqrt(2.0)), rpy=(0.0, math.pi / 4, 0.0))
    sim, mirror = thrown(shapes.Box((0.2, 0.2, 0.2), material=smooth), ground(VALLEY, meshed, material=smooth), at)
    with mirror:
        mirror.step(240)
    assert np.abs(twist(sim)).max() < 1e-6
    for side in (-1.0, 1.0):
        normal = np.array([side, 0.0, 1.0]) / math.sqrt(2.0)
        impulse = sum((np.array(c.impulse) for c in sim.contacts if np.dot(c.normal, normal) > 0.99), np.zeros(3))
        assert impulse * 240 == pytest.approx(9.81 / math.sqrt(2.0) * normal, abs=1e-3)


def bumpy(seed: int, meshed: bool, material) -> shapes.Shape:
    """A bowl with corners that are up to 100 mm off, 100 mm apart."""
    rng, x = np.random.default_rng(seed), 0.1 * (np.arange(41) - 20)
    heights = rng.uniform(0.0, 0.1, (41, 41)) + 0.18 * (x[:, None] ** 2 + x[None] ** 2)
    return ground(shapes.HeightField(heights, (0.1, 0.1)), meshed, material=material)


def tumbling(seed, shape, scenery, rate, speed) -> tuple[rd.Simulation, PyBulletMirror]:
    rng = np.random.default_rng(seed)
    at = rd.pose((*rng.uniform(-0.5, 0.5, 2), 0.6), rpy=rng.uniform(-3, 3, 3))
    return thrown(shape, scenery, at, np.array([*rng.uniform(-6, 6, 3), *rng.uniform(-1, 1, 2), -speed]), rate)


SEEDS = pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 6), marks=pytest.mark.slow)])

FOUND_DEEP = (32, 47)  # seeds, at 240 Hz, on meshes


@MESHED
@RATES
@SEEDS
@pytest.mark.parametrize("kind", ["cube", "plate", "icosahedron"])
def test_what_falls_on_rough_ground_at_five_metres_a_second_comes_to_rest_on_it(kind, seeds, rate, meshed):
    """Within 6 s, not below it, nowhere in it by more than the slop. Of 96 plates at 60 Hz one, and three before, rock
    on by 1e-4 to 2e-3 rad/s (7e-2 before): one of these few at most."""
    restless, rough = list[float](), rd.Material(friction=0.5)
    solid = trimesh.creation.icosahedron().apply_scale(0.12)
    shape = {
        "cube": shapes.Box((0.2, 0.2, 0.2), material=rough),
        "plate": shapes.Box((0.3, 0.2, 0.08), material=rough),
        "icosahedron": shapes.Mesh(solid, material=rough),
    }[kind]
    for seed in seeds:
        sim, mirror = tumbling(seed, shape, bumpy(seed, meshed, rough), rate, 5.0)
        with mirror:
            mirror.step(6 * rate)
            restless += [speed] if (speed := np.abs(twist(sim)).max()) >= 1e-4 else []
            assert sim.solution.penetration < 1e-4
            assert sim.dynamics.poses(sim.q)[0][2, 3] > 0.0
    assert len(restless) <= (kind == "plate" and len(seeds) > 2) and max(restless, default=0.0) < 5e-3


@MESHED
@RATES
@pytest.mark.parametrize("seeds", [range(3), pytest.param(range(3, 9), marks=pytest.mark.slow)])
def test_between_steep_peaks_a_box_stays_outside(seeds, rate, meshed):
    """Of ridges sharper than right angles: at rest no corner of either is in the other by more than the slop. But for 2
    of 84 boxes (see below), which of them rounding decides: one of these few at most."""
    assert [rests_outside(seed, rate, meshed) for seed in seeds].count(False) <= 1


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="found 80 mm deep in a peak and pushed out again and again: 2 of 84 such boxes")
def test_nor_is_it_found_deep_in_them_again_and_again():
    assert all(rests_outside(seed, 240, True) for seed in FOUND_DEEP)


def rests_outside(seed: int, rate: int, meshed: bool) -> bool:
    rng, rough = np.random.default_rng(seed), rd.Material(friction=0.5)
    field = shapes.HeightField(rng.uniform(0.0, 0.3, (21, 21)), (0.1, 0.1))
    box = shapes.Box((0.2, 0.2, 0.2), material=rough)
    sim, mirror = tumbling(seed, box, ground(field, meshed, material=rough), rate, 5.0)
    with mirror:
        mirror.step(6 * rate)
    X = sim.dynamics.poses(sim.q)[0]
    corners = (np.array(shapes.to_trimesh(field).triangles) - X[:3, 3]) @ X[:3, :3]
    along = np.roll(corners, -1, axis=1) - corners
    sides = corners[:, :, None] + np.linspace(0.0, 1.0, 101)[:, None] * along[:, :, None]
    return bool(np.abs(twist(sim)).max() < 1e-4 and np.abs(sides).max(axis=-1).min() > 0.1 - 1e-4)


@pytest.mark.parametrize("rate, won", [(60, 0.3), (240, 0.1)])
@SEEDS
def test_an_elastic_box_on_rough_ground_wins_little(seeds, rate, won):
    """Where an edge passes another within a step; of 6.6 J, J in 3 s."""
    elastic = rd.Material(friction=0.0, restitution=1.0)
    for seed in seeds:
        shape = shapes.Box((0.2, 0.2, 0.2), material=elastic)
        sim, mirror = tumbling(seed, shape, bumpy(seed, seed % 2 == 1, elastic), rate, 1.0)
        first = energy(sim)
        with mirror:
            for _ in range(rate):
                mirror.step(3)
                assert energy(sim) < first + won


def test_a_mesh_holds_a_box_from_below_too():
    """Thrown upwards against it from underneath it comes down again."""
    shape = shapes.Box((0.2, 0.2, 0.2), material=MATERIAL)
    sim, mirror = thrown(
        shape, ground(flat(41), True), rd.pose((0.013, 0.02, -0.3)), np.array([1, 2, 0.5, 0, 0, 5]), 60
    )
    with mirror:
        for _ in range(30):
            mirror.step()
            assert sim.dynamics.poses(sim.q)[0][2, 3] < 0.0
        assert twist(sim)[5] < -3.0


LAYERS = {
    "twice": lambda v, t: (v, np.vstack([t, t])),
    "both sides": lambda v, t: (v, np.vstack([t, t[:, ::-1]])),
    "both sides, corners of their own": lambda v, t: (np.vstack([v, v]), np.vstack([t, t[:, ::-1] + len(v)])),
    "some twice": lambda v, t: (v, np.vstack([t, t[60:90]])),
    "other triangles": lambda v, t: (np.vstack([v, 0.93 * v]), np.vstack([t, t + len(v)])),
    "a layer 1 mm below": lambda v, t: (np.vstack([v, v - (0, 0, 1e-3)]), np.vstack([t, t + len(v)])),
    "a layer 10 mm below": lambda v, t: (np.vstack([v, v - (0, 0, 1e-2)]), np.vstack([t, t + len(v)])),
}


@RATES
@pytest.mark.parametrize("layers", LAYERS)
def test_a_box_lies_on_a_mesh_of_several_layers(layers, rate):
    """As assets have them: a corner below two of them is as far beyond as below one."""
    x = np.linspace(-1.0, 1.0, 9)
    corners = np.array([(a, b, 0.0) for a in x for b in x])
    cells = np.array([9 * i + j for i in range(8) for j in range(8)])
    lower, upper = np.stack([cells, cells + 9, cells + 1], 1), np.stack([cells + 1, cells + 9, cells + 10], 1)
    mesh = trimesh.Trimesh(*LAYERS[layers](corners, np.vstack([lower, upper])), process=False)
    scene = Scene()
    scene.world.shapes.append(shapes.Mesh(mesh, material=rd.Material(friction=0.5)))
    box = Body("box", [shapes.Box((0.2, 0.2, 0.2))], mass=1.0)
    scene.world.attach(box, joints.free(), at=rd.pose((0.03, 0.02, 0.3)))
    sim = rd.Simulation(scene.compile(), 1 / rate)
    with PyBulletMirror(scene, sim, gui=False) as mirror:
        mirror.step(round(1.5 * rate))
    height = 0.3 + sim.q[2]
    assert 0.1 - (0.0102 if "below" in layers else 2.1e-5) < height < 0.1 + 1e-9
    assert np.abs(sim.v).max() < 1e-6
