"""The demo's motions pass where their coordinates end: the riders the poles of their charts, the handle gimbal lock."""

from importlib import import_module

import numpy as np

from demos.stage import total_energy


def test_all_keep_their_energy_over_poles_and_through_gimbal_lock() -> None:
    demo = import_module("demos.over_the_pole")
    simulation = demo.build().simulation
    start, last = total_energy(simulation), simulation.charts
    switches, top = dict.fromkeys(last, 0), np.full(len(last), -np.inf)
    for _ in range(4 * 60):
        simulation.step()
        for name, chart in simulation.charts.items():
            switches[name] += chart != last[name]
        last = simulation.charts
        top = np.maximum(top, simulation.dynamics.poses(simulation.q)[:, 2, 3])
    assert min(switches.values()) >= 6
    assert (top[:-1] > demo.CENTER[2] + 0.9 * demo.RADIUS).all()  # the riders were near the upper pole
    # fourth order, 8 rad/s in steps of 1/60 s: (0.13)^5 / 120 a step, a few hundred steps
    assert abs(total_energy(simulation) - start) < 1e-4 * start
