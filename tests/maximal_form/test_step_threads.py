"""Steps of many bodies on two threads: the motion is that of one, bit for bit, and that of the scene in one part."""

import os
import threading
import time
from collections.abc import Iterator

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.codegen import threads
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.errors import ModelError
from recursive_dyn.maximal.acting import joint_step, step_chunks
from recursive_dyn.maximal.acting.joint_step import JointStep
from recursive_dyn.maximal.acting.step_rows import StepRows
from recursive_dyn.maximal.maximal_dynamics import MaximalDynamics
from scene import Body, Scene, joints

INERTIA = np.diag([0.01, 0.02, 0.025])
STEPS, H = 30, 1 / 240
APART = 1e-4  # m, 1/s: each chunk leaves joints that are met to 1e-6 m where they are, whatever others do
ROUNDED = 1e-12  # of the largest force: another order of sums


def forest(loose: bool) -> Scene:
    """Trees of several joints and sizes with springs and rotors; loose: one of them floats, and one has a loop."""
    scene = Scene(gravity=(0, 0, -9.81))
    made = [joints.revolute("y"), joints.ball(), joints.prismatic((1, 1, 0), stiffness=20.0, armature=0.3)]
    for tree in range(9):
        bodies = list[Body]()
        for i in range(1 + 3 * tree % 10):
            parent = bodies[(i - 1) // (1 + tree % 2)] if i else scene.world
            joint = joints.free() if loose and tree == 4 and not i else made[(i + tree) % len(made)]
            at = rd.pose((0.3 if i else tree, 0.1 * (i % 3), 0.0))
            body = Body(f"b{tree} {i}", mass=1.0 + 0.1 * i, center_of_mass=(0.1, 0, 0.05), inertia=INERTIA)
            bodies.append(parent.attach(body, joint, at=at))
        if loose and tree == 8:
            first, last = bodies[0], bodies[-1]
            scene.constrain(sum((first.point((0.2, 0, 0)) - last.point((0, 0, 0.1))).applyfunc(lambda x: x**2)) - 0.5)
    return scene


def moved(dynamics: Dynamics) -> tuple[np.ndarray, np.ndarray]:
    simulation = rd.Simulation(dynamics, H)
    simulation.step(STEPS)
    return simulation.q, simulation.v


@pytest.fixture
def two_cores(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever there are."""
    monkeypatch.setattr(threads, "cores", lambda: 2)
    threads.pool.cache_clear()
    yield
    threads.pool.cache_clear()


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("loose", [True, False], ids=["phase by phase", "chunk by chunk"])
def test_one_thread_and_two_move_alike(monkeypatch: pytest.MonkeyPatch, loose: bool) -> None:
    """To the bit, in a forked child too, whose parent's threads were at work; and as one part does."""
    dynamics = forest(loose).compile("velocity_constraints")
    assert isinstance(dynamics, MaximalDynamics)
    whole, tau = moved(dynamics), np.zeros(dynamics.nv)
    forces = JointStep(dynamics, False).over_step(*whole, tau, H)
    monkeypatch.setattr(joint_step, "LARGE", 1)
    monkeypatch.setattr(step_chunks, "BODIES", 4)
    assert (step_chunks.starts_of(StepRows(dynamics, False), dynamics.joints.roots) is None) == loose
    found = []
    for count in ("1", "2", ""):
        monkeypatch.setenv("RECURSIVE_DYN_THREADS", count)
        found.append(moved(dynamics))
    assert [thread for thread in threading.enumerate() if thread.name.startswith("recursive-dyn")]
    assert all(np.array_equal(x, y) for other in found[1:] for x, y in zip(other, found[0], strict=True))
    assert max(np.abs(x - y).max() for x, y in zip(whole, found[0], strict=True)) < APART
    in_parts = JointStep(dynamics, False).over_step(*whole, tau, H)
    assert np.abs(in_parts - forces).max() < ROUNDED * np.abs(forces).max()
    if hasattr(os, "fork"):
        child = os.fork()
        if child == 0:
            os._exit(0 if all(map(np.array_equal, moved(dynamics), found[0])) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.usefixtures("two_cores")
@pytest.mark.parametrize("loose", [True, False], ids=["phase by phase", "chunk by chunk"])
def test_one_thread_and_two_cut_what_whirls_alike(monkeypatch: pytest.MonkeyPatch, loose: bool) -> None:
    dynamics, found = forest(loose).compile("velocity_constraints"), []
    assert isinstance(dynamics, MaximalDynamics)
    monkeypatch.setattr(joint_step, "LARGE", 1)
    monkeypatch.setattr(step_chunks, "BODIES", 4)
    rates = 10.0 * np.random.default_rng(0).normal(size=dynamics.reduced.nv)
    for count in ("1", "2"):
        monkeypatch.setenv("RECURSIVE_DYN_THREADS", count)
        simulation = rd.Simulation(dynamics, 1 / 60)
        simulation.q, simulation.v = dynamics.from_reduced(dynamics.reduced.neutral(), rates)
        simulation.step(5)
        found.append([*simulation.q, *simulation.v, simulation.report.halvings])
    assert found[0] == found[1] and found[0][-1] > 0


@pytest.mark.usefixtures("two_cores")
def test_calls_at_once_are_over_when_one_of_them_fails() -> None:
    """The first error is raised when nothing runs any more, and where no more threads begin this one does it all."""
    over = threading.Event()

    def late() -> int:
        time.sleep(0.05)
        over.set()
        return 1

    def wrong() -> int:
        raise ValueError("wrong")

    with pytest.raises(ValueError, match="wrong"):
        threads.at_once([wrong, late], 2)
    assert over.is_set()
    threads.pool().shutdown()
    assert threads.at_once([late, late], 2) == [1, 1]


def test_how_many_threads_may_be_chosen(monkeypatch: pytest.MonkeyPatch) -> None:
    """By a whole number; anything else is refused."""
    monkeypatch.setenv("RECURSIVE_DYN_THREADS", "3")
    assert threads.threads() == 3
    monkeypatch.setenv("RECURSIVE_DYN_THREADS", "no")
    with pytest.raises(ModelError, match="RECURSIVE_DYN_THREADS is 'no': set how many"):
        threads.threads()
