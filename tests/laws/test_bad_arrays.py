"""Arrays of the wrong shape, numbers that are not finite, unknown names: typed errors that say where."""

import numpy as np
import pytest
from trees import mechanism

import recursive_dyn as rd
from scene import Body, Scene, joints

NAN, INF = float("nan"), float("inf")


@pytest.fixture(scope="module")
def d():
    scene = Scene()
    base = scene.world.attach(Body("base", mass=1.0, inertia=np.eye(3)), joints.free())
    base.attach(Body("arm", mass=1.0, inertia=np.eye(3)), joints.revolute("x"), at=rd.pose((0, 1, 0)))
    return scene.compile()


def calls(d):
    """(function name, arguments that fit) of everything that takes arrays."""
    q, v, w = d.neutral(), np.zeros(d.nv), np.zeros((len(d.bodies), 6))
    return {
        "forward_dynamics": [("q", q), ("v", v), ("tau", v), ("external", w)],
        "inverse_dynamics": [("q", q), ("v", v), ("a", v), ("external", w)],
        "mass_matrix": [("q", q)],
        "bias": [("q", q), ("v", v)],
        "gravity": [("q", q)],
        "passive_forces": [("q", q), ("v", v)],
        "poses": [("q", q)],
        "velocities": [("q", q), ("v", v)],
        "kinetic_energy": [("q", q), ("v", v)],
        "potential_energy": [("q", q)],
        "elastic_energy": [("q", q)],
        "momentum": [("q", q), ("v", v)],
        "center_of_mass": [("q", q)],
        "difference": [("q", q), ("q_end", q)],
        "generalized_forces": [("q", q), ("wrenches", w)],
        "cartesian_forces": [("q", q), ("tau", v)],
        "generalized_velocities": [("q", q), ("velocities", w)],
        "joint_wrenches": [("q", q), ("v", v), ("a", v), ("external", w)],
    }


CASES = [
    (f, i)
    for f, n in {
        "forward_dynamics": 4, "inverse_dynamics": 4, "mass_matrix": 1, "bias": 2, "gravity": 1, "passive_forces": 2,
        "poses": 1, "velocities": 2, "kinetic_energy": 2, "potential_energy": 1, "elastic_energy": 1, "momentum": 2,
        "center_of_mass": 1, "difference": 2, "generalized_forces": 2, "cartesian_forces": 2,
        "generalized_velocities": 2, "joint_wrenches": 4,
    }.items()
    for i in range(n)
]  # fmt: skip


@pytest.mark.parametrize("bad", [NAN, INF, -INF])
@pytest.mark.parametrize(("function", "position"), CASES)
def test_a_number_that_is_not_finite_is_named(d, function, position, bad):
    arguments = [x.copy() for _, x in calls(d)[function]]
    arguments[position].flat[-1] = bad
    with pytest.raises(rd.StateError, match=r"not finite at (coordinate|body) '(arm|base)"):
        getattr(d, function)(*arguments)
    batch = [np.stack([x, x, x]) for _, x in calls(d)[function]]
    batch[position][1].flat[-1] = bad
    with pytest.raises(rd.StateError, match="not finite"):
        getattr(d, function)(*batch)


@pytest.mark.parametrize(("function", "position"), CASES)
@pytest.mark.parametrize("spoil", ["longer", "shorter", "scalar", "text", "ragged"])
def test_a_wrong_shape_is_named(d, function, position, spoil):
    arguments = [x.copy() for _, x in calls(d)[function]]
    x = arguments[position]
    arguments[position] = {
        "longer": np.zeros((*x.shape[:-1], x.shape[-1] + 1)),
        "shorter": x[..., :-1],
        "scalar": 1.0,
        "text": "standing still",
        "ragged": [[1.0, 2.0], [3.0]],
    }[spoil]
    with pytest.raises(rd.StateError, match=r"shape|numbers"):
        getattr(d, function)(*arguments)


def test_leading_axes_that_do_not_broadcast_are_refused(d):
    q, v = np.tile(d.neutral(), (3, 1)), np.zeros((4, d.nv))
    for function in ("bias", "velocities", "momentum", "forward_dynamics"):
        with pytest.raises(rd.StateError, match=r"\(3, .*\(4, "):
            getattr(d, function)(q, v)
    with pytest.raises(rd.StateError):
        d.forward_dynamics(q, v[:3], external=np.zeros((4, 2, 6)))


def test_an_empty_batch_gives_an_empty_batch(d):
    assert d.forward_dynamics(np.zeros((0, d.nq)), np.zeros((0, d.nv))).shape == (0, d.nv)
    assert d.poses(np.zeros((2, 0, d.nq))).shape == (2, 0, 2, 4, 4)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_bad_time_or_point_is_refused(d, bad):
    with pytest.raises(rd.StateError, match="dt"):
        d.integrate(d.neutral(), np.zeros(d.nv), bad)
    with pytest.raises(rd.StateError, match="point"):
        d.jacobian(d.neutral(), "arm", (0, bad, 0))


def test_bad_text_for_a_time_or_a_point_is_refused(d):
    with pytest.raises(rd.StateError, match="dt"):
        d.integrate(d.neutral(), np.zeros(d.nv), "soon")
    with pytest.raises(rd.StateError, match="point"):
        d.jacobian(d.neutral(), "arm", "elbow")
    with pytest.raises(rd.StateError, match="point"):
        d.jacobian(d.neutral(), "arm", (0, 0))


def test_unknown_names_are_answered_with_the_known_ones(d):
    with pytest.raises(rd.ModelError, match=r"unknown body 'leg'.*base, arm"):
        d.jacobian(d.neutral(), "leg")
    with pytest.raises(rd.ModelError, match=r"unknown function 'forwards'.*forward_dynamics"):
        d.operation_count("forwards")
    with pytest.raises(rd.ModelError, match=r"unknown method 'newton'.*recursive"):
        mechanism(5, 5).scene.compile("newton")


def test_a_quaternion_of_zeros_is_refused_and_one_of_any_length_is_not(d):
    q = d.neutral()
    q[3:7] = 0.0
    with pytest.raises(rd.StateError, match="quaternion of zeros"):
        d.poses(q)
    q[3:7] = 0.0, 3e100, 0.0, 4e100
    np.testing.assert_allclose(d.poses(q), d.poses([*q[:3], 0.0, 0.6, 0.0, 0.8, q[7]]), atol=1e-15)


NO_NUMBERS = {
    "complex": lambda x: x + 0j,
    "complex list": lambda x: (x + 0j).tolist(),
    "digits": lambda x: x.astype(str),
    "list of digits": lambda x: x.astype(str).tolist(),
    "objects with digits": lambda x: np.where(np.arange(x.size).reshape(x.shape) == 0, "1", x.astype(object)),
    "bytes": lambda x: x.astype(bytes),
    "masked": lambda x: np.ma.masked_array(x, mask=np.arange(x.size).reshape(x.shape) == 0),
    "dates": lambda x: x.astype("datetime64[s]"),
}


@pytest.mark.parametrize("kind", NO_NUMBERS)
@pytest.mark.parametrize(("function", "position"), CASES)
def test_what_is_no_real_number_is_refused_by_its_name(d, function, position, kind):
    name = calls(d)[function][position][0]
    for arguments in ([x.copy() for _, x in calls(d)[function]], [np.stack([x, x]) for _, x in calls(d)[function]]):
        arguments[position] = NO_NUMBERS[kind](arguments[position])
        with pytest.raises(rd.StateError, match=f"'{name}'"):
            getattr(d, function)(*arguments)


@pytest.mark.parametrize("bad", ["0.1", 1j, b"1", np.ma.masked_array([1.0, 2.0, 3.0], mask=[1, 0, 0])])
def test_what_is_no_real_number_is_refused_as_time_point_state_and_parameter(d, bad):
    q, v = d.neutral(), np.zeros(d.nv)
    with pytest.raises(rd.StateError, match="'dt'"):
        d.integrate(q, v, bad)
    with pytest.raises(rd.StateError, match="'point'"):
        d.jacobian(q, "arm", [bad, bad, bad])
    with pytest.raises(rd.StateError, match="'q'"):
        d.project([bad] * d.nq)
    scene = Scene()
    scene.parameter("mass", 1.0)
    scene.world.attach(Body("b", mass=1.0, inertia=np.eye(3)), joints.revolute("x"))
    with pytest.raises(rd.StateError, match="parameter 'mass' needs a finite number"):
        scene.compile().parameters["mass"] = bad


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_projection_of_what_is_not_finite_is_refused(d, bad):
    """Without constraints too, where nothing would be computed."""
    q, v = d.neutral(), np.zeros(d.nv)
    q[-1] = v[-1] = bad
    with pytest.raises(rd.StateError, match="'q' is not finite at coordinate 'arm"):
        d.project(q)
    with pytest.raises(rd.StateError, match="'v' is not finite at coordinate 'arm"):
        d.project(d.neutral(), v)
    given = d.neutral()
    kept, _ = d.project(given)
    kept[0] = 7.0
    assert given[0] == d.neutral()[0]


def test_scalars_and_arrays_of_every_real_kind_are_taken(d):
    q, v = d.neutral(), np.zeros(d.nv)
    expected = d.integrate(q, v + 1.0, 0.5)
    for kind in (np.float32, np.float16, np.longdouble, np.int8, np.uint64, object):
        np.testing.assert_array_equal(d.integrate(q.astype(kind), (v + 1.0).astype(kind), np.float32(0.5)), expected)
    np.testing.assert_array_equal(d.integrate(list(q), tuple(v + 1.0), np.array(0.5)), expected)
    np.testing.assert_array_equal(d.integrate(q, [True] * d.nv, 0.5), expected)


def test_a_wrong_number_of_arguments_is_answered_with_the_right_one(d):
    with pytest.raises(rd.StateError, match="step takes q, v, tau, dt, but 1 arguments were given"):
        d.call("step", d.neutral())


def test_what_is_no_name_and_no_seed_is_refused(d):
    with pytest.raises(rd.ModelError, match=r"unknown function '3'; choose one of forward_dynamics"):
        d.operation_count(3)
    with pytest.raises(rd.ModelError, match=r"unknown parameter \['mass'\]"):
        d.parameters[["mass"]] = 1.0
    np.testing.assert_array_equal(d.random(5), d.random(np.random.default_rng(5)))
    for bad in ("seed", -1, 0.5):
        with pytest.raises(rd.StateError, match="a NumPy generator or a seed"):
            d.random(bad)
