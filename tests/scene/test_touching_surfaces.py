"""Surfaces that touch: in one point, with one normal, or refused with the reason."""

import numpy as np
import pytest
import sympy as sp
from saved_scenes import assert_the_same_when_loaded
from test_surfaces import EVERY, compiled, refused, u, v

import recursive_dyn as rd
from scene import Body, Scene, joints
from scene.joints import surfaces

# Contact


def touching(first, second, q, **how):
    """(child's pose, the two tangent frames in parent axes) of a contact at q."""
    X = compiled(joints.surface_on_surface(first, second, **how)).poses(q)[0]
    one, two = (compiled(joints.surface(s)).poses(part)[0] for s, part in ((first, q[:2]), (second, q[2:4])))
    return X, one, X @ two


PAIRS = [("sphere", "torus"), ("ellipsoid x", "sphere y"), ("torus y", "cylinder x"), ("plane", "ellipsoid"),
         ("paraboloid", "spheroid"), ("cylinder", "torus x")]  # fmt: skip


@pytest.mark.parametrize("flip", [True, False])
@pytest.mark.parametrize("pair", PAIRS, ids=" on ".join)
def test_surfaces_touch_in_a_point_with_aligned_normals(pair, flip):
    first, second = (EVERY[name] for name in pair)
    for spin in (None, 0.9):
        q = [0.3, 0.4, -0.7, 0.5] + ([] if spin is None else [spin])
        _, one, two = touching(first, second, q, flip=flip, turn=0.6, spin=spin is not None)
        np.testing.assert_allclose(one[:3, 3], two[:3, 3], atol=1e-14)
        np.testing.assert_allclose(one[:3, 2], (-1 if flip else 1) * two[:3, 2], atol=1e-14)
        between = np.arctan2(one[:3, 1] @ two[:3, 0], one[:3, 0] @ two[:3, 0])
        assert between == pytest.approx(0.6 + (spin or 0.0))


def test_spheres_keep_the_distance_of_their_centres():
    big, small = surfaces.sphere(1.0), surfaces.sphere(0.3)
    for flip, distance in ((True, 1.3), (False, 0.7)):
        X, _, _ = touching(big, small, [0.3, 0.4, -0.7, 0.5], flip=flip)
        assert np.linalg.norm(X[:3, 3]) == pytest.approx(distance)


def test_spin_gives_every_motion_but_that_along_the_normal():
    first, second = EVERY["ellipsoid"], EVERY["sphere"]
    d = compiled(joints.surface_on_surface(first, second, spin=True))
    assert d.coordinates[-1] == "glider.spin"
    q = np.array([0.3, 0.4, -0.7, 0.5, 1.1])
    contact = compiled(joints.surface(first)).poses(q[:2])[0]
    local = (np.linalg.inv(d.poses(q)[0]) @ contact)[:3, 3]
    J = d.jacobian(q, "glider", local)
    assert np.linalg.matrix_rank(J) == 5
    np.testing.assert_allclose(contact[:3, 2] @ J[3:], 0.0, atol=1e-14)


def test_a_pair_of_expressions_and_a_library_surface_may_touch():
    bowl = ([u, v, u**2 + v**2 / 2], (u, v))
    library = surfaces.paraboloid(0.5, 1.0)
    ball = surfaces.sphere(0.2)
    by_pair, by_name = (compiled(joints.surface_on_surface(*given)) for given in ((*bowl, ball), (library, ball)))
    assert by_pair.coordinates == ("glider.u", "glider.v", "glider.u2", "glider.v2")
    q = [0.1, -0.2, 0.5, 0.6]
    np.testing.assert_allclose(by_pair.poses(q), by_name.poses(q), atol=1e-14)
    other = compiled(joints.surface_on_surface(ball, *bowl))
    np.testing.assert_allclose(other.poses([*q[2:], *q[:2]])[0], np.linalg.inv(by_pair.poses(q)[0]), atol=1e-14)


def test_a_surface_of_ones_own_has_a_name_a_mesh_and_fresh_symbols():
    saddle = surfaces.Surface.of("saddle", (u, v, u * v), (u, v), u=surfaces.Span(-2.0, 2.0))
    named, pair = (compiled(joints.surface(*given)) for given in ((saddle,), ([u, v, u * v], (u, v))))
    np.testing.assert_array_equal(named.poses([0.3, 0.4]), pair.poses([0.3, 0.4]))
    contact = compiled(joints.surface_on_surface(saddle, surfaces.sphere(0.1)))
    assert contact.coordinates == ("glider.u1", "glider.v1", "glider.u2", "glider.v2")
    vertices, _ = saddle.mesh(5, 4)
    np.testing.assert_allclose(vertices[:, 2], vertices[:, 0] * vertices[:, 1], atol=1e-15)
    assert np.abs(vertices[:, 0]).max() == 2.0


@pytest.mark.parametrize("spin", [False, True])
def test_contacts_whose_point_is_not_determined_are_refused_with_the_reason(spin):
    ball, tyre, sheet = surfaces.sphere(0.5), surfaces.torus(1.0, 0.3), surfaces.plane()
    roll, nothing = surfaces.cylinder(0.5), "the surfaces have the same curvature there: the contact point is not"

    def contact(*pair, **how):
        return joints.surface_on_surface(*pair, spin=spin, **how)

    refused(contact(ball, ball, flip=False), f"3 independent ways only, everywhere: {nothing}.*flip=True")
    refused(contact(sheet, sheet), f"{nothing}.*joints\\.planar")
    refused(contact(sheet, roll), "same curvature there in one direction.*choose another size or another surface")
    if spin:
        refused(contact(roll, ball, flip=False), "4 independent ways only.*in one direction.*flip one")
        compiled(contact(tyre, tyre, flip=False))  # singular only where the u directions agree
        compiled(contact(roll, roll))
    else:
        refused(contact(tyre, tyre, flip=False), "3 independent ways only.*in one direction.*flip=True.*turn=")
        refused(contact(roll, roll), "in one direction.*turn one")
        refused(contact(roll, roll, flip=False), f"2 independent ways only, everywhere: {nothing}")
        compiled(contact(roll, roll, turn=np.pi / 2))
    for joint in (contact(ball, ball), contact(tyre, tyre, turn=np.pi / 2), contact(sheet, ball),
                  contact(tyre, surfaces.torus(1.0, 0.2), flip=False), contact(ball, surfaces.sphere(0.4), flip=False),
                  contact(roll, ball)):  # fmt: skip
        compiled(joint)


def test_a_contact_that_is_singular_at_the_parameters_values_is_refused():
    scene = Scene()
    size = scene.parameter("size", 0.5)
    joint = joints.surface_on_surface(surfaces.sphere(0.5), surfaces.sphere(size), flip=False)
    scene.world.attach(Body("glider", mass=1.0, inertia=np.eye(3)), joint)
    with pytest.raises(rd.ModelError, match=r"joint of 'glider'.*same curvature"):
        scene.compile()
    scene.parameters["size"] = 0.4
    scene.compile()


def test_a_contact_knows_what_it_is_made_of():
    joint = joints.surface_on_surface(surfaces.sphere(0.5), surfaces.plane(), turn=0.2, spin=True)
    contact = joint.adjusted(damping=0.1).contact
    assert contact is joint.contact and contact.flip and contact.turn == 0.2
    (f1, (u1, v1)), (f2, (u2, v2)) = contact.first, contact.second
    assert [s.name for s in (u1, v1, u2, v2, contact.spin)] == [c.name for c in joint.coordinates]
    assert sp.simplify(sum(x**2 for x in f1)) == 0.25 and f2 == [u2, v2, 0]
    assert (joint @ joints.fixed()).contact is None
    assert joints.surface(surfaces.sphere(0.5)).contact is None
    assert joints.surface_on_surface(surfaces.sphere(0.5), surfaces.plane()).contact.spin is None


def test_scenes_with_contacts_come_back_from_their_files(tmp_path):
    scene = Scene()
    size = scene.parameter("size", 0.4)
    node = scene.world
    for i, joint in enumerate((
        joints.surface_on_surface(surfaces.torus(1.0, size), surfaces.sphere(size, poles="x"), spin=True, damping=0.1),
        joints.surface_on_surface(surfaces.ellipsoid(size, 1.0, 0.7), surfaces.cylinder(0.3, poles="y"), turn=0.3),
        joints.surface(surfaces.paraboloid(size, 1.0), frame="translation"),
    )):  # fmt: skip
        node = node.attach(Body(f"b{i}", mass=1.0, inertia=np.eye(3)), joint)
    assert_the_same_when_loaded(scene, tmp_path)
