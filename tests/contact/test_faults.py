"""Bad input and faults: typed errors that say what to do, and the state is kept."""

import numpy as np
import pytest
from contact_scenes import at, mirror, put

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from scene import Scene, shapes


def pile() -> Scene:
    scene = Scene()
    for k in range(2):
        put(scene, f"box{k}", shapes.Box((0.2,) * 3), at(z=0.1 + 0.2 * k))
    return scene


def contact(**changes) -> Contacts:
    """Body 0 on the ground, as a detector may report it."""
    given = {
        "a": [0],
        "b": [STATIC],
        "point_a": [[0.0, 0.0, 0.0]],
        "point_b": [[0.0, 0.0, 0.0]],
        "normal": [[0.0, 0.0, 1.0]],
        "distance": [0.0],
        "friction": [[0.5, 0.5, 0.0, 0.0, 0.0]],
        "key": [1],
    }
    return Contacts(**{name: np.array(value) for name, value in {**given, **changes}.items()})


@pytest.fixture
def moving():
    """A simulation of one body with a state that must be kept."""
    scene = Scene()
    put(scene, "ball", shapes.Sphere(0.1), at(z=0.1))
    sim = rd.Simulation(scene.compile())
    sim.v = [1.0, 2.0, 3.0, 0.1, 0.2, -0.3]
    sim.step(3)
    return sim


def assert_kept(sim: rd.Simulation, call, message: str, error: type[Exception] = rd.StateError) -> None:
    before = sim.q.copy(), sim.v.copy(), sim.time
    with pytest.raises(error, match=message):
        call()
    np.testing.assert_array_equal(sim.q, before[0])
    np.testing.assert_array_equal(sim.v, before[1])
    assert sim.time == before[2]


# What a person gives


@pytest.mark.parametrize(
    "given",
    [
        {"friction": -0.1},
        {"friction": float("nan")},
        {"friction": float("inf")},
        {"friction": "rough"},
        {"static_friction": -1.0},
        {"rolling_friction": -1e-9},
        {"spinning_friction": float("nan")},
        {"restitution": 1.0001},
        {"restitution": -0.1},
        {"friction": 0.5, "static_friction": 0.4},
    ],
    ids=str,
)
def test_impossible_materials(given):
    with pytest.raises(rd.ModelError, match=f"material: {list(given)[-1]}"):
        rd.Material(**given)


def test_unknown_pairs_are_told_by_name():
    with mirror(pile()) as shown:
        for call in (shown.pair, shown.scene.pair):
            with pytest.raises(rd.ModelError, match=r"'box7' is no body of this scene, which has world, box0, box1"):
                call("box0", "box7")
            with pytest.raises(rd.ModelError, match=r"rd\.Material"):
                call("box0", "box1", material=0.5)
        shown.step(60)
        assert shown.sim.frames()[0][1, 2, 3] == pytest.approx(0.3, abs=1e-4), "nothing changed"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("iterations", 0),
        ("iterations", 2.5),
        ("iterations", True),
        ("tolerance", -1e-9),
        ("tolerance", float("nan")),
        ("restitution_threshold", -0.1),
        ("restitution_threshold", "fast"),
        ("slop", float("inf")),
        ("slop", -1e-5),
        ("detect", "never"),
        ("detect", None),
        ("substeps", 0),
        ("substeps", 1.0),
        ("erp", 0.2),
    ],
)
def test_settings_refuse_what_makes_no_sense(moving, name, value):
    before = vars(moving.contact).copy()
    with pytest.raises(rd.StateError, match=name):
        setattr(moving.contact, name, value)
    assert vars(moving.contact) == before


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"velocity": float("nan")}, "finite"),
        ({"velocity": "fast"}, "velocity is a number"),
        ({"position": float("inf")}, "finite"),
        ({"position": True}, "position is a number"),
        ({"max_force": -1.0}, "max_force"),
        ({"max_force": float("nan")}, "max_force"),
        ({"position": 0.0, "kp": -1.0}, "kp must not be negative"),
        ({"kd": float("inf")}, "kd must be finite"),
        ({"kp": 3.0}, "needs a position"),
        ({"gear": 0.0}, "gear is one number above 0"),
        ({"gear": (1.0, 2.0)}, "gear is one number above 0"),
        ({"position": 0.0, "frequency": 0.0}, "frequency is above 0"),
        ({"position": 0.0, "frequency": (1.0, 2.0)}, "frequency is one number"),
        ({"position": 0.0, "damping_ratio": -0.1}, "damping_ratio must not be negative"),
        ({"position": 0.0, "kp": 3.0, "frequency": 2.0}, "kp is given twice"),
        ({"position": 0.0, "kd": 3.0, "damping_ratio": 2.0}, "kd is given twice"),
    ],
    ids=str,
)
def test_motors_refuse_what_makes_no_sense(given, message):
    with pytest.raises(rd.StateError, match=f"motor.*{message}"):
        rd.Motor(**given)


def test_motors_of_unknown_coordinates(moving):
    with pytest.raises(rd.ModelError, match=r"unknown coordinate 'ball\.q9'; the scene has"):
        moving.motors["ball.q9"] = rd.Motor(velocity=1.0)
    with pytest.raises(rd.StateError, match="takes a Motor"):
        moving.motors[moving.dynamics.velocity_coordinates[0]] = 2.0
    with pytest.raises(rd.ModelError, match="no position"):  # what turns freely has no angle
        moving.motors[moving.dynamics.velocity_coordinates[0]] = rd.Motor(position=0.3)
    assert len(moving.motors) == 0


# Detectors


@pytest.mark.parametrize("detector", [3, "bullet", [contact()], contact()], ids=["number", "text", "list", "contacts"])
def test_a_detector_is_a_function(moving, detector):
    with pytest.raises(rd.StateError, match="detect takes a function"):
        moving.detect = detector
    assert moving.detect is None


@pytest.mark.parametrize(
    "found", [None, [], 0, "nothing", np.zeros((1, 3))], ids=["None", "list", "0", "text", "array"]
)
def test_a_detector_returns_contacts(moving, found):
    moving.detect = lambda sim: found
    assert_kept(moving, moving.step, "detect returns Contacts, not")


@pytest.mark.parametrize(
    "changes",
    [
        {"a": [1]},
        {"b": [7]},
        {"a": [-2]},
        {"b": [-5]},
        {"normal": [[np.nan, 0.0, 1.0]]},
        {"distance": [np.inf]},
        {"point_a": [[0.0, np.nan, 0.0]]},
        {"friction": [[0.5, np.nan, 0.0, 0.0, 0.0]]},
        {"a": [STATIC]},
        {"a": [0], "b": [0]},
        {"normal": [[0.0, 0.0, 0.0]]},
        {"normal": [[0.0, 0.0, 3.0]]},
        {"friction": [[-0.5, -0.5, 0.0, 0.0, 0.0]]},
        {"friction": [[0.5, 0.5, 0.0, 0.0, 1.5]]},
        {"friction": [[0.2, 0.5, 0.0, 0.0, 0.0]]},
        {"point_a": [[0.0, 0.0]]},
        {"distance": [0.0, 0.0]},
        {"key": [1, 2]},
        {"a": ["ball"]},
        {"drift": [[np.nan, 0.0, 0.0]]},
        {"drift": [[0.0, 0.0]]},
    ],
    ids=str,
)
def test_a_contact_that_cannot_be_is_refused(moving, changes):
    moving.detect = lambda sim: contact(**changes)
    assert_kept(moving, moving.step, "detector|contact")


def test_a_detector_that_fails_keeps_the_state(moving):
    def fails(sim):
        raise ValueError("no such file")

    moving.detect = fails
    assert_kept(moving, moving.step, "no such file", ValueError)
    moving.detect = lambda sim: contact(point_a=[sim.frames()[0][0, :3, 3] - (0, 0, 0.1)])
    moving.step()
    assert moving.time == pytest.approx(4 / 240)


def test_a_detector_that_fails_in_the_second_part_of_a_call(moving):
    """The steps before it stand, the clock with them."""
    seen = []

    def fails(sim):
        seen.append(sim.time)
        if len(seen) == 3:
            raise rd.StateError("out of reach")
        return Contacts.none()

    moving.detect = fails
    with pytest.raises(rd.StateError, match="out of reach"):
        moving.step(5)
    assert moving.time == pytest.approx(5 / 240)
    assert np.isfinite(moving.q).all()
    twin = rd.Simulation(moving.dynamics)
    twin.v = [1.0, 2.0, 3.0, 0.1, 0.2, -0.3]
    twin.detect = lambda sim: Contacts.none()
    twin.step(5)
    np.testing.assert_allclose(moving.q, twin.q, atol=1e-9)
