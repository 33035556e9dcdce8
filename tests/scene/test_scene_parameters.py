"""Parameters of a scene: declared once, finite, belonging to it."""

import numpy as np
import pytest
import sympy as sp
from test_scene import INF, NAN, body

import recursive_dyn as rd
from scene import Scene, joints

# Parameters


@pytest.mark.parametrize("name", ["2nd", "", "a b", "class", "x;y", 7, None])
def test_a_parameter_name_is_an_identifier(name):
    with pytest.raises(rd.ModelError, match="identifier"):
        Scene().parameter(name, 1.0)


@pytest.mark.parametrize("value", [NAN, INF, "long", None, [1.0, 2.0]])
def test_a_parameter_value_is_a_finite_number(value):
    with pytest.raises(rd.ModelError, match="parameter 'R'"):
        Scene().parameter("R", value)


def test_a_parameter_is_declared_once():
    scene = Scene()
    scene.parameter("R", 1.0)
    with pytest.raises(rd.ModelError, match="parameter 'R' is declared already"):
        scene.parameter("R", 2.0)


R = sp.Symbol("R", real=True)


@pytest.mark.parametrize(
    ("given", "at", "what"),
    [
        ({"mass": R}, None, "mass"),
        ({"center_of_mass": (R, 0, 0)}, None, "centre of mass"),
        ({"inertia": np.array([[R, 0, 0], [0, 1, 0], [0, 0, 1]])}, None, "inertia"),
        ({}, rd.pose((R, 0, 0)), "placement"),
    ],
)
def test_a_symbol_that_was_not_declared_is_refused(given, at, what):
    scene = Scene()
    scene.world.attach(body("arm", **given), joints.free(), at=at)
    with pytest.raises(rd.ModelError, match=rf"{what} of body 'arm'.*'R'.*scene.parameter"):
        scene.compile()


def test_a_parameter_belongs_to_its_scene():
    other = Scene()
    weight = other.parameter("weight", 2.0)
    scene = Scene()
    scene.world.attach(body("arm", mass=weight), joints.free())
    with pytest.raises(rd.ModelError, match="'weight'"):
        scene.compile()


@pytest.mark.parametrize(
    ("value", "given", "reason"),
    [
        (-1.0, {"mass": R}, "mass at the parameters' values must be positive"),
        (0.0, {"mass": R}, "mass at the parameters' values must be positive"),
        (2.5, {"inertia": np.array([[1, 0, 0], [0, 1, 0], [0, 0, R]])}, "sum of the others"),
        (-0.1, {"inertia": np.array([[1, 0, 0], [0, 1, 0], [0, 0, R]])}, "positive definite"),
    ],
)
def test_mass_properties_are_checked_at_the_parameters_values(value, given, reason):
    scene = Scene()
    scene.parameter("R", value)
    scene.world.attach(body("arm", **given), joints.free())
    with pytest.raises(rd.ModelError, match=rf"(?s)body 'arm'.*{reason}"):
        scene.compile()
