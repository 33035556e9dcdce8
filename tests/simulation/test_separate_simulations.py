"""Simulations of one dynamics do not influence each other, not even from several threads; reading changes nothing."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from chart_cases import euler, run_counting, single, started
from trees import mechanism

import recursive_dyn as rd
from scene import Body, Scene, joints


@pytest.fixture(scope="module")
def charted():
    return single(euler("xyz", "zxz"))


@pytest.fixture
def pendulum():
    scene = Scene()
    length = scene.parameter("length", 1.0)
    rod = joints.fixed() @ joints.revolute("y")
    scene.world.attach(Body("rod", mass=1.0, center_of_mass=(0, 0, -length), inertia=np.diag([0.1, 0.1, 0.1])), rod)
    return scene.compile()


def ended(sim, steps):
    """Where a simulation is after so many steps, bit for bit."""
    for _ in range(steps):
        sim.step()
    return *sim.q.tolist(), *sim.v.tolist(), sim.dynamics.poses(sim.q).tobytes(), tuple(sim.charts.items())


def test_simulations_of_one_charted_dynamics_in_threads_move_as_alone(charted):
    """Each goes through gimbal locks of its own at times of its own."""
    speeds = [(0.3, 5.0, 0.2), (0.1, 2.0, 3.0), (4.0, 1.0, -2.0), (-1.0, 6.0, 0.5)]
    alone = [ended(started(charted, speed, 1e-3), 1500) for speed in speeds]
    with ThreadPoolExecutor(len(speeds)) as pool:
        sims = [started(charted, speed, 1e-3) for speed in speeds]
        together = list(pool.map(ended, sims, [1500] * len(speeds)))
    assert together == alone
    assert len({result[-1] for result in alone}) == 2  # they did end in different charts


def test_calls_of_one_dynamics_from_threads_give_what_each_gives_alone():
    d, (q, v) = mechanism(8, 8).dynamics(), mechanism(8, 8).states(16, 3)
    tau = np.random.default_rng(4).normal(size=v.shape)

    def results(i):
        rows = [(d.forward_dynamics(q[i], v[i], tau[i]), d.poses(q[i]), d.mass_matrix(q)) for _ in range(200)]
        assert all(np.array_equal(a, b) for row in rows for a, b in zip(row, rows[0], strict=True))
        return rows[0]

    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(results, range(16)))
    for i, row in enumerate(threaded):
        for a, b in zip(row, (d.forward_dynamics(q[i], v[i], tau[i]), d.poses(q[i]), d.mass_matrix(q)), strict=True):
            np.testing.assert_array_equal(a, b)


def test_parameters_belong_to_the_dynamics_or_to_one_simulation(pendulum):
    first, second = rd.Simulation(pendulum), rd.Simulation(pendulum)
    first.parameters["length"] = 2.0
    assert (second.parameters["length"], pendulum.parameters["length"]) == (1.0, 1.0)
    pendulum.parameters["length"] = 3.0
    third = rd.Simulation(pendulum)
    assert [s.parameters["length"] for s in (first, second, third)] == [2.0, 1.0, 3.0]
    # U = -m g l at rest, of each its own
    heights = [s.dynamics.potential_energy(s.q) / -9.81 for s in (first, second, third)]
    np.testing.assert_allclose(heights, [2.0, 1.0, 3.0], rtol=1e-15)


def test_restoring_one_simulation_leaves_the_others_as_they_are(pendulum):
    first, second = rd.Simulation(pendulum), rd.Simulation(pendulum)
    saved = first.snapshot()
    first.parameters["length"] = second.parameters["length"] = 2.0
    first.restore(saved)
    assert (first.parameters["length"], second.parameters["length"]) == (1.0, 2.0)


def test_a_snapshot_of_a_scene_with_other_parameters_is_refused_whole(pendulum):
    plain = Scene()
    plain.world.attach(Body("rod", mass=1.0, center_of_mass=(0, 0, -1), inertia=np.eye(3)), joints.revolute("y"))
    other, sim = rd.Simulation(plain.compile()), rd.Simulation(pendulum)
    other.q = [0.5]
    with pytest.raises(rd.StateError, match="snapshot's parameters has shape"):
        sim.restore(other.snapshot())
    assert sim.q[0] == 0.0


def test_a_simulation_made_from_anothers_dynamics_starts_with_its_values(charted, pendulum):
    first = rd.Simulation(pendulum)
    first.parameters["length"] = 2.0
    assert rd.Simulation(first.dynamics).parameters["length"] == 2.0
    sim = started(charted, (0.3, 5.0, 0.2), 1e-3)
    run_counting(sim, 300)
    sim.rechart("body", 1)
    ahead = rd.Simulation(sim.dynamics, sim.timestep, sim.integrator)
    ahead.q, ahead.v = sim.q, sim.v
    assert ended(ahead, 500) == ended(sim, 500)
    assert charted.parameters["body.chart"] == 0.0


def test_reading_changes_nothing(charted):
    first, second = (started(charted, (0.3, 5.0, 0.2), 1e-3) for _ in range(2))
    first.q = second.q = 0.2, 0.6, 0.3
    first.rechart("body", 1)
    before = charted.parameters.values_array.tobytes()
    for sim in (first, second, first):
        held = sim.q.tobytes(), sim.parameters.values_array.tobytes()
        assert sim.dynamics is sim.dynamics
        _ = sim.parameters, sim.charts, sim.frames(), sim.snapshot(), sim.multipliers, sim.contacts
        assert held == (sim.q.tobytes(), sim.parameters.values_array.tobytes())
        assert charted.parameters.values_array.tobytes() == before
    assert (first.charts, second.charts) == ({"body": 1}, {"body": 0})


@pytest.mark.parametrize("chart", [2, -1, 0.5, 1e300])
def test_a_number_without_a_chart_is_refused(charted, chart):
    sim = rd.Simulation(charted)
    for parameters in (sim.parameters, charted.parameters):
        with pytest.raises(rd.StateError, match=r"'body\.chart' is the number of a chart, 0 to 1"):
            parameters["body.chart"] = chart
    assert sim.charts == {"body": 0}


def test_views_compile_nothing_twice_and_report_to_one_place(pendulum):
    told = []
    view = pendulum.view()
    pendulum.progress = lambda function, share: told.append(function)
    assert view.progress is pendulum.progress
    assert view.kernel("poses") is pendulum.kernel("poses")
    assert view.program("poses") is pendulum.program("poses")
