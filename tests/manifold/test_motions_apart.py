"""Motions of one dynamics do not influence each other, not in threads either; they travel, and may be interrupted."""

import copy
import multiprocessing
import pickle
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from interrupting import interrupted
from moving import compiled, e3, m, moving, random_state, spherical, system, x

from recursive_dyn.manifold import Motion, derive, dt, vectors

TIMEOUT = 120  # s: a worker that hangs fails the test instead of the session
H = 1e-3


def turned(motion, length, steps=400):
    """Where a motion with a length of its own is after so many steps, one by one, bit for bit."""
    motion.parameters["l"] = length
    for _ in range(steps):
        motion.step()
    return motion.q.tobytes(), motion.v.tobytes(), motion.energy, motion.dynamics.mass_matrix(motion.q).tobytes()


def test_motions_with_lengths_of_their_own_move_in_threads_as_alone():
    lengths = [0.3, 0.7, 1.1, 2.0]
    alone = [turned(moving("quadrotor with load", seed), x) for seed, x in enumerate(lengths)]
    motions = [moving("quadrotor with load", seed) for seed in range(4)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(turned, motions, lengths)) == alone
    assert len(set(alone)) == 4


def evaluated(dynamics, motion, states):
    """Bits of single calls, of a batch by one thread and by several, and of a motion."""
    many = [np.resize(a, (4096, a.shape[-1])) for a in states]
    single = dynamics.accelerations(states[0][0], states[1][0])
    motion.step(20)
    return [a.tobytes() for a in (single, dynamics.accelerations(*states), dynamics.accelerations(*many), motion.q)]


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_workers_compute_what_this_process_computes(method):
    dynamics, motion = system("quadrotor with load"), moving("quadrotor with load", 2, forced=True)
    states = tuple(map(np.array, zip(*(random_state(dynamics, seed) for seed in range(5)), strict=True)))
    expected = evaluated(dynamics, copy.copy(motion), states)
    with multiprocessing.get_context(method).Pool(2) as workers:
        found = workers.starmap_async(evaluated, [(dynamics, motion, states)] * 4).get(TIMEOUT)
    assert found == [expected] * 4


def test_copies_share_machine_code_and_pickles_have_the_bodies():
    motion = moving("quadrotor with load")
    motion.dynamics.show({"load": x})
    motion.step()
    for other in (copy.copy(motion), copy.deepcopy(motion), pickle.loads(pickle.dumps(motion))):
        other.step(3)
        assert other.dynamics.bodies == ("load",) and other.frames()[0].shape == (1, 4, 4)
        assert (other.q != motion.q).any()
    assert copy.deepcopy(motion).dynamics.kernel("slope") is motion.dynamics.kernel("slope")


def driven():
    """A mass on a spring whose other end is prescribed."""
    p = vectors("p")
    L = m * dt(x).dot(dt(x)) / 2 - m * (x - p).dot(x - p) / 2 - m * dt(x).dot(dt(p)) - m * x.dot(e3)
    motion = Motion(compiled(derive(L, None, x, prescribed=p)), H)
    motion.forces.update({"p": [0, 0, 1.0], "p'": [1e-3, 0, 0], "p''": [0, 1e-9, 0]})
    return motion


def pendulum():
    return Motion(compiled(spherical()), H)


def finished(motion, other, rounding):
    """Fails unless a motion is where another one from the same start is at the end of some step."""
    steps = round((motion.time - other.time) / H)
    other.step(steps)
    assert motion.time == pytest.approx(other.time, rel=1e-9)
    assert motion.q == pytest.approx(other.q, abs=rounding) and motion.v == pytest.approx(other.v, abs=rounding)
    return steps


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timer that interrupts")
@pytest.mark.parametrize(("make", "rounding"), [(pendulum, 0.0), (driven, 1e-9)])
def test_an_interrupt_comes_soon_and_leaves_the_state_of_a_finished_step(make, rounding):
    """Where motions are prescribed, their series is summed from where a call begins: there is rounding in that."""
    motion, other, rng = make(), make(), np.random.default_rng(0)
    motion.step(1000)  # how fast steps are is known then
    assert interrupted(0.2, lambda: motion.step(100_000_000)) < 0.1
    assert finished(motion, other, rounding) > 10_000
    stopped = {
        finished(motion, other, rounding)
        for _ in range(60)
        if interrupted(rng.uniform(2e-5, 3e-3), lambda: [motion.step(2) for _ in range(10**6)])
    }
    assert len(stopped) > 10
