"""Where a joint comes nearest to a pose that it cannot have, against all of its poses on a grid, and in closed form."""

import itertools

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.joint.chart import twist_between
from recursive_dyn.joint.nearest_point import nearest_point
from scene import Body, Scene, joints

JOINTS = {
    "revolute": joints.revolute("z"),
    "screw": joints.screw("z", 0.1),
    "universal": joints.universal("x", "y"),
    "slide and hinge": joints.prismatic("x") @ joints.revolute("y"),
}


def placed(name):
    scene = Scene()
    scene.world.attach(Body("b", mass=1.0, inertia=np.eye(3)), JOINTS[name])
    return scene.model().links[0].joint, scene.compile()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("name", JOINTS)
def test_no_pose_on_a_grid_is_nearer_and_no_way_along_the_joint_leads_nearer(name, seed):
    joint, dynamics = placed(name)
    rng = np.random.default_rng(seed)
    pose = rd.pose(rng.uniform(-0.5, 0.5, 3), rng.uniform(-1.3, 1.3, 3))
    free = np.tile([-np.inf, np.inf], (joint.nv, 1))
    found = nearest_point(joint, {}, pose, rng.uniform(-3, 3, joint.nv), free)
    grid = np.array([*itertools.product(*[np.linspace(-np.pi, np.pi, 61)] * joint.nv)])
    poses = dynamics.poses(grid)[:, 0]
    missed = np.linalg.norm(twist_between(poses, np.broadcast_to(pose, poses.shape)), axis=1)
    assert found.missed <= missed.min() + 1e-12
    error = twist_between(found.pose[None], pose[None])[0]
    assert np.abs(found.S.T @ error).max() < 1e-6  # its square's slope; a square tells 1e-8 of what is nearest


def test_a_slide_is_at_the_foot_of_the_perpendicular_and_within_its_limits():
    scene = Scene()
    scene.world.attach(Body("b", mass=1.0, inertia=np.eye(3)), joints.prismatic("z"))
    joint = scene.model().links[0].joint
    pose = rd.pose((0.3, -0.2, 0.7), (0.4, 0.1, 0.0))
    assert nearest_point(joint, {}, pose, np.zeros(1), np.array([[-np.inf, np.inf]])).q == pytest.approx([0.7])
    assert nearest_point(joint, {}, pose, np.zeros(1), np.array([[-0.2, 0.5]])).q == pytest.approx([0.5])


@pytest.mark.parametrize("name", JOINTS)
def test_what_it_can_have_it_has_to_rounding(name):
    joint, dynamics = placed(name)
    q = np.random.default_rng(7).uniform(-1.5, 1.5, joint.nv)
    pose = dynamics.poses(q)[0]
    found = nearest_point(joint, {}, pose, np.zeros(joint.nv), np.tile([-np.inf, np.inf], (joint.nv, 1)))
    np.testing.assert_allclose(found.pose, pose, atol=4e-15)
