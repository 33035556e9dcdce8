"""Of which model a snapshot is: a short hash of every part of it, so that what differs can be told.

What a snapshot itself holds is no part of it: values of parameters, time, forces. Numbers are compared to nine digits,
as other machines' sines differ in the last one; what motions are prescribed is not compared, but of which coordinates.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.graph.expression import Expression, Scalar
from recursive_dyn.graph.program import content_hash
from recursive_dyn.model.model import Model, once

DIGEST = 4  # bytes of each part's hash
PRESCRIBED = "which coordinates are prescribed"
BODIES, CONSTRAINTS, FORCES = "the bodies, coordinates or parameters", "the constraints", "the force elements"
STEPPING = "the timestep", "the integrator", "the method"  # not of the scene, but of how it is stepped
PARTS = (BODIES, "the joints", "the masses", CONSTRAINTS, FORCES, "gravity", PRESCRIBED, *STEPPING)
_MANY = PARTS[:5]
_DIGITS, _NOTHING = 30, 1e-15  # bits that numbers are compared to; less than this is rounding


@dataclass(frozen=True)
class SceneMark:
    """Hashes of PARTS, one after the other, and names of constraints and force elements."""

    parts: bytes
    constraints: tuple[str, ...] = ()
    forces: tuple[str, ...] = ()

    def difference(self, other: SceneMark, stepped: bool) -> str | None:
        """What differs between this scene, of a snapshot, and another, the present one; None: nothing.

        stepped: how they are stepped counts too.
        """
        return difference(self.parts, other.parts, stepped, self, other)


def difference(
    known: bytes, present: bytes, stepped: bool, then: SceneMark | None = None, now: SceneMark | None = None
) -> str | None:
    """What differs between hashes of a snapshot's scene and of the present one, and what to do; None: nothing."""
    if known == present:
        return None
    own = [slice(DIGEST * k, DIGEST * (k + 1)) for k in range(len(PARTS))]
    at = [k for k, part in enumerate(own) if known[part] != present[part] and (stepped or PARTS[k] not in STEPPING)]
    if not at:
        return None
    if PARTS[at[0]] in STEPPING:
        differ = " and ".join(PARTS[k] for k in at)
        return (
            f"the snapshot's bytes are of steps taken otherwise: {differ} differ{'s' if len(at) == 1 else ''} from what"
            " was used when they were taken; restore them in a simulation that steps as that one did, or give it q, v"
            " and time"
        )
    at = [k for k in at if PARTS[k] not in STEPPING]
    if PARTS[at[0]] == BODIES:  # all others count bodies; what is prescribed brings time, and numbers of its motion
        at = [k for k in at if PARTS[k] in (BODIES, PRESCRIBED)]
    told = [PARTS[k] + (_came_and_went(PARTS[k], then, now) if then and now else "") for k in at]
    back = [x for x, part in (("constraints", CONSTRAINTS), ("forces", FORCES)) if part in [PARTS[k] for k in at]]
    again = "".join(f"; what broke or was removed is put in again at its place, scene.{x}[:] = [...]" for x in back)
    differ = "differ" if len(at) > 1 or PARTS[at[0]] in _MANY else "differs"
    return (
        f"the snapshot is of another scene: {' and '.join(told)} {differ} from what was there when"
        f" it was taken{again}; let the scene be what it was, and update, before it is restored, or take"
        " snapshots after the change"
    )


def _came_and_went(part: str, then: SceneMark, now: SceneMark) -> str:
    """Names of what is not among both."""
    if part not in (CONSTRAINTS, FORCES):
        return ""
    before, after = (then.constraints, now.constraints) if part == CONSTRAINTS else (then.forces, now.forces)
    went, came = ([x for x in dict.fromkeys(a) if x not in b] for a, b in ((before, after), (after, before)))
    if before != after and not (went or came):
        return " (in another order)"
    said = [f"{', '.join(repr(x) for x in names)} {what}" for names, what in ((went, "went"), (came, "came")) if names]
    return f" ({'; '.join(said)})" if said else ""


def mark_of(dynamics: Dynamics, timestep: float, integrator: str) -> SceneMark:
    """Of which scene a snapshot is that is taken now."""
    steps = (_digest(repr(x)) for x in (timestep, integrator, (dynamics.method, dynamics.settings)))
    own = _model_mark(dynamics.tree)
    here = _digest(repr((dynamics.nq, dynamics.nv, dynamics.coordinates, tuple(dynamics.parameters))))
    bodies = _digest((own.parts[:DIGEST] + here).hex())
    return SceneMark(bodies + own.parts[DIGEST:] + b"".join(steps), own.constraints, own.forces)


@once
def _model_mark(model: Model) -> SceneMark:
    """Of a model, without how it is stepped."""
    links, bodies = model.links, model.bodies
    names = [(b.name, b.parent, b.link, b.jointed) for b in bodies], model.velocity_names, model.coordinate_names
    joints = [(x.joint.key, x.parent, x.places, x.slots, x.drive and x.drive.key, x.chart) for x in links]
    held = [(c.limits, c.friction, c.turn, c.damping, c.stiffness, c.rest, c.armature) for c in model.coordinates]
    more = [(c.effort, c.velocity, c.torsion) for c in model.coordinates]
    places = [*(s for x in links for s in (*x.placement[:3].flat, x.offset)), *(s for b in bodies for s in b.pose.flat)]
    masses = [s for x in links for s in (x.mass, *x.center, *x.inertia.flat)]
    constraints = [content_hash(f"{c.name} {c.holonomic}", [c.expression]) for c in model.constraints]
    rows = {re.sub(r"\[\d+\]$", "", c.name): None for c in model.constraints}
    parts = (
        _digest(repr(names)), _digest(repr((joints, held, more)), places), _digest("", masses),
        _digest(repr(constraints)), _digest(repr([x.key for x in model.forces])), _digest("", model.gravity),
        _digest(repr((model.clock, sorted(motion.slot for motion in model.motions)))),
    )  # fmt: skip
    return SceneMark(b"".join(parts), tuple(rows), tuple(x.name for x in model.forces))


def _digest(label: str, scalars: Iterable[Scalar] = ()) -> bytes:
    """Hash of a label and of scalars, numbers among them to some digits."""
    given = list(scalars)
    written = [k for k, x in enumerate(given) if isinstance(x, Expression)]
    numbers = _rounded([0.0 if isinstance(x, Expression) else x for x in given])
    digest = hashlib.sha256(f"{label}\n{written}".encode() + numbers)
    if written:
        digest.update(content_hash("", [given[k] for k in written]).encode())
    return digest.digest()[:DIGEST]


def _rounded(numbers: Sequence[Any]) -> bytes:
    """Numbers without their last digits."""
    values = np.array(numbers, dtype=float)
    values[np.abs(values) < _NOTHING] = 0.0
    mantissas, exponents = np.frexp(values)
    return bytes(np.ldexp(np.rint(np.ldexp(mantissas, _DIGITS)), exponents - _DIGITS).astype("<f8").tobytes())
