"""Steps with impulses are whole: whatever they raise, Ctrl-C included, finds the state of a finished one."""

import os
import signal
import threading
import time
from contextlib import contextmanager, nullcontext

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.simulation.interrupts import Held
from recursive_dyn.simulation.stepping import timestep
from recursive_dyn.simulation.stepping.parts_of_flight import PartTooLong
from scene import Body, Scene, joints

PROMPT = 0.5  # s: what is interrupted would go on for some; two busy cores took 0.16


@pytest.fixture(autouse=True)
def pythons_own_handler():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@contextmanager
def interrupted(after: float):
    """Ctrl-C that much later, which must arrive as a KeyboardInterrupt in time; yields a list that says when."""
    sent: list[float] = []
    begun = threading.Event()  # a thread's own start is not to be interrupted, however busy the machine

    def send() -> None:
        begun.wait()
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Thread(target=send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            begun.set()
            yield sent
            time.sleep(10.0)
        assert time.perf_counter() - sent[0] < PROMPT
    finally:
        timer.join()


def chain(**options) -> rd.Dynamics:
    scene = Scene()
    parent = scene.world
    for k in range(3):
        body = Body(f"b{k}", mass=1.0, center_of_mass=(0, 0, -0.2), inertia=np.eye(3) * 0.01)
        parent = parent.attach(body, joints.revolute("y", **options), at=rd.pose(xyz=(0, 0, -0.4 * (k > 0))))
    return scene.compile()


def simulation(dynamics: rd.Dynamics, integrator: str = "rk4") -> rd.Simulation:
    sim = rd.Simulation(dynamics, 1e-3, integrator)
    sim.q = [1.0, -0.5, 0.3]
    return sim


@pytest.mark.parametrize(
    "options", [{}, {"limits": (-1.5, 1.5)}, {"friction": 0.01}], ids=["free", "limits", "friction"]
)
@pytest.mark.parametrize("integrator", ["semi_implicit_euler", "implicit_midpoint"])
def test_a_long_run_is_interrupted_at_once_after_a_whole_step(integrator, options):
    dynamics = chain(**options)
    simulation(dynamics, integrator).step(500)  # nothing is left to be compiled
    for after in (0.011, 0.05, 0.123):
        sim, twin = simulation(dynamics, integrator), simulation(dynamics, integrator)
        with interrupted(after):
            sim.step(6_000_000)
        steps = round(sim.time / sim.timestep)
        assert steps > 0
        twin.step(steps)
        np.testing.assert_array_equal(sim.q, twin.q)
        np.testing.assert_array_equal(sim.v, twin.v)
        assert sim.time == pytest.approx(twin.time, rel=1e-12)
        sim.step(300)  # impulses remembered as well
        twin.step(300)
        np.testing.assert_array_equal(sim.q, twin.q)
        np.testing.assert_array_equal(sim.v, twin.v)


def test_an_interrupt_waits_for_the_end_of_what_is_held():
    seen = []
    with pytest.raises(KeyboardInterrupt):
        with Held():
            with Held():
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
                seen.append("inner")
            seen.append("outer")
        seen.append("after")
    assert seen == ["inner", "outer"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_and_other_handlers_are_left_alone():
    def hold() -> None:
        with Held():
            handlers.append(signal.getsignal(signal.SIGINT))

    handlers: list = []
    thread = threading.Thread(target=hold)
    thread.start()
    thread.join()
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    hold()
    assert handlers == [signal.default_int_handler, signal.SIG_IGN]


# Steps that are cut in parts


class Wheelhouse:
    """Surroundings that own a body on wheels: a step is cut in four, in each of which it rolls on."""

    def __init__(self, error: BaseException | None) -> None:
        self.error, self.place, self.looked = error, 0.0, 0

    def detect(self, sim) -> Contacts:
        self.looked += 1
        if self.error is not None and self.looked % 4 == 3:
            raise self.error
        ball, on = sim.frames()[0][0, :3, 3], [[0.5, 0.5, 0.0, 0.0, 0.0]]
        under = [[ball[0], ball[1], ball[2] - 0.1]]
        floor = [[ball[0], ball[1], 0.0]]
        return Contacts(
            np.array([0]), np.array([STATIC]), np.array(under), np.array(floor), np.array([[0.0, 0.0, 1.0]]),
            np.array([ball[2] - 0.1]), np.array(on), np.array([1]),
        )  # fmt: skip

    def substeps(self, sim, h: float) -> int:
        return round(4 * h * 60)

    def advance(self, sim, contacts: Contacts, h: float) -> None:
        self.place += h

    @contextmanager
    def atomic(self):
        place = self.place
        try:
            yield
        except BaseException:
            self.place = place
            raise


@pytest.mark.parametrize("error", [rd.StateError("out of reach"), KeyboardInterrupt()], ids=["error", "interrupt"])
def test_a_step_that_fails_in_its_third_part_goes_back_whole(error):
    """State, time, what is not ours, events and the impulses to start from: the next step is as if it never was."""
    scene = Scene()
    ball = Body("ball", mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 0.004)
    scene.world.attach(ball, joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    dynamics = scene.compile()
    ends = []
    for fails in (False, True):
        sim = rd.Simulation(dynamics, 1 / 60)
        sim.surroundings = house = Wheelhouse(None)
        sim.v = [0.0, 3.0, 0.0, 0.5, 0.0, 0.0]
        sim.step(5)
        if fails:
            before = sim.q.copy(), sim.v.copy(), sim.time, house.place, sim.contacts, sim.coordinate_impulses
            house.error, house.looked = error, 0
            with pytest.raises(type(error)):
                sim.step()
            house.error = None
            np.testing.assert_array_equal(sim.q, before[0])
            np.testing.assert_array_equal(sim.v, before[1])
            assert (sim.time, house.place) == before[2:4]
            assert sim.contacts is before[4] and sim.coordinate_impulses is before[5]
            assert sim.step_size == 1 / 60
        sim.step(5)
        ends.append(np.concatenate([sim.q, sim.v, [sim.time, house.place], sim.contacts.impulse.ravel()]))
        assert sim.solution.substeps == 4
    np.testing.assert_array_equal(ends[1], ends[0])


def one_sweep(parts: int) -> rd.Simulation:
    """A ball that slides and spins by one sweep a solve, in steps of so many parts."""
    scene, house = Scene(), Wheelhouse(None)
    ball = Body("ball", mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 0.004)
    scene.world.attach(ball, joints.free(), at=rd.pose(xyz=(0, 0, 0.1)))
    sim = rd.Simulation(scene.compile(), 1 / 60)
    house.substeps = lambda sim, h: round(parts * h * 60)
    sim.surroundings, sim.contact.iterations = house, 1
    sim.v = [0.1, 3.0, 0.2, 0.5, 0.0, 0.0]
    return sim


@pytest.mark.parametrize("again", [False, True], ids=["refused", "shorter"])
def test_what_is_not_done_is_not_counted(again, monkeypatch):
    """The third part of a step raises, or asks for parts of half its length: those before were counted, too."""
    sim, twin, taken, part = one_sweep(4), one_sweep(8), 0, timestep.Timestep._part
    twin.step()

    def third(*given) -> int:
        nonlocal taken
        taken += 1
        if taken == 3:
            raise PartTooLong(2) if again else rd.StateError("out of reach")
        return part(*given)

    monkeypatch.setattr(timestep.Timestep, "_part", third)
    with nullcontext() if again else pytest.raises(rd.StateError, match="out of reach"):
        sim.step()
    assert twin.report.solves_unconverged > 1
    assert sim.report == (twin.report if again else one_sweep(4).report)


@pytest.mark.parametrize("loop", [False, True], ids=["joint", "constraint"])
def test_what_is_taken_anew_is_no_load(loop, monkeypatch):
    """A weight that hangs at rest, in a step whose third part asks for parts of half its length: joints and constraints
    bear it once, and not half of it more for the parts that were taken back."""
    scene, house, taken, part = Scene(), Wheelhouse(None), 0, timestep.Timestep._part
    hung = Body("hung", mass=1.0, center_of_mass=(0, 0, 0), inertia=np.eye(3) * 0.01)
    scene.world.attach(hung, joints.prismatic("z" if loop else "x"), at=rd.pose((0, 0, 5)))
    if loop:
        scene.constrain(hung.point((0, 0, 0))[2] - 5, name="thread", breaks_at=1.2 * 9.81)
    else:
        hung.breaks_at(force=1.2 * 9.81)
    sim = rd.Simulation(scene.compile(), 1 / 60)
    house.substeps = lambda sim, h: round(4 * h * 60)
    sim.surroundings = house

    def third(*given) -> int:
        nonlocal taken
        taken += 1
        if taken == 3:
            raise PartTooLong(2)
        return part(*given)

    monkeypatch.setattr(timestep.Timestep, "_part", third)
    sim.step()
    assert taken > 3 and not sim.broken and not sim.broken_constraints


def test_who_is_near_is_asked_once_a_step():
    """Also where contacts are found once a call, and it is asked whether these are still all there is."""
    sim, asked = one_sweep(1), []
    sim.surroundings.substeps = lambda sim, h: asked.append(h) or 1
    sim.contact.detect = "frame"
    sim.step(4)
    assert sim.surroundings.looked == 1
    np.testing.assert_allclose(asked, [1 / 60, 1 / 60, 2 / 60, 3 / 60])


def test_a_step_that_begins_anew_twice_tells_what_touched_once(monkeypatch):
    """After parts in which the ball touched the floor; the impulse of those of the second beginning was added to it."""
    sim, twin, taken, part = one_sweep(4), one_sweep(4), 0, timestep.Timestep._part
    for one in (sim, twin):
        one.step()
    twin.surroundings.substeps = lambda sim, h: round(16 * h * 60)
    twin.step()

    def shorter(*given) -> int:
        nonlocal taken
        taken += 1
        if taken in (3, 8):
            raise PartTooLong(2)
        return part(*given)

    monkeypatch.setattr(timestep.Timestep, "_part", shorter)
    sim.step()
    (told,), (wanted,) = sim.contact_events, twin.contact_events
    assert taken == 8 + 16 and wanted.impulse > 0.0
    assert (told.kind, told.impulse) == (wanted.kind, wanted.impulse)
