"""Force elements as rows of a step: they give way to impulses as springs and dampers of joints do."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from recursive_dyn.codegen.compiled import Floats, Integers, compiled
from recursive_dyn.contact.problem import GeneralizedRows
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.dynamics.program_calls import NO_PROGRAM, ProgramCall, evaluated, program_call
from recursive_dyn.recursion.forces.element_slopes import slope_counts
from recursive_dyn.simulation.joint_laws.row_writing import plain_row


class YieldingRows(NamedTuple):
    """answers: program of rows, ``total`` of which there are."""

    answers: ProgramCall
    total: int


def yielding_rows(dynamics: Dynamics, answering: bool) -> YieldingRows:
    """Those of a model, or none where elements do not answer."""
    total = sum(slope_counts(dynamics.model)) if answering else 0
    answers = program_call(dynamics, "element_answers") if total else NO_PROGRAM
    return YieldingRows(answers, total)


@compiled
def append_yielding(
    it: YieldingRows,
    rows: GeneralizedRows,
    numbers: Integers,
    earlier: Floats,
    start: int,
    number: int,
    q: Floats,
    v: Floats,
    answering: Floats,
    parameters: Floats,
) -> int:
    """Write them, numbered from ``number`` on, from row ``start`` on, with a compliance of 1, over the change that
    impulses make; how many rows there are then. answering (2 + 2 nv,): see ``ImpulseArrays``."""
    if it.total == 0:
        return start
    nv, at = len(v), rows.first[start] if start else 0
    rows.first[start] = at
    evaluated(it.answers, q, v, answering, parameters)
    for k in range(it.total):
        i = start + k
        plain_row(rows, numbers, earlier, i, number + k)
        offset = 0.0
        for j in range(nv):
            coefficient = it.answers.outputs[k * nv + j]
            if coefficient != 0.0 or (j == nv - 1 and at == rows.first[i]):
                rows.slots[at], rows.values[at] = j, coefficient
                offset -= coefficient * v[j]
                at += 1
        rows.first[i + 1] = at
        rows.offsets[i], rows.compliance[i] = offset, 1.0
        rows.low[i], rows.high[i] = -np.inf, np.inf
    return start + it.total
