"""Convex meshes and boxes on each other: by what distances are, and what lies, bounces, glides and slides flat."""

import math
from dataclasses import replace

import numpy as np
import pytest
import trimesh
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import recursive_dyn as rd
from bridge import PyBulletMirror
from bridge.convex.hull_hull import hull_hull
from bridge.curved.curved_pairs import POINTS
from bridge.curved.manifold_points import Found, InWorld
from bridge.curved.polytopes import box_polytope, gathered_polytopes, polytope_of
from scene import Body, Scene, joints, shapes

STONE = np.random.default_rng(5).normal(size=(14, 3))
STONE /= 2.0 * np.linalg.norm(STONE, axis=1, keepdims=True)
OWN = [polytope_of(STONE), box_polytope((0.3, 0.4, 0.2)), polytope_of(trimesh.creation.cylinder(0.3, 0.2, 7).vertices)]
SOLIDS = gathered_polytopes(OWN)
NO_TURN, G, SLAB, MARGIN = np.eye(3), 9.81, (6.0, 2.0, 0.2), 0.05
MANY = {(1, 1): 6, (2, 1): 7, (1, 2): 6, (2, 2): 6}  # corners that are kept of 7 to 14
RATES = [1 / 60, 1 / 240]


def met(one, other, centre, axes, other_axes=NO_TURN):
    """Points (n, 7) of a polytope at a centre and another at the origin: on that one, the normal out of it, the gap."""
    none = np.zeros((0, 3))
    placed = InWorld(np.array([centre, np.zeros(3)]), np.array([axes, other_axes]), np.zeros((2, 3)), none, none)
    found = Found(np.zeros((POINTS, 7)), np.zeros(1, dtype=np.int64))
    hull_hull(placed, SOLIDS, one, other, 0, 1, MARGIN, found)
    return found.rows[: found.size[0]].copy()


def corners_and_edges(k, axes):
    own = OWN[k]
    corners = own.corners @ axes
    return corners, corners[own.edges[:, 1]] - corners[own.edges[:, 0]], own.normals @ axes


def widest(one, other, centre, axes, other_axes):
    """The largest gap along the normals of all faces, and across all pairs of edges."""
    (p, u, m), (q, w, n) = corners_and_edges(one, axes), corners_and_edges(other, other_axes)
    across = np.cross(u[:, None], w[None]).reshape(-1, 3)
    size = np.linalg.norm(across, axis=1, keepdims=True)
    across = across[size[:, 0] > 1e-6] / size[size[:, 0] > 1e-6]

    def gap(d):
        return (d @ (p + centre).T).min(axis=1) - (d @ q.T).max(axis=1)

    faces = max(gap(n).max(), gap(-m).max())
    return faces, max(faces, *(gap(d).max() for d in (across, -across)))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32 - 1), st.sampled_from([(0, 0), (0, 1), (1, 0), (2, 1), (2, 2)]),
    st.sampled_from([-0.01, -1e-4, 1e-7, 1e-4, 0.01]), st.sampled_from([1e-9, 1e-5, 0.01, 1.0, 3.0]),
)  # fmt: skip
def test_polytopes_are_as_deep_in_each_other_as_along_the_best_axis_and_as_far_apart_as_along_any(
    seed, kinds, gap, turn
):
    rng = np.random.default_rng(seed)
    axes = Rotation.from_rotvec(turn * rng.normal(size=3)).as_matrix()
    others = NO_TURN if turn < 1.0 else Rotation.random(random_state=seed).as_matrix()
    away = rng.normal(size=3)
    low, high = 0.0, 5.0
    for _ in range(50):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if widest(*kinds, middle * away, axes, others)[1] > gap else (middle, high)
    faces, best = widest(*kinds, high * away, axes, others)
    rows, (p, *_), (q, *_) = (
        met(*kinds, high * away, axes, others),
        *(corners_and_edges(k, turned) for k, turned in zip(kinds, (axes, others), strict=True)),
    )
    along = (rows[:, 3:6] @ (p + high * away).T).min(axis=1) - (rows[:, 3:6] @ q.T).max(axis=1)
    np.testing.assert_allclose(np.linalg.norm(rows[:, 3:6], axis=1), 1.0, atol=1e-12)
    assert (rows[:, 6] >= along - 1e-9).all()  # each point is of both
    if gap < 0.0:
        assert along.max() <= best + 1e-12
        assert min(faces, 1.05 * best) - 1e-9 <= rows[:, 6].min()
    else:
        assert rows[:, 6].min() == pytest.approx(along.max(), abs=1e-9)  # a direction in which all of both is as far
        assert rows[:, 6].min() >= best - 1e-9


@pytest.mark.parametrize("turn", [0.0, 1e-12, 1e-9, 1e-7])
@pytest.mark.parametrize(("one", "other"), [(1, 1), (2, 1), (1, 2), (2, 2)])
def test_what_lies_flat_touches_with_all_of_the_patch_however_little_it_is_tilted(one, other, turn):
    up = sum(0.1 if k == 2 else 0.2 for k in (one, other))
    axes = Rotation.from_rotvec([turn, 0.3 * turn, 0.0]).as_matrix() @ Rotation.from_euler("z", 0.3).as_matrix()
    for deep in (-1e-5, 0.0, 1e-5):
        rows = met(one, other, (0.01, 0.02, up + deep), axes)
        assert MANY[one, other] <= len(rows) <= MANY[one, other] + 1
        np.testing.assert_allclose(rows[:, 6], deep, atol=turn + 1e-14)
        np.testing.assert_allclose(rows[:, 3:6], [(0.0, 0.0, 1.0)] * len(rows), atol=2 * turn + 1e-12)
        assert np.ptp(rows[:, 0]) > 0.4
        assert np.ptp(rows[:, 1]) > 0.4


def mesh(size):
    return shapes.Mesh(trimesh.creation.box(size))


def prism(sections=7):
    return shapes.Mesh(trimesh.creation.cylinder(0.2, 0.1, sections))


def ell():
    """An L of bars of 0.1 m, which is cut into convex parts; its middle is 5 cm over its lower face."""
    outline = 0.1 * np.array([(0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (0, 2)])
    corners = np.vstack([np.c_[outline, np.full(6, z)] for z in (-0.05, 0.05)])
    cap = [(0, 1, 3), (1, 2, 3), (0, 3, 5), (3, 4, 5)]
    faces = [(a, c, b) for a, b, c in cap] + [(a + 6, b + 6, c + 6) for a, b, c in cap]
    for k in range(6):
        j = (k + 1) % 6
        faces += [(k, j, j + 6), (k, j + 6, k + 6)]
    return shapes.Mesh(trimesh.Trimesh(corners - [0.15, 0.1, 0.0], faces, process=False))


BRICK = (0.3, 0.2, 0.1)
MADE = {
    "box": lambda: shapes.Box(BRICK),
    "mesh": lambda: mesh(BRICK),
    "prism": prism,
    "disc": lambda: prism(24),
    "ell": ell,
}
GROUNDS = {"box": lambda: shapes.Box(SLAB), "mesh": lambda: mesh(SLAB)}
PAIRS = [("mesh", "box"), ("prism", "box"), ("disc", "box"), ("box", "mesh"), ("mesh", "mesh"), ("prism", "mesh")]


def on(kind, ground, rate, friction=0.4, restitution=0.0, slope=0.0, height=0.0):
    """A thing of 5 cm half height over a slab: a mirror, its simulation."""
    scene = Scene(gravity=(G * math.sin(slope), 0.0, -G * math.cos(slope)))
    material = rd.Material(friction=friction, restitution=restitution)
    scene.world.shapes.append(replace(GROUNDS[ground](), material=material, at=rd.pose((0.01, 0.02, -0.1))))
    thing = replace(MADE[kind](), material=material)
    at = rd.pose((0.0, 0.0, 0.05 + height), rpy=(0.0, 0.0, 0.3))
    scene.world.attach(Body("thing", [thing], mass=2.0), joints.free(), at=at)
    motion = rd.Simulation(scene.compile(), timestep=rate)
    return PyBulletMirror(scene, motion, gui=False, ground=False), motion


def twist(motion):
    return np.asarray(motion.dynamics.velocities(motion.q, motion.v))[0]


def place(motion):
    return np.asarray(motion.dynamics.poses(motion.q))[0]


@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("kind", "ground"), PAIRS)
def test_what_falls_flat_bounces_flat(kind, ground, rate):
    mirror, motion = on(kind, ground, rate, restitution=0.7, height=0.3)
    with mirror:
        heights, spin = [], 0.0
        while motion.time < 0.5:
            mirror.step()
            heights.append(place(motion)[2, 3] - 0.05)
            spin = max(spin, np.abs(twist(motion)[:3]).max())
    landed = int(np.argmin(heights[: int(0.3 / rate)]))
    assert max(heights[landed:]) == pytest.approx(0.49 * 0.3, rel=0.01)
    assert spin < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("kind", "ground"), PAIRS)
def test_what_lies_on_a_slope_creeps_or_slides_by_the_law_of_friction(kind, ground, rate):
    critical, friction = math.atan(0.4), 0.4
    for share in (0.999, 1.001, 1.5):
        slope = share * critical
        mirror, motion = on(kind, ground, rate, friction, slope=slope)
        with mirror:
            mirror.step(round(0.5 / rate))
        law = max(0.0, 0.5 * G * (math.sin(slope) - friction * math.cos(slope)))
        assert twist(motion)[3] == pytest.approx(law, rel=1e-6, abs=3e-6)
        assert np.abs(twist(motion)[[0, 1, 2, 4, 5]]).max() < 1e-5
        assert share > 1.0 or np.abs(place(motion)[:2, 3]).max() < 3e-6


@pytest.mark.slow
@pytest.mark.parametrize("rate", RATES)
@pytest.mark.parametrize(("kind", "ground"), PAIRS)
def test_what_glides_without_friction_keeps_its_speed_and_wins_nothing(kind, ground, rate):
    mirror, motion = on(kind, ground, rate, friction=0.0)
    with mirror:
        jacobian = np.asarray(motion.dynamics.jacobian(motion.q, "thing"))
        motion.v[:] = np.linalg.solve(jacobian, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
        energy = motion.dynamics.kinetic_energy(motion.q, motion.v) + motion.dynamics.potential_energy(motion.q)
        for _ in range(round(1.0 / rate)):
            mirror.step()
            now = motion.dynamics.kinetic_energy(motion.q, motion.v) + motion.dynamics.potential_energy(motion.q)
            assert now < energy + 1e-7
            energy = now
            assert len(motion.contacts) >= 4
    np.testing.assert_allclose(twist(motion), [0, 0, 0, 1, 0, 0], atol=1e-5)


def test_contacts_keep_their_keys_and_places_while_something_stands():
    mirror, motion = on("disc", "mesh", 1 / 240)
    with mirror:
        mirror.step(24)
        before = motion.contacts
        mirror.step(24)
        after = motion.contacts
    np.testing.assert_array_equal(after.key, before.key)
    np.testing.assert_allclose(after.point_b, before.point_b, atol=1e-7)


def test_a_mesh_of_convex_parts_bounces_flat():
    mirror, motion = on("ell", "box", 1 / 240, restitution=0.6, height=0.3)
    with mirror:
        spin, heights = 0.0, []
        for _ in range(110):
            mirror.step()
            spin = max(spin, np.abs(twist(motion)[:3]).max())
            heights.append(place(motion)[2, 3] - 0.05)
    assert spin < 1e-3
    assert max(heights[70:]) == pytest.approx(0.36 * 0.3, rel=0.01)


@pytest.mark.parametrize("sections", [6, 24, 64])
def test_a_side_is_one_face_though_a_file_rounds_its_corners(sections):
    corners = trimesh.creation.cylinder(0.3, 0.2, sections).vertices @ Rotation.random(random_state=1).as_matrix()
    made = polytope_of(corners.astype(np.float32).astype(float))
    assert (len(made.corners), len(made.edges), len(made.normals)) == (2 * sections, 3 * sections, sections + 2)


def test_a_prism_rolls_straight_ahead_from_side_to_side():
    """As far as on the plane, which is another method."""
    gone = []
    low = 0.1 * math.cos(math.pi / 12)
    for ground in (shapes.Plane(), shapes.Box(SLAB, at=rd.pose((0.0, 0.0, -0.1)))):
        scene, rough = Scene(), rd.Material(friction=0.8)
        scene.world.shapes.append(replace(ground, material=rough))
        turned = rd.pose((0.0, 0.0, low), rpy=(math.pi / 2, 0.0, 0.0)) @ rd.pose(rpy=(0.0, 0.0, math.pi / 12))
        roller = shapes.Mesh(trimesh.creation.cylinder(0.1, 0.2, sections=12), material=rough)
        scene.world.attach(Body("thing", [roller], mass=1.0), joints.free(), at=turned)
        motion = rd.Simulation(scene.compile(), timestep=1 / 240)
        with PyBulletMirror(scene, motion, gui=False, ground=False) as mirror:
            jacobian = np.asarray(motion.dynamics.jacobian(motion.q, "thing"))
            motion.v[:] = np.linalg.solve(jacobian, [0.0, 8.0, 0.0, 8.0 * low, 0.0, 0.0])
            mirror.step(180)
        assert np.abs(twist(motion)[[0, 2, 4]]).max() < 1e-5
        gone.append(place(motion)[0, 3])
    assert gone[1] == pytest.approx(gone[0], rel=0.03)
    assert gone[0] > 0.3
