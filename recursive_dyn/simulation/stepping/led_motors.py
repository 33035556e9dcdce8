"""What motors hold on springs and force elements they hold in all stages of the flight, as the solve does at its end.

A motor's law, y = y_0 - D dv with dv what its coordinate's velocity changes by in the step (``actuation``), is in a
flight the force D (lead - a), lead = y_0 / (h D): an inertia D that joins M, and a force. So the flight is a step of
the same equations as the solve's, and leaves it nothing to do of what only motors hold.

Otherwise the flight lets go what the solve catches. As long as both are one step of the same rule nothing is wrong with
that but where M is another one on the way. But springs of what is let go carry it away, which the watch on energy sees:
halves that resolve them are thrown by an impulse that is answered in one step. Of M = [[1, c], [c, 1]] with springs of
z = h sqrt(K / M) on both coordinates and velocity 0 kept of one, the map of a step has a spectral radius of 1 for one
part, of up to 2.6 for two and 3.7 for many. With that velocity kept in the stages it is 1 for any number of parts.

Led are trees that fly by the rule for what is pressed, which answers springs as the solve does. What presses on
contacts or stops, as ``borne_loads`` tells, would fly into them: there only motors lead that keep a velocity. A motor
at its bound gives that, whatever moves; what it would take to lead one says whether it is. One that has yet to catch
what moves otherwise does so by an impulse: in the stages it would wind up a spring on its way, by h v / 2.
"""

from __future__ import annotations

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.layout import Layout
from recursive_dyn.simulation.joint_laws.actuation import NEAR_BOUND, RIGID, Actuation, asked_at_start
from recursive_dyn.simulation.joint_laws.coordinate_rows import first_motor
from recursive_dyn.simulation.stepping.pressed import press
from recursive_dyn.simulation.stepping.step_arrays import StepArrays
from recursive_dyn.simulation.stepping.step_before import longer

_BOUND = 1.0 - 1e-9  # times its bound: rounding
_CAUGHT, _STILL = 0.1, 1e-6  # of its speed, and m or rad a second, by which a coordinate that a motor has may be off it


@compiled
def lead(s: StepArrays, layout: Layout, touched: Integers, power: Floats) -> None:
    """Load the flight of pressed trees with the motors that lead there, which are aimed where the step begins, and of
    which ``flown`` has what they bore: ``led`` has D, and y_0 is without what is borne already. touched (groups,): 2
    for trees that press on what held them as well; power (groups,): below 0 where what motors bore holds a tree rather
    than speeds it up.

    What a motor held that is set to another velocity, or blocked, it holds on to, and the solve does the rest.
    """
    it, m, h = s.sources.motors, s.sources.motors.motors, s.settings[0]
    s.other.load[:] = 0.0
    trees = np.zeros(layout.groups, dtype=np.int64)
    if len(s.other.load) == 0 or not _held(s, layout, trees, touched):
        return
    flown, first = it.flown, first_motor(s.sources)
    for k in range(m.size[0]):
        slot, D, kept = m.slots[k], it.stiffness[k], m.rigid[k] > 0.0
        lent = s.lending.lends[layout.group[slot]] > 0
        if lent or trees[layout.group[slot]] == 0 or m.sizes[k] > 0 or not D > 0.0:
            continue
        gave, group = longer(s) * abs(s.kept.rows[first + slot]), layout.group[slot]
        if kept and not _caught(it, k, abs(flown[k]) + gave):
            if 0.0 < gave < NEAR_BOUND * it.bound[k] and (touched[group] == 2 or power[group] < 0.0):
                flown[k] = 0.0
                it.led[slot] = s.other.load[slot] = D
                it.lead[slot] = s.other.lead[slot] = 0.0
            continue
        if not kept and touched[group] == 2:
            continue
        y = asked_at_start(it, k, h) - (0.0 if kept else flown[k])
        if abs(flown[k] + (y / RIGID if kept else y)) < _BOUND * it.bound[k]:
            it.led[slot] = s.other.load[slot] = D
            it.lead[slot] = s.other.lead[slot] = y / (h * D)


@compiled
def _caught(it: Actuation, k: int, bore: float) -> bool:
    """Whether a coordinate has the velocity that its motor keeps: rigid to one in a million, it gives way to what it
    bore, N s or N m s, though what blocks one that is to move bears as much as any."""
    wanted, speed = it.motors.velocity[k], it.speed[k]
    given = 2.0 * bore / it.stiffness[k] if wanted == 0.0 else 0.0
    return abs(wanted - speed) <= _CAUGHT * (abs(wanted) + abs(speed)) + given + _STILL


@compiled
def _held(s: StepArrays, layout: Layout, trees: Integers, touched: Integers) -> bool:
    """Mark the trees (groups,) that are led, which are pressed from now on; whether there are any."""
    it, known, some = s.sources.motors, s.pressed, False
    for k in range(it.motors.size[0]):
        group = layout.group[it.motors.slots[k]]
        trees[group] = max(trees[group], 2 if it.flown[k] != 0.0 or touched[group] == 2 else 1)
    for g in range(len(known.first) - 1):
        slot = known.slots[known.first[g]]
        group, new = layout.group[slot], s.kept.pressed[slot] == 0.0
        if known.springs[g] > 0 and (trees[group] == 2 or (trees[group] == 1 and new)):
            trees[group], some = 3, True
            press(known, s.kept.pressed, g)
    for group in range(layout.groups):
        trees[group] = 1 if trees[group] == 3 else 0
    return some


@compiled
def took(s: StepArrays) -> None:
    """Add to what motors bore in the flight what it took to lead them."""
    it, h = s.sources.motors, s.settings[0]
    for k in range(it.motors.size[0]):
        slot = it.motors.slots[k]
        if it.led[slot] > 0.0:
            it.flown[k] += it.led[slot] * (h * it.lead[slot] - (s.v[slot] - s.start_v[slot]))
