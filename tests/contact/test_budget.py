"""Solves with a limit of time, by a clock that goes on whenever it is looked at: nothing depends on the machine."""

import ctypes
from itertools import count

import numpy as np
import pytest
from contact_scenes import at, energy, mirror, put, set_twist
from frozen_walls import bystander, flown, problem, wall

import recursive_dyn as rd
from recursive_dyn.codegen.loops.intrinsics import foreign_int
from recursive_dyn.codegen.nanoseconds import clock
from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.solve import solve
from recursive_dyn.simulation.stepping import looked_after_blows, step_machine
from scene import Scene, shapes

LOOK = 1000  # ns, by which the clock of these tests goes on whenever it is looked at


@pytest.fixture(scope="module")
def d():
    return bystander()


def kicked(d, looks: float, seed: int = 3):
    """Facts of a kicked wall's first step within so many looks at a clock, its kinetic energies before and after."""
    these, ticks = wall(np.random.default_rng(seed), 5, 6), count(0, LOOK)
    ticking = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: next(ticks))
    address = ctypes.cast(ticking, ctypes.c_void_p).value
    given = problem(d, these)
    options = given.options._replace(microseconds=looks * LOOK / 1000.0, clock=address if looks < np.inf else 0)
    facts = solve(given._replace(options=options))
    return facts, these.kinetic(flown(these)), these.kinetic(flown(these) + given.changes.free_twists)


@pytest.mark.parametrize("looks", [1, 3, 10, 30, 60])
@pytest.mark.parametrize("seed", range(3))
def test_what_time_ends_takes_energy_away(d, looks, seed):
    facts, before, after = kicked(d, looks, seed)
    assert 1 <= facts.sweeps <= 3 * looks + 2  # a Newton step is three, sweeps have the last word
    assert np.isfinite(facts.residual)
    assert after <= before * (1.0 + 1e-12)


def test_more_time_is_a_better_solution(d):
    residuals = [kicked(d, looks)[0].residual for looks in (1, 20, 200)]
    assert residuals[0] > 100 * residuals[1] or residuals[1] > 100 * residuals[2]
    assert residuals[2] <= 1e-6


def test_time_that_is_not_used_up_changes_nothing(d):
    assert kicked(d, 1e6) == kicked(d, np.inf)


def overlapping(d, looks: float) -> tuple[int, np.ndarray]:
    """How often a solve of a wall whose bricks overlap by 1 mm looks at a clock, and the gaps that it leaves."""
    these, ticks = wall(np.random.default_rng(3), 5, 6, kick=0.0), count(0, LOOK)
    ticking = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: next(ticks))
    given, k = problem(d, these), len(these.a)
    given.contacts.gaps[:k] = -1e-3
    address = ctypes.cast(ticking, ctypes.c_void_p).value
    options = given.options._replace(microseconds=looks * LOOK / 1000.0, clock=address if looks < np.inf else 0)
    solve(given._replace(options=options))
    return next(ticks) // LOOK, given.contacts.gaps[:k].copy()


def test_pushing_apart_ends_in_time_too(d):
    """A quarter of it, or ten sweeps; what is not pushed yet overlaps still."""
    (few, early), (many, late), (_, whole) = (overlapping(d, looks) for looks in (1, 1e6, np.inf))
    assert few <= 16
    assert many > 4 * few
    assert early.min() < 2.0 * late.min() < 0.0
    assert (late == whole).all()


def test_a_clock_tells_nanoseconds():
    ticks = [foreign_int(clock()) for _ in range(3)]
    assert ticks == sorted(ticks)
    assert 0 <= ticks[-1] - ticks[0] < 10**9


def test_a_simulation_keeps_within_its_time():
    """A microsecond is one sweep of each island; without a limit these converge."""
    scene, rng = Scene(), np.random.default_rng(5)
    for k in range(6):
        put(scene, f"box{k}", shapes.Box((0.2, 0.2, 0.1)), at(0.05 * rng.normal(), 0.05 * rng.normal(), 0.05 + 0.1 * k))
    with mirror(scene) as shown:
        sim = shown.sim
        sim.contact.microseconds = 1.0
        for _ in range(5):
            shown.step()
            assert sim.solution.iterations == 1
            assert not sim.solution.converged
        assert sim.report.solves_unconverged == 5
        sim.contact.microseconds = 1e7
        shown.step(5)
        assert sim.solution.converged and sim.report.solves_unconverged == 5
        assert sim.solution.iterations > 1


def resting_wall() -> Scene:
    """Thirty bricks of 1.2 kJ."""
    scene = Scene()
    for k in range(30):
        row, place = divmod(k, 4)
        pose = at(0.402 * place + 0.2 * (row % 2), 0, 0.075 + 0.15 * row)
        put(scene, f"brick {k}", shapes.Box((0.4, 0.2, 0.15)), pose, 7.2)
    return scene


def left_alone(shown, steps: int) -> tuple[float, float, float]:
    """Rises of energy in so many steps together, how far above the start it was, J, and the deepest overlap, m."""
    sim, won, above, deepest = shown.sim, 0.0, 0.0, 0.0
    before = start = energy(sim)
    for _ in range(steps):
        shown.step()
        now, deepest = energy(sim), max(deepest, sim.solution.penetration)
        won, above, before = won + max(now - before, 0.0), max(above, now - start), now
    return won, above, deepest


@pytest.mark.parametrize("looks", [1, 10])
def test_a_wall_whose_solves_end_early_gains_nothing_and_stands(monkeypatch, looks):
    """As positions move by no more than impulses took lifts: 17 and 4.5 J came in within two seconds, as bricks that
    sank were lifted while they went on to sink; it lies up to 1.6 mm in itself."""
    ticks = count(0, LOOK)
    ticking = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: next(ticks))
    monkeypatch.setattr(step_machine, "clock", lambda: ctypes.cast(ticking, ctypes.c_void_p).value)
    with mirror(resting_wall()) as shown:
        shown.sim.contact.microseconds = looks * LOOK / 1000.0
        won, above, deepest = left_alone(shown, 480)
        assert shown.sim.report.solves_unconverged > 400
    assert won < 0.05 and above < 1e-3 and deepest < 1.7e-3


@pytest.mark.parametrize(("iterations", "rises"), [(3, 0.05), (5, 0.05), (20, 0.05)])
def test_so_it_does_at_60_hz(iterations, rises):
    """Where it sinks by millimetres in a step: up to 53 J came in. By two sweeps a step rounding decides whether it
    stands: it won nothing, and lost 0 or 5.4 J in 4 s, by programs that differ in nothing else."""
    with mirror(resting_wall(), 1 / 60) as shown:
        shown.sim.contact.iterations = iterations
        before = energy(shown.sim)
        won, above, _ = left_alone(shown, 240)
        assert energy(shown.sim) > before - 5.0
    assert won < rises and above < 0.5 * rises


@pytest.mark.parametrize("wrong", [0.0, -1.0, float("nan"), True, "10"])
def test_time_is_positive(wrong):
    simulation = rd.Simulation(bystander(), 1 / 240)
    with pytest.raises(rd.StateError, match="microseconds"):
        simulation.contact.microseconds = wrong


@pytest.mark.filterwarnings("ignore:bodies overlap")
@pytest.mark.parametrize("iterations", [1, 3])
@pytest.mark.parametrize("deep", [0.001, 0.004, 0.01])
def test_what_was_built_in_each_other_comes_apart_nevertheless(iterations, deep):
    """It stayed there for good by one sweep a step, and 0.75 s by three."""
    scene = Scene()
    scene.world.shapes.append(shapes.Box((4.0, 4.0, 0.2), at=at(0, 0, -0.1)))
    for name, z in (("lower", 0.15), ("upper", 0.45 - deep)):
        put(scene, name, shapes.Box((0.3, 0.3, 0.3)), at(0, 0, z))
    with mirror(scene, 1 / 60, ground=False) as shown:
        shown.sim.contact.iterations = iterations
        shown.step(3)
        assert shown.sim.solution.penetration < 4e-4
        assert energy(shown.sim) - 9.81 * (0.15 + 0.45) == pytest.approx(0.0, abs=2e-2)


def struck_wall() -> Scene:
    """Thirty bricks of 7 kg that a ball of 300 kg is about to hit at 15 m/s."""
    scene, material = resting_wall(), rd.Material(friction=0.5, restitution=0.2)
    put(scene, "ball", shapes.Sphere(0.3, material=material), at(0.6, -0.5, 0.5), 300.0)
    return scene


@pytest.mark.parametrize("looks", [50, 200, 1000])
def test_parts_of_a_step_share_its_time(monkeypatch, looks):
    """And so do solves again where blows led: each had all of it, in up to four solves of each of five parts."""
    ticks = count(0, LOOK)
    ticking = ctypes.CFUNCTYPE(ctypes.c_int64)(lambda: next(ticks))
    monkeypatch.setattr(step_machine, "clock", lambda: ctypes.cast(ticking, ctypes.c_void_p).value)
    least, most = 48, 1  # looks of a solve without time, as ten sweeps over gaps come up to four times; most parts
    with mirror(struck_wall(), 1 / 60) as shown:
        set_twist(shown.sim, "ball", (0, 0, 0), (0, 15.0, 0))
        shown.sim.contact.microseconds = looks * LOOK / 1000.0
        for _ in range(30):
            before = next(ticks) // LOOK
            shown.step()
            took, parts = next(ticks) // LOOK - before, shown.sim.solution.substeps
            assert took <= looks + 2 * least * parts
            most = max(most, parts)
    assert most > 2


def test_what_blows_led_into_is_new_where_no_place_of_the_pair_was_known():
    """In machine code as by the definition: of hundreds that sank, each took 30 microseconds in Python."""
    rng, known, there = np.random.default_rng(2), ContactBuffer(40), ContactBuffer(60)
    for buffer, n in ((known, 40), (there, 60)):
        table = buffer.table
        table.size[0], table.keys[:n], table.a[:n] = n, rng.integers(0, 6, n), 0
        table.b[:n], table.points[:n] = 1, rng.uniform(0, 0.03, (n, 2, 3))
        table.gaps[:n], table.frictions[:n, 4] = rng.uniform(-2e-3, 1e-3, n), rng.choice([0.0, 1.0], n, p=(0.8, 0.2))
    poses = np.tile(np.eye(4), (2, 1, 1))
    found = looked_after_blows._new(known, poses, there, poses)
    for k, new in enumerate(found):
        same = known.table.keys[:40] == there.table.keys[k]
        off = np.linalg.norm(known.table.points[:40] - there.table.points[k], axis=2).min(axis=1)
        sinks = there.table.gaps[k] < -5e-4 and there.table.frictions[k, 4] < 1.0
        assert new == (sinks and not (off[same] < 5e-3).any())
    assert found.any() and not found.all()
