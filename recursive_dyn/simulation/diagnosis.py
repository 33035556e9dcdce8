"""Why a step has no value: the joint whose own frame or motion subspace ends near the state."""

from __future__ import annotations

import numpy as np

from recursive_dyn import expression as ex
from recursive_dyn.model import Model


def culprit(model: Model, q: np.ndarray, v: np.ndarray, h: float, parameters: np.ndarray) -> str | None:
    """The coordinate of the first joint, root first, that is not finite at q (nq,) or where v leads in h; else None.

    The joint's own expressions are evaluated by the interpreter; q and v are finite.
    """
    names = [("parameter", name) for name, _ in model.parameters]
    values: dict[tuple[str, str | int], float] = dict(zip(names, parameters.tolist(), strict=True))
    ahead = q.copy()
    for place, slot in model.plain_slots:
        ahead[place] += h * v[slot]
    for link in model.links:
        joint = link.joint.kinematics()
        scale = link.coupling[1] if link.coupling else 1.0
        flat = [*(x for t in joint.transforms for x in t.flat), *joint.subspace.flat, *joint.bias]
        values |= {("v", i): scale * v[link.first_v + i] for i in range(link.joint.nv)}
        for state in (q, ahead):
            own = state[link.first_q : link.first_q + link.joint.nq]
            values |= {("q", i): scale * x + link.offset for i, x in enumerate(own)}
            if not all(np.isfinite(x) for x in ex.evaluate(flat, values)):
                return model.coordinates[link.first_v].name
    return None
