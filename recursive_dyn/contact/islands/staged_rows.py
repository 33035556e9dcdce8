"""Generalized rows while impacts follow each other: each stage begins with what those before left of them.

An impact passes through constraints, and through what gives way as springs and dampers do, as it does through joints:
these rows are met in every stage. Stops give nothing back, and are met as contacts that do not: what one pressed with
in a stage no later one takes back. Dry friction and motors have bounds on the impulse of a step, of which a stage has
what is left. But a motor that pushes by itself, or friction that the flight did not have, would let things meet as if
they had flown so: beside these, impacts are solved at once.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np

from recursive_dyn.codegen.compiled import compiled
from recursive_dyn.contact.blocks import Island, ScalarRows, moving
from recursive_dyn.contact.problem import ImpulseProblem
from recursive_dyn.contact.rows.scalar_rows import directed
from recursive_dyn.contact.rows.targets import closes_loops, stop_target

# (m, 6) of an island's rows: as they are given, the impulse to start from, and that of the stages so far
Given = Annotated[np.ndarray, float, 6]
SPEED, TARGET, LOW, HIGH, GUESS, TOTAL = 0, 1, 2, 3, 4, 5


@compiled
def only_answer(it: Island, problem: ImpulseProblem) -> bool:
    """Whether an island's rows do nothing but answer what contacts do to them."""
    least = problem.options.rest_speed
    for s in it.scalars:
        if not problem.rows.holds[s] and not problem.rows.stops[s] and _own(it.lines, s) > least:
            return False
    return True


@compiled
def _own(lines: ScalarRows, s: int) -> float:
    """How fast a row would move by an impulse of its own."""
    gives = lines.mobility[s] + lines.soft[s]
    if gives <= 0.0:
        return 0.0
    wanted = (lines.target[s] - lines.speed[s]) / gives
    return lines.mobility[s] * abs(min(max(wanted, lines.low[s]), lines.high[s]))


@compiled
def note_rows(it: Island, given: Given) -> None:
    """Rows before the first stage."""
    lines = it.lines
    for j in range(len(it.scalars)):
        s = it.scalars[j]
        given[j, SPEED], given[j, TARGET] = lines.speed[s], lines.target[s]
        given[j, LOW], given[j, HIGH] = lines.low[s], lines.high[s]
        given[j, GUESS], given[j, TOTAL] = it.Q[s], 0.0


@compiled
def rows_go_on(it: Island, problem: ImpulseProblem, given: Given) -> None:
    """A stage's impulses have acted: rows move, and have given way, as they let them."""
    lines, rows, loops = it.lines, problem.rows, closes_loops(problem.rows)
    for j in range(len(it.scalars)):
        s = it.scalars[j]
        given[j, TOTAL] += it.Q[s]
        lines.speed[s] += moving(lines, s, it.y) + lines.soft[s] * it.Q[s]
        if rows.stops[s]:
            change = lines.speed[s] - given[j, SPEED]
            before = directed(rows, s, problem.start_v) + change
            gap = rows.gaps[s] + problem.options.position_share * problem.options.h * change
            lines.target[s], _ = stop_target(problem.options, gap, lines.speed[s], before, loops)
        else:
            lines.low[s] = given[j, LOW] - given[j, TOTAL]
            lines.high[s] = given[j, HIGH] - given[j, TOTAL]


@compiled
def guess_rows(it: Island, given: Given) -> None:
    """The last stage, of all contacts, starts from what the whole step would have."""
    for j in range(len(it.scalars)):
        s = it.scalars[j]
        it.Q[s] = min(max(given[j, GUESS], it.lines.low[s]), it.lines.high[s])


@compiled
def rows_of_all(it: Island, given: Given) -> None:
    """Rows as they were given, with the impulses of all stages and of the last one."""
    lines = it.lines
    for j in range(len(it.scalars)):
        s = it.scalars[j]
        it.Q[s] += given[j, TOTAL]
        lines.speed[s], lines.target[s] = given[j, SPEED], given[j, TARGET]
        lines.low[s], lines.high[s] = given[j, LOW], given[j, HIGH]
