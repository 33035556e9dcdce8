"""Slips of the first ten minutes: each is refused where it is made, by name, with what to do."""

import copy
import pickle
import re

import numpy as np
import pytest

import recursive_dyn as rd
from bridge import Camera, Pictures, Plugin, PyBulletMirror
from recursive_dyn import manifold
from scene import Body, Scene, joints, shapes


def scene_of(body: Body) -> Scene:
    scene = Scene()
    scene.world.attach(body, joints.revolute("y"))
    return scene


@pytest.fixture(scope="module")
def simulation():
    return rd.Simulation(scene_of(Body("ball", [shapes.Sphere(0.1)])).compile())


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("Q", "it is called 'q'"), ("dt", "it is called 'timestep'"), ("torque", "it is called 'tau'"),
        ("timstep", "did you mean 'timestep'"), ("contol", "did you mean 'control'"), ("xyz", "a subclass declares"),
    ],
)  # fmt: skip
def test_a_misspelt_attribute_is_no_attribute(simulation, name, said):
    with pytest.raises(rd.StateError, match=f"a Simulation has no '{name}'; {said}"):
        setattr(simulation, name, 0.1)
    assert not hasattr(simulation, name)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("mass", r"Body\('arm', .*scene.parameter.*body.properties"), ("inertia", "scene.parameter"),
        ("color", r"shapes have it.*color=\(1, 0, 0, 1\)"), ("friction", r"rd.Material\(friction"),
        ("position", r"attach.*simulation.place\('arm'"), ("limits", "its joint has it"),
        ("shape", "did you mean 'shapes'"), ("colr", "a subclass of Body declares"),
    ],
)  # fmt: skip
def test_what_a_body_does_not_have_or_keeps_is_not_set(name, said):
    body = Body("arm", [shapes.Sphere(0.1)], mass=2.0)
    before = dict(vars(body))
    with pytest.raises(rd.ModelError, match=rf"'arm'.*{said}|{said}"):
        setattr(body, name, 3.0)
    assert vars(body) == before and body.mass == 2.0


def test_a_subclass_of_body_has_attributes_of_its_own_and_copies_keep_them():
    class Wheel(Body):
        slip: float = 0.0

        def __init__(self, name: str) -> None:
            super().__init__(name, [shapes.Sphere(0.1)])
            self.slip, self._own = 0.5, 1

    wheel = copy.deepcopy(Wheel("w"))
    assert (wheel.slip, wheel._own) == (0.5, 1)
    with pytest.raises(rd.ModelError, match="body 'w' has no 'slop'; did you mean 'slip'"):
        wheel.slop = 1.0


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (
            lambda scene, sim: PyBulletMirror(sim, scene, gui=False),
            r"PyBulletMirror\(scene, simulation\), the other way",
        ),
        (lambda scene, sim: Pictures(sim, scene), r"Pictures\(scene, simulation\), the other way"),
        (lambda scene, sim: PyBulletMirror("crane.urdf", sim, gui=False), "not str first"),
        (lambda scene, sim: PyBulletMirror(scene, sim.dynamics, gui=False), r"rd.Simulation\(scene.compile\(\)\)"),
        (lambda scene, sim: PyBulletMirror(scene, None, gui=False), "not of NoneType"),
    ],
)
def test_a_view_says_what_it_takes_in_which_order(simulation, view, said):
    with pytest.raises(rd.ModelError, match=said):
        view(scene_of(Body("ball", [shapes.Sphere(0.1)])), simulation)


@pytest.mark.parametrize("camera", [(1, 2, 3), "ball", 2.0])
def test_a_camera_is_a_camera(simulation, camera):
    scene = scene_of(Body("ball", [shapes.Sphere(0.1)]))
    with pytest.raises(rd.ModelError, match=r"camera takes a bridge.Camera, such as Camera\("):
        Pictures(scene, simulation).image(64, 48, camera=camera)
    with (
        PyBulletMirror(scene, rd.Simulation(scene.compile()), gui=False) as mirror,
        pytest.raises(rd.ModelError, match=r"camera takes a bridge.Camera, such as Camera\("),
    ):
        mirror.image(64, 48, camera=camera)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: joints.revolute("y", limits=(-90, 90)), r"revolute joint: angles are in radians, and \(-90, 90\)"),
        (lambda: joints.revolute("y", limits=(-22.5, np.inf)), r"\(-22.5, inf\)"),
        (
            lambda: joints.universal(limits=(-45, 45)),
            r"universal joint: .*radians, and \(-45, 45, -45, 45\)",
        ),
        (lambda: joints.euler("zyx", limits=[(-1, 1), (-1, 1), (-180, 180)]), "euler joint: angles are in radians"),
        (lambda: rd.pose(rpy=(0, 90, 0)), r"rpy of a pose: angles are in radians, and \(0, 90, 0\).*np.radians"),
    ],
)
def test_what_looks_like_degrees_is_told_where_it_is_given(made, said):
    with pytest.warns(UserWarning, match=said) as told:
        made()
    assert [w.filename for w in told] == [__file__]


@pytest.mark.parametrize(
    "made",
    [
        lambda: joints.revolute("y", limits=(-12, 12)), lambda: joints.revolute("y", limits=(0, 20 * np.pi)),
        lambda: joints.revolute("y", limits=(-np.inf, 1)), lambda: joints.prismatic("y", limits=(-90, 90)),
        lambda: joints.screw("z", 1e-3, limits=(0, 200)), lambda: rd.pose((90, 0, 0), np.radians([0, 90, 700])),
        lambda: joints.revolute("y", limits=(-10000, 10000)),  # as robots' files say that there are none
    ],
)  # fmt: skip
def test_radians_and_lengths_are_not(made, recwarn):
    made()
    assert not recwarn.list


def over_a_floor() -> Scene:
    scene = Scene()
    scene.world.shapes.append(shapes.Plane())
    scene.world.attach(Body("ball", [shapes.Sphere(0.1)]), joints.free(), at=rd.pose((0, 0, 1)))
    return scene


@pytest.mark.parametrize("method", ["auto", "velocity_constraints"])
def test_who_steps_a_simulation_that_nothing_finds_contacts_for_is_told_once(method, recwarn):
    scene = over_a_floor()
    sim = rd.Simulation(scene.compile(method))
    with pytest.warns(
        UserWarning, match=r"'ball' passes through.*PyBulletMirror\(scene.*Plugin.*detect = None"
    ) as told:
        sim.step()
    assert [w.filename for w in told] == [__file__]
    sim.step(3)
    pickle.loads(pickle.dumps(rd.Simulation(scene.compile(method)))).step()  # whose scene is elsewhere
    assert not recwarn.list


def no_scenery(scene: Scene) -> rd.Simulation:
    scene.world.shapes.clear()
    return rd.Simulation(scene.compile())


def no_shapes(scene: Scene) -> rd.Simulation:
    scene["ball"].shapes[:] = [shapes.Sphere(0.1, collision=False)]
    return rd.Simulation(scene.compile())


def passing(scene: Scene) -> rd.Simulation:
    scene.pair("world", "ball", collide=False)
    return rd.Simulation(scene.compile())


def refused(scene: Scene) -> rd.Simulation:
    sim = rd.Simulation(scene.compile())
    sim.detect = None
    return sim


def mirrored(scene: Scene) -> rd.Simulation:
    sim = rd.Simulation(scene.compile())
    with PyBulletMirror(scene, sim, gui=False) as mirror:
        mirror.step()
    return sim


def only_shown(scene: Scene) -> PyBulletMirror:
    return PyBulletMirror(scene, rd.Simulation(scene.compile()), gui=False, contact=False)


@pytest.mark.parametrize("made", [no_scenery, no_shapes, passing, refused, mirrored, only_shown, Plugin])
def test_and_nobody_else_is(made, recwarn):
    made(over_a_floor()).step()
    assert not recwarn.list


def test_a_motion_on_a_manifold_is_as_strict():
    q = manifold.unit_vectors("q")
    equations = manifold.derive(manifold.dt(q).dot(manifold.dt(q)) / 2, configuration=[q])
    motion = manifold.Motion(equations.compile())
    motion.control = None
    assert repr(motion) == "<Motion of q: time 0 s, energy 0 J, steps of 0.001 s>"
    with pytest.raises(rd.StateError, match="a Motion has no 'dt'; it is called 'timestep'"):
        motion.dt = 0.1


def test_a_subclass_has_attributes_of_its_own(simulation):
    class Counted(rd.Simulation):
        steps: int

        def __init__(self, dynamics):
            super().__init__(dynamics)
            self.steps = 0

    assert Counted(simulation.dynamics).steps == 0


@pytest.mark.parametrize("value", [(0, -9.81), (0, 0, np.nan), "down", 9.81])
def test_gravity_is_three_finite_numbers(value):
    scene = Scene()
    with pytest.raises(rd.ModelError, match="scene: gravity"):
        scene.gravity = value
    assert scene.gravity.tolist() == [0, 0, -9.81]


@pytest.mark.parametrize(
    ("slip", "said"),
    [
        (lambda: Body("ball", shapes.Sphere(0.1)), "body 'ball': shapes is a list; write [shapes.Sphere(...)]"),
        (lambda: shapes.Box(0.1, 0.2, 0.3), "Box((0.1, 0.2, 0.3))"),
        (lambda: shapes.Capsule(0.1), "Capsule takes radius, length"),
        (lambda: Camera(target=(0, 0)), "a camera's target is 3 numbers, or a body's name"),
        (lambda: Camera(distance="far"), "a camera's distance is one number"),
        (lambda: Camera(yaw=np.inf), "a camera's yaw must be finite"),
    ],
)  # fmt: skip
def test_what_is_no_shape_body_or_camera(slip, said):
    with pytest.raises(rd.ModelError, match=re.escape(said)):
        slip()


def test_a_camera_takes_an_array():
    assert Camera(target=np.array([0, 0, 1])).target == (0.0, 0.0, 1.0)


def test_derivatives_by_parameters_say_what_is_missing():
    scene = Scene()
    mass, rotor = scene.parameter("mass", 1.0), scene.parameter("turning", 2.0)
    arm = scene.world.attach(Body("arm", mass=mass, inertia=rotor * np.eye(3)), joints.revolute("y"))
    arm.attach(Body("bob", mass=mass, inertia=np.eye(3)), joints.revolute("x"), at=rd.pose((0.3, 0, -0.5)))
    dynamics = scene.compile()
    q, v, tau = [0.3, 0.2], [0.1, -0.2], [0.5, 0.1]
    both = dynamics.parameter_derivative("forward_dynamics", ["turning", "mass"], q, v, tau)
    for column, name in enumerate(("turning", "mass")):
        one = dynamics.parameter_derivative("forward_dynamics", name, q, v, tau)
        np.testing.assert_array_equal(both[:, column], one)
    without = dynamics.parameter_derivative("forward_dynamics", "mass", q, v)
    np.testing.assert_array_equal(without, dynamics.parameter_derivative("forward_dynamics", "mass", q, v, [0, 0]))
    with pytest.raises(rd.StateError, match=r"parameter_derivative\('mass_matrix', 'mass', ...\) is at q, but 0"):
        dynamics.parameter_derivative("mass_matrix", "mass")
    for names in ((), (q, v, tau)):
        with pytest.raises(rd.ModelError, match=r"by the name of a scene parameter.*declares mass, turning"):
            dynamics.parameter_derivative("forward_dynamics", *names)


def test_what_floats_without_mass_is_named(tmp_path):
    """Seven coordinates of one body's inertia: M is singular wherever it is."""
    file = tmp_path / "arm.urdf"
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    file.write_text(
        f'<robot name="r"><link name="base"/><link name="arm">{inertial}</link><joint name="j" type="continuous">'
        '<parent link="base"/><child link="arm"/></joint></robot>'
    )
    with pytest.warns(UserWarning, match="root link 'base' floats but has no mass"):
        scene = Scene.from_urdf(file, fixed_base=False)
    with pytest.raises(rd.ModelError, match=r"body 'base' and what hangs on it move in 7 ways.*fixed_base=True"):
        scene.compile()
    for base in (True, None):
        assert Scene.from_urdf(file, fixed_base=base).compile().nv == 1
