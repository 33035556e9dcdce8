"""What a person may hand to joints.Joint besides a proper matrix of expressions."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints

q = sp.Symbol("q", real=True)


def test_text_is_never_executed(tmp_path):
    mark = tmp_path / "mark"
    text = f"__import__('pathlib').Path({str(mark)!r}).touch()"
    transform = [[1, 0, 0, text], [0, 1, 0, 0], [0, 0, 1, q], [0, 0, 0, 1]]
    with pytest.raises(rd.ModelError, match="not of text"):
        joints.Joint(transform, q)
    assert not mark.exists()


@pytest.mark.parametrize("coordinate", ["q", 1.0, q + 1])
def test_a_coordinate_is_a_symbol(coordinate):
    with pytest.raises(rd.ModelError, match="SymPy symbol"):
        joints.Joint(sp.eye(4), [coordinate])


def test_inverse_hyperbolic_functions_are_read():
    transform = sp.eye(4)
    transform[0, 3], transform[1, 3], transform[2, 3] = sp.asinh(q), sp.atanh(q / 4), sp.acosh(q + 3)
    scene = Scene()
    scene.world.attach(Body("slider", mass=1.0), joints.Joint(transform, q, limits=(-1, 1)))
    pose = scene.compile().poses([0.5])[0]
    np.testing.assert_allclose(pose[:3, 3], [np.arcsinh(0.5), np.arctanh(0.125), np.arccosh(3.5)], rtol=1e-14)


def test_a_scene_in_which_nothing_moves_has_no_moving_centre_of_mass():
    scene = Scene()
    scene.world.attach(Body("rock", mass=1.0), joints.fixed())
    with pytest.raises(rd.ModelError, match="nothing in this scene moves"):
        scene.compile().center_of_mass([])


def test_a_body_may_be_given_itself_or_by_its_name():
    scene = Scene()
    arm = scene.world.attach(Body("arm", mass=1.0, center_of_mass=(0, 0, -1)), joints.revolute("y"))
    dynamics = scene.compile()
    J = dynamics.jacobian([0.3], arm, (0, 0, -1))
    np.testing.assert_array_equal(J, dynamics.jacobian([0.3], "arm", (0, 0, -1)))
    pushed = [rd.Simulation(dynamics) for _ in range(2)]
    pushed[0].apply_force(arm, (1, 0, 0), (0, 0, -1))
    pushed[1].apply_force("arm", (1, 0, 0), (0, 0, -1))
    for simulation in pushed:
        simulation.step()
    np.testing.assert_array_equal(pushed[0].v, pushed[1].v)
    assert pushed[0].v[0] != 0.0
    with pytest.raises(rd.ModelError, match="unknown body 'leg'"):
        dynamics.jacobian([0.3], "leg")


def test_what_beginners_write_is_told():
    scene = Scene()
    ratio = scene.parameter("ratio", 2.0)
    points = np.array([[0, 0, 0], [1, 0, 1], [2, 1, 0], [3, 1, 1.0]])
    for make, message in (
        (
            lambda: joints.revolute("z").follow("a", ratio),
            "finite multiplier .* numbers; scene parameters go into driven",
        ),
        (lambda: joints.curve([sp.Symbol("s"), 0, 0], "s"), "its coordinate is the SymPy symbol that stands in f"),
        (lambda: joints.bspline(points, name=""), "the name of its coordinate is an identifier"),
        (lambda: joints.bspline([[ratio, 0, 0], *points[1:]]), "scene parameters cannot stand in it"),
    ):
        with pytest.raises(rd.ModelError, match=message):
            make()
    leader = scene.world.attach(Body("a", mass=1.0, inertia=np.eye(3)), joints.revolute("z"))
    assert joints.revolute("z").driven(leader.q).drive is not None  # a tuple of one
