"""The impulses of one step: from where the flight ended, what contacts, limits, motors and dry friction make of it."""

from __future__ import annotations

import numpy as np

from recursive_dyn.contact.contact_buffer import ContactBuffer
from recursive_dyn.contact.contacts import STATIC, Contacts
from recursive_dyn.contact.layout import body_links, layout
from recursive_dyn.contact.problem import (
    BodyFrames,
    EarlierContacts,
    GeneralizedRows,
    ImpulseProblem,
    ImpulseResult,
    Options,
    changes,
    free_inertias,
)
from recursive_dyn.contact.settings import Settings
from recursive_dyn.contact.solve import bracket, solve
from recursive_dyn.contact.tuning import REST_SHARE, REST_SPEED, STILL
from recursive_dyn.dynamics.dynamics import Dynamics
from recursive_dyn.simulation.momentum import Momenta, Pushes
from recursive_dyn.simulation.state import State

_WHOLE = np.ones(1)


class Impulses:
    """Poses the problem of a step, and moves the state by its result.

    position_share: of a step by which positions follow a change of its end's velocity; implicit_share: of the step with
    which damping and springs enter the mass matrix.
    """

    def __init__(self, dynamics: Dynamics, position_share: float, implicit_share: float) -> None:
        model = dynamics.model
        self._dynamics, self._share, self._implicit = dynamics, position_share, implicit_share
        self._layout, self._links = layout(model), np.append(body_links(model), STATIC)  # the world's comes last
        self._turning = np.array([(v0, f.nv) for _, f, _, v0 in model.owners], dtype=np.int64).reshape(-1, 2)
        self._gravity = float(np.linalg.norm(model.gravity))
        self.buffer = ContactBuffer()
        self.momenta = Momenta(model)

    def solve(
        self,
        state: State,
        start_v: np.ndarray,
        contacts: Contacts,
        frames: tuple[np.ndarray, np.ndarray],
        rows: GeneralizedRows,
        earlier: EarlierContacts,
        settings: Settings,
        h: float,
    ) -> ImpulseResult:
        """What impulses do at the state, which is where a step of h ends without them.

        start_v (nv,): at the step's start; frames: poses (nb, 4, 4) at the state, twists (nb, 6) at the step's start.
        """
        poses, start_twists = frames
        factors = self._dynamics.call("impulse_factors", state.q, np.array([self._implicit * h]))
        options = Options(
            h, self._share, max(REST_SPEED, REST_SHARE * self._gravity * h), float(settings.restitution_threshold),
            float(settings.slop), float(settings.push_speed), float(settings.tolerance), int(settings.iterations),
        )  # fmt: skip
        self.buffer.fill(contacts)
        bodies = BodyFrames(self._links[:-1], np.ascontiguousarray(poses), np.ascontiguousarray(start_twists))
        found = changes(self._dynamics.nv, len(contacts.free), len(rows.offsets))
        problem = ImpulseProblem(
            self._layout, factors, state.v, start_v, bodies, self.buffer.table, free_inertias(contacts.free), rows,
            earlier, options, found,
        )  # fmt: skip
        return ImpulseResult(len(contacts), found, solve(problem))

    def move(self, state: State, contacts: Contacts, result: ImpulseResult) -> None:
        """Change velocities and positions, and let the contacts know what pushed."""
        changed, table, n = result.changes, self.buffer.table, result.contacts
        state.v[:] += changed.v
        if changed.q.any():
            if np.abs(changed.q).max() * np.abs(state.v).max() > STILL:
                state.v[:] += self._carried(state, changed.q)
            state.q[:] = self._dynamics.call("integrate", state.q, changed.q, _WHOLE)
        contacts.free.twist += changed.free_twists
        contacts.free.shift += changed.free_ways
        contacts.impulse[:], contacts.moment[:] = table.impulses[:n], table.moments[:n]
        contacts.distance[:] = table.gaps[:n]

    def _carried(self, state: State, way: np.ndarray) -> np.ndarray:
        """What velocity changes by as it is carried along the way: parallel transport in the metric of M.

        Accelerations at v + way and v - way differ by -4 M^-1 Gamma(v, way), the symmetric part of the connection; the
        bracket is the rest, as the axes of bodies that turn freely are no coordinates. Such a body keeps its velocity
        in the world.
        """
        q, v, rest = state.q, state.v, np.zeros(len(state.v))
        ahead, behind = (self._dynamics.call("forward_dynamics", q, v + w, rest) for w in (way, -way))
        return 0.25 * (ahead - behind) - 0.5 * bracket(self._turning, way, v)

    def pushes(self, state: State, contacts: Contacts) -> Pushes:
        """What contacts will do to momenta, of which the impulses are still to be found."""
        owners = np.stack([contacts.a, contacts.b], axis=1)
        links = self._links[np.where(owners < len(self._links) - 1, owners, STATIC)]
        points = np.stack([contacts.point_a, contacts.point_b], axis=1)
        arms = self.momenta.arms(self._dynamics, state.q, state.v, links, points)
        return Pushes(links, arms, contacts.impulse, contacts.moment)

    def prepare(self) -> None:
        """Compile what a move may need, so that no later step takes longer than the first."""
        for function in ("impulse_factors", "integrate", "forward_dynamics"):
            self._dynamics.kernel(function)
        bracket(self._turning, *np.zeros((2, self._dynamics.nv)))
