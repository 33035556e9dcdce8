"""What a person gives a simulation: numbers of every ordinary kind are taken, all else is refused by name."""

import warnings
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.fixture(scope="module")
def dynamics() -> rd.Dynamics:
    scene = Scene()
    arm = Body("arm", mass=1.0, center_of_mass=(0, 0, -0.3), inertia=np.eye(3) * 0.01)
    scene.world.attach(arm, joints.universal())
    return scene.compile()


@pytest.fixture
def sim(dynamics) -> rd.Simulation:
    sim = rd.Simulation(dynamics)
    sim.q, sim.v, sim.time = [0.3, 0.2], [0.1, -0.4], 2.0
    return sim


def state(sim: rd.Simulation) -> tuple:
    return sim.q.tolist(), sim.v.tolist(), sim.tau.tolist(), sim.time, sim.timestep, sim.integrator


def assert_refused(sim: rd.Simulation, call, message: str) -> None:
    before = state(sim)
    with pytest.raises(rd.StateError, match=message):
        call()
    assert state(sim) == before


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (["1", "2"], "real numbers"),
        (np.array(["1", "2"]), "real numbers"),
        (np.array(["1", 2], dtype=object), "real numbers"),
        ([b"1", 2.0], "real numbers"),
        ("12", "real numbers"),
        ([1 + 0j, 2.0], "real numbers"),
        (np.array([1, 2], dtype=complex), "real numbers"),
        (np.ma.array([1.0, 2.0], mask=[False, True]), "masked"),
        ([True, False], "real numbers"),
        ([10**400, 0], "real numbers"),
        ([None, 0.0], "real numbers|not finite"),
        ({1.0, 2.0}, "real numbers|shape"),
        (np.array(["2020-01-01"] * 2, dtype="datetime64"), "real numbers"),
        ([[1.0], [1.0, 2.0]], "real numbers"),
        ([1.0], r"shape \(1,\)"),
        ([1.0, np.nan], "not finite at .*arm"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["q", "v", "tau"])
def test_a_state_is_real_numbers(sim, name, value, message):
    assert_refused(sim, lambda: setattr(sim, name, value), f"'{name}'.*({message})")


@pytest.mark.parametrize(
    "value",
    [(1, 2), np.array([1, 2], dtype=np.int8), np.float32([1, 2]), [Fraction(1), Decimal(2)], np.ma.array([1.0, 2.0])],
    ids=str,
)
def test_numbers_of_any_ordinary_kind_are_taken(sim, value):
    for name in ("q", "v", "tau"):
        setattr(sim, name, value)
        np.testing.assert_array_equal(getattr(sim, name), [1.0, 2.0])


@pytest.mark.parametrize("value", [-0.01, 0.0, np.nan, np.inf, "0.01", None, True, 1j, 10**400], ids=str)
def test_a_timestep_is_positive(sim, dynamics, value):
    assert_refused(sim, lambda: setattr(sim, "timestep", value), "timestep must be a positive number")
    with pytest.raises(rd.StateError, match="timestep must be a positive number"):
        rd.Simulation(dynamics, value)


@pytest.mark.parametrize("value", [np.nan, -np.inf, "now", None, False, 1j, 10**400], ids=str)
def test_a_time_is_finite(sim, value):
    assert_refused(sim, lambda: setattr(sim, "time", value), "time must be a finite number")


def test_timestep_and_time_may_be_changed(sim):
    sim.timestep, sim.time = np.float32(0.5), -1
    assert (sim.timestep, sim.time) == (0.5, -1.0)
    sim.timestep = 1 / 100
    sim.step(100)
    assert sim.time == pytest.approx(0.0)


def test_an_integrator_is_chosen_once(sim):
    """It names the way: what steps a simulation was compiled for it."""
    assert_refused(sim, lambda: setattr(sim, "integrator", "rk4"), r"make another one, rd\.Simulation")
    assert sim.integrator == "linearly_implicit_rk4"


@pytest.mark.parametrize("count", [-1, 1.0, "2", None, True, np.True_, np.float64(2), 10**400, 2**63], ids=str)
def test_steps_are_whole_numbers(sim, count):
    assert_refused(sim, lambda: sim.step(count), "step takes")


@pytest.mark.parametrize("count", [2, np.int64(2), np.uint8(2)], ids=repr)
def test_whole_numbers_of_any_kind_are_steps(sim, count):
    sim.step(count)
    assert sim.time == pytest.approx(2.0 + 2 / 240)


@pytest.mark.parametrize("duration", ["a", None, -1.0, np.nan, np.inf, True, 1j, 10**400, 1e300], ids=str)
def test_a_frame_is_a_finite_time(sim, duration):
    assert_refused(sim, lambda: sim.advance(duration), "frame time must be|step takes")
    assert sim.advance(1 / 240) == 1, "nothing is left over of what was refused"


def test_reading_changes_nothing(sim):
    """Two runs, one of which is looked at from all sides after every step."""
    ends = []
    for looked_at in (False, True):
        moving = rd.Simulation(sim.dynamics)
        moving.q, moving.v = sim.q, sim.v
        moving.motors[moving.dynamics.velocity_coordinates[0]] = rd.Motor(velocity=1.0, max_force=0.5)
        for _ in range(20):
            moving.step()
            if looked_at:
                for name in dir(moving):
                    if not name.startswith("_") and name not in ("step", "advance", "restore"):
                        getattr(moving, name)
                moving.frames(), moving.snapshot(), moving.contact_wrench("arm")
        ends.append(np.concatenate([moving.q, moving.v, [moving.time]]))
    np.testing.assert_array_equal(ends[1], ends[0])


def test_steps_a_second_are_no_timestep(dynamics):
    """Told where it is said; an orbit's hours are taken as they are."""
    with pytest.warns(UserWarning, match="60 s long; for 60 steps a second give 1 / 60") as told:
        sim = rd.Simulation(dynamics, 60)
    with pytest.warns(UserWarning, match="240 s long") as changed:
        sim.timestep = 240
    assert {warning.filename for warning in (*told, *changed)} == {__file__}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for timestep in (1.0, 1.5, 3600.0):
            sim.timestep = timestep


@pytest.mark.parametrize("motion", [lambda: 0.0, lambda t, x: 0.0, lambda *, t: 0.0])
def test_a_motion_is_a_function_of_time_alone(sim, motion):
    name = sim.dynamics.velocity_coordinates[0]
    with pytest.raises(rd.ModelError, match=f"the motion of '{name}' is a function of one argument, the time"):
        sim.prescribe(name, motion)
    sim.prescribe(name, lambda t, at=sim.q[0]: at)
