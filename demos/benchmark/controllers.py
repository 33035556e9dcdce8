"""What a call of each controller takes, beside Pinocchio's inverse dynamics and a step of MuJoCo's of the same robot.

All are called from Python, on states near the one that is held: a controller returns its forces, pin.rnea and mj_step
leave theirs in what they work on, the latter with constraints and contacts switched off.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from demos.benchmark.cases import UrdfCase, robots
from demos.benchmark.kinematics import STATES, over
from demos.benchmark.ours import Ours
from demos.benchmark.peers.mujoco_peer import MujocoPeer
from demos.benchmark.peers.peer import Peer, times
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from demos.benchmark.report import print_table
from demos.benchmark.timing import Run, interleaved
from recursive_dyn import control
from recursive_dyn.control.controller import Controller
from recursive_dyn.dynamics.dynamics import Dynamics

STEP, NEAR = 1e-3, 0.02  # s; rad, rad/s about what is held
# what stands, and at which points, m: the ends of lower legs, and soles
STANDING = {
    "laikago": [(f"{leg}_lower_leg", (0.0, -0.25, -0.02)) for leg in ("FR", "FL", "RR", "RL")],
    "humanoid": [
        (f"{side}_ankle", (x, -0.1, z)) for side in ("right", "left") for x in (-0.05, 0.15) for z in (-0.04, 0.04)
    ],
}
HANDS = {"kuka": "lbr_iiwa_link_7", "laikago": "FR_lower_leg", "humanoid": "right_wrist"}


def controllers(name: str, dynamics: Dynamics) -> dict[str, Controller]:
    """Every kind, holding a robot upright."""
    q = upright(dynamics)
    X = dynamics.poses(q)[dynamics.bodies.index(HANDS[name])]
    hand, center = control.Pose(HANDS[name], X), control.CenterOfMass(dynamics.center_of_mass(q))
    driven = dynamics.velocity_coordinates[0 if name == "kuka" else 6 :]
    posture = control.Posture(dynamics, q, coordinates=driven, weight=0.01)
    feet = [control.Foothold(body, point, (0, 0, 1), 0.6) for body, point in STANDING.get(name, [])]
    spring = control.VirtualSpring(hand, stiffness=100.0, damping=10.0)
    return {
        "GravityCompensation": control.GravityCompensation(dynamics),
        "PD": control.PD(dynamics, q),
        "StablePD": control.StablePD(dynamics, q, timestep=STEP),
        "ComputedTorque": control.ComputedTorque(dynamics, q),
        "JacobianTranspose": control.JacobianTranspose(dynamics, [spring]),
        "OperationalSpace, pose": control.OperationalSpace(dynamics, [hand]),
        "OperationalSpace, pose over posture": control.OperationalSpace(dynamics, [hand, posture]),
        "WholeBodyQP": control.WholeBodyQP(dynamics, [center, hand, posture], feet, limits=500.0),
    }


def upright(dynamics: Dynamics) -> np.ndarray:
    """The neutral configuration (nq,); y is upwards in the files of what floats, z in the world."""
    turn = np.zeros(dynamics.nv)
    if dynamics.nv > 7:
        turn[0] = np.pi / 2
    return dynamics.integrate(dynamics.neutral(), turn, 1.0)


def states(dynamics: Dynamics) -> list[tuple[np.ndarray, np.ndarray]]:
    """Near the configuration that is held."""
    rng, q = np.random.default_rng(0), upright(dynamics)
    return [
        (dynamics.integrate(q, NEAR * rng.normal(size=dynamics.nv), 1.0), NEAR * rng.normal(size=dynamics.nv))
        for _ in range(STATES)
    ]


def table(seconds: float) -> None:
    """Print what a call takes."""
    for name, case in robots().items():
        _table(name, case, seconds)


def peers(case: UrdfCase) -> dict[str, Run]:
    """rnea and mj_step, of those that are installed."""
    rest = np.zeros((3, len(case.hinges)))
    made: list[Peer] = [kind(case, *rest) for kind in (PinocchioPeer, MujocoPeer) if kind.available()]
    runs: dict[str, Run] = {}
    for peer in made:
        if isinstance(peer, MujocoPeer) and peer.loaded:
            runs["mj_step"] = times(peer.mujoco.mj_step, peer.model, peer.data)
        elif (run := peer.inverse_dynamics()) is not None:
            runs["pin.rnea"] = run
    return runs


def _table(name: str, case: UrdfCase, seconds: float) -> None:
    dynamics = Ours(case, *np.zeros((3, len(case.hinges)))).dynamics
    near = states(dynamics)

    def calls(law: Controller) -> Callable[[int], object]:
        return lambda k: law(*near[k], 0.0)

    laws, others = controllers(name, dynamics), peers(case)
    runs = {label: over(calls(law)) for label, law in laws.items()}
    runs["forward_dynamics"] = over(lambda k: dynamics.forward_dynamics(*near[k]))
    best = {label: 1e6 * timing.best for label, timing in interleaved(runs | others, seconds).items()}
    rows = [
        [label, f"{best[label]:.1f}", f"{best[label] / best['forward_dynamics']:.1f}",
         *(f"{best[label] / best[other]:.1f}" for other in others)]
        for label in (*runs, *others)
    ]  # fmt: skip
    head = [f"{name}, {dynamics.nv} coordinates", "us", "over our forward_dynamics", *(f"over {x}" for x in others)]
    print_table("a call of a controller", head, rows)
