"""The libraries that the benchmark stands beside, and the proof that each computes the same thing."""

import numpy as np

from demos.benchmark.cases import Case
from demos.benchmark.peers.dart_peer import DartPeer
from demos.benchmark.peers.drake_peer import DrakePeer
from demos.benchmark.peers.mujoco_peer import MujocoPeer
from demos.benchmark.peers.peer import Peer
from demos.benchmark.peers.pinocchio_peer import PinocchioPeer
from demos.benchmark.peers.pybullet_peer import PybulletPeer

PEERS: tuple[type[Peer], ...] = (PinocchioPeer, MujocoPeer, DrakePeer, DartPeer, PybulletPeer)


def verify(peer: type[Peer], case: Case, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> dict[str, float]:
    """Largest relative differences of a peer: to Pinocchio's acceleration and mass matrix, and of its torque to tau.

    Only what the peer times is compared. Raises RuntimeError when Pinocchio or the peer cannot take the case.
    """
    reference, tried = PinocchioPeer(case, q, v, tau), peer(case, q, v, tau)
    for each in (reference, tried):
        if not each.loaded:
            raise RuntimeError(each.reason)
    errors = {}
    if tried.forward_dynamics():
        errors["forward_dynamics"] = _relative(tried.acceleration(), reference.acceleration())
    if tried.inverse_dynamics():
        errors["inverse_dynamics"] = _relative(tried.torque(), tau)
    if tried.mass_matrix():
        errors["mass_matrix"] = _relative(tried.mass(), reference.mass())
    return errors


def _relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())
