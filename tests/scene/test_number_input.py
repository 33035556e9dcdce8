"""What is no real number is refused wherever a scene takes one: text, complex and masked numbers, NaN."""

import numpy as np
import pytest
import sympy as sp

import recursive_dyn as rd
from scene import Body, Scene, joints, linkages, shapes

MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])
WRONG = {
    "text": ("1.0", ["1", "2", "3"]),
    "bytes": (b"1", [b"1", b"2", b"3"]),
    "complex": (1 + 0j, [1 + 0j, 2, 3]),
    "complex array": (np.complex128(1), np.array([1, 2, 3], dtype=complex)),
    "masked": (np.ma.masked, MASKED),
    "nan": (np.nan, [1.0, np.nan, 3.0]),
    "imaginary": (sp.I, [sp.I, 2, 3]),
    "nothing": (None, [None, 1, 2]),
}


def scene_with(gravity) -> Scene:
    scene = Scene()
    scene.gravity = gravity
    return scene


NUMBERS = {
    "mass": lambda x: Body("b", mass=x),
    "density": lambda x: Body("b", [shapes.Sphere(1.0)], density=x),
    "radius": lambda x: shapes.Sphere(x),
    "length": lambda x: shapes.Cylinder(0.1, x),
    "pitch": lambda x: joints.screw("z", x),
    "damping": lambda x: joints.revolute("x", damping=[x]),
    "limits": lambda x: joints.revolute("x", limits=(x, 4.0)),
    "multiplier": lambda x: joints.revolute("x").follow("a", x),
    "wheel": lambda x: joints.wheel(x, 2.0),
    "surface": lambda x: joints.surfaces.sphere(x),
    "turn": lambda x: joints.surface_on_surface(joints.surfaces.plane(), joints.surfaces.sphere(1.0), turn=x),
    "parameter": lambda x: Scene().parameter("p", x),
    "linkage": lambda x: linkages.slider_crank(0.1, 0.2, 0.5, x),
}
VECTORS = {
    "center_of_mass": lambda x: Body("b", mass=1.0, center_of_mass=x),
    "inertia": lambda x: Body("b", mass=1.0, inertia=[x, [0, 1, 0], [0, 0, 1]]),
    "size": lambda x: shapes.Box(x),
    "gravity": Scene,
    "gravity set": scene_with,
    "axis": lambda x: joints.revolute(x),
    "points": lambda x: joints.bspline([[0, 0, 0], x, [1, 1, 0], [5, 2, 2]]),
    "up": lambda x: joints.bspline(np.eye(4)[:, :3], frame="up", up=x),
    "place": lambda x: Scene().world.attach(Body("b", mass=1.0), joints.free(), at=[[*x, 1]] * 4),
    "pose": lambda x: joints.fixed([[*x, 1]] * 4),
    "shape's pose": lambda x: shapes.Sphere(1.0, at=[[*x, 1]] * 4),
}


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("what", NUMBERS)
def test_what_is_no_real_number_is_refused(what, kind):
    if (what, kind) in (("mass", "nothing"), ("density", "nothing"), ("limits", "nothing"), ("damping", "nothing")):
        return  # which stands for what is not given, or is told below
    with pytest.raises(rd.ModelError):
        NUMBERS[what](WRONG[kind][0])


@pytest.mark.parametrize("kind", WRONG)
@pytest.mark.parametrize("what", VECTORS)
def test_what_is_no_real_vector_is_refused(what, kind):
    if what == "inertia" and kind == "masked":
        return  # a list of which one is masked: asked for by itself
    with pytest.raises(rd.ModelError):
        VECTORS[what](WRONG[kind][1])


def test_none_among_numbers_is_refused():
    for settings in ({"limits": (None, 1.0)}, {"damping": [None]}):
        with pytest.raises(rd.ModelError):
            joints.revolute("x", **settings)
    with pytest.raises(rd.ModelError, match="inertia"):
        Body("b", mass=1.0, inertia=[MASKED, [0, 1, 0], [0, 0, 1]])


def test_gravity_that_was_spoilt_in_place_is_refused():
    scene = Scene()
    scene.world.attach(Body("b", mass=1.0), joints.prismatic("x"))
    scene.gravity[1] = np.nan
    with pytest.raises(rd.ModelError, match="gravity"):
        scene.model()


def test_numbers_of_numpy_and_sympy_are_numbers():
    assert Body("b", mass=np.float32(2)).mass == 2.0
    assert Body("b", mass=sp.Rational(1, 2), center_of_mass=sp.Matrix([0, sp.pi, 1])).mass == 0.5
    assert joints.revolute("x", limits=np.array([0, 1]), damping=np.int64(2)).coordinates[0].damping == 2.0


def test_text_is_never_executed():
    """SymPy's own functions execute text."""
    body = Body("b", mass=1.0)
    for make in (
        lambda: linkages.four_bar("print(1)", 1.0, 2.0, 2.5, 3.0),
        lambda: linkages.slider_crank("print(1)", 0.2, 0.5),
        lambda: body.point(("1", 0, 0)),
        lambda: joints.curve(["1", "2", "3"], sp.Symbol("q")),
        lambda: joints.revolute("x").driven("q"),
        lambda: Body("c", mass="2*3"),
    ):
        with pytest.raises(rd.ModelError):
            make()
