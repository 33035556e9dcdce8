"""Lines over the picture are where the mechanics says."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from bridge import Camera, PyBulletMirror
from bridge.viewer import navigation, overlays
from scene import Body, Scene, joints, shapes


def test_axes_of_joints_are_where_they_turn():
    scene = Scene()
    first = scene.world.attach(Body("a", [shapes.Sphere(0.1)]), joints.revolute("y"), at=rd.pose((1, 2, 3)))
    first.attach(Body("b", [shapes.Sphere(0.1)]), joints.prismatic("x"), at=rd.pose((0, 0, -1)))
    simulation = rd.Simulation(scene.compile())
    simulation.q = [np.pi / 2, 0.5]
    lines = overlays.joint_axes(simulation, 0.3).lines
    np.testing.assert_allclose(lines[0], [(1, 1.7, 3), (1, 2.3, 3)], atol=1e-12)
    # A quarter turn about y takes x to -z and -z to -x.
    np.testing.assert_allclose(lines[1].mean(axis=0), (0, 2, 2.5), atol=1e-12)
    np.testing.assert_allclose(np.diff(lines[1], axis=0)[0], (0, 0, -0.6), atol=1e-12)


def test_a_bead_is_free_along_its_wire_and_a_board_on_its_surface():
    s = sp.Symbol("s", real=True)
    scene = Scene()
    scene.world.attach(Body("bead", [shapes.Sphere(0.1)]), joints.curve([sp.cos(s), sp.sin(s), s / 5], s))
    simulation = rd.Simulation(scene.compile())
    simulation.q = [0.4]
    points = overlays.free_paths(simulation, 0).lines.reshape(-1, 3)
    values = 5.0 * points[:, 2]
    np.testing.assert_allclose(points[:, :2], np.stack([np.cos(values), np.sin(values)], axis=1), atol=1e-12)
    assert np.ptp(values) == pytest.approx(2.0 * np.pi)
    ring = Scene()
    torus = joints.surfaces.torus(1.0, 0.3)
    ring.world.attach(Body("bead", [shapes.Sphere(0.1)]), joints.surface(torus))
    points = overlays.free_paths(rd.Simulation(ring.compile()), 0).lines.reshape(-1, 3)
    tube = np.hypot(np.hypot(points[:, 0], points[:, 1]) - 1.0, points[:, 2])
    np.testing.assert_allclose(tube, 0.3, atol=1e-12)


def test_contacts_push_up_and_outline_what_is_stood_on():
    """A table at rest on its four corners: forces are vertical, and its square holds its centre of mass."""
    scene = Scene()
    scene.world.attach(Body("table", [shapes.Box((1, 1, 0.1))]), joints.free(), at=rd.pose((0.3, 0, 0.05)))
    simulation = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, simulation, gui=False) as mirror:
        mirror.step(60)
        found = overlays.contacts(simulation, 0.5)
        arrows = found.lines[found.colors[:, 0] == overlays.FORCE[0]]
        along = arrows[:, 1] - arrows[:, 0]
        assert len(arrows) == 4 and np.linalg.norm(along, axis=1).max() == pytest.approx(0.5)
        assert np.abs(along.sum(axis=0)[:2]).max() < 1e-3 * along[:, 2].min()  # friction strains the table, no more
        outline = overlays.balance(simulation, 0.5).lines[4:]
        corners = {tuple(np.round(point, 3).tolist()[:2]) for point in outline.reshape(-1, 3)}
        assert corners == {(-0.2, -0.5), (-0.2, 0.5), (0.8, -0.5), (0.8, 0.5)}


def test_points_inside_change_no_outline():
    corners = [(0.5, 0.5, 0.0), (-0.5, -0.5, 0.0), (0.1, 0.0, 0.0), (0.5, -0.5, 0.0), (-0.5, 0.5, 0.0)]
    hull = overlays._hull(np.array(corners))
    assert len(hull) == 4 and {tuple(p) for p in hull.tolist()} == {c for c in corners if c != (0.1, 0.0, 0.0)}


def test_what_is_under_the_pointer_is_seen_there():
    camera = Camera(3.0, 40.0, -25.0, (0.3, -0.2, 0.5))
    size = (800, 600)
    place = navigation.place_at(camera, 123.0, 456.0, size, 2.5)
    assert navigation.seen_at(camera, place, size) == pytest.approx((123.0, 456.0))
    assert navigation.seen_at(camera, camera.eye() + camera.rotation()[2], size) is None
    moved = navigation.panned(camera, 50.0, -30.0, size[1])
    before, after = (navigation.seen_at(c, np.array(camera.target), size) for c in (camera, moved))
    assert np.subtract(after, before) == pytest.approx((50.0, -30.0))
    assert navigation.zoomed(navigation.zoomed(camera, 3.0), -3.0).distance == pytest.approx(camera.distance)
    assert navigation.orbited(camera, 10.0, 1e6).pitch == -89.0
