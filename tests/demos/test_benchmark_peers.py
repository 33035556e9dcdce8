"""Peers that are timed against each other must compute the same thing."""

import numpy as np
import pytest

from demos.benchmark.cases import hinge_chain, random_state, robots
from demos.benchmark.peers import PEERS, PinocchioPeer, verify
from demos.benchmark.timing import interleaved

TOLERANCE = 1e-9  # rounding and DART's nudged state leave about 1e-13; another inertia or a stray damper leaves 1e-3

peers = pytest.mark.parametrize("peer", PEERS, ids=lambda peer: peer.label)


def require(*needed):
    for peer in needed:
        if not peer.available():
            pytest.skip(f"{peer.label} is not installed")


@peers
@pytest.mark.parametrize("axes", ["xyz", "random"])
def test_every_peer_agrees_with_pinocchio_on_a_chain(peer, axes):
    require(PinocchioPeer, peer)
    chain = hinge_chain(6, axes)
    errors = verify(peer, chain, *random_state(chain))
    assert set(errors) == {"forward_dynamics", "inverse_dynamics", "mass_matrix"}
    assert max(errors.values()) < TOLERANCE, errors


@peers
@pytest.mark.parametrize("name", ["kuka", "laikago", "humanoid"])
def test_every_peer_agrees_with_pinocchio_on_the_robots_it_takes(peer, name):
    require(PinocchioPeer, peer)
    robot = robots()[name]
    try:
        errors = verify(peer, robot, *random_state(robot))
    except RuntimeError as unable:
        pytest.skip(str(unable))
    assert max(errors.values()) < TOLERANCE, errors


@peers
def test_timing_a_peer_leaves_its_answer_alone(peer):
    require(peer)
    chain = hinge_chain(6)
    one = peer(chain, *random_state(chain))
    assert one.loaded, one.reason
    before = one.acceleration()
    runs = {"M": one.mass_matrix(), "ID": one.inverse_dynamics(), "FD": one.forward_dynamics()}
    timings = interleaved(runs, seconds=0.02, repeats=2)
    assert all(0 < timing.best <= timing.median for timing in timings.values())
    assert np.allclose(one.acceleration(), before, rtol=TOLERANCE)


@pytest.mark.parametrize("count", [1, 3, 1000])
def test_pinocchios_loop_computes_as_many_accelerations_as_it_is_told(count):
    require(PinocchioPeer)
    chain = hinge_chain(6)
    pinocchio = PinocchioPeer(chain, *random_state(chain))
    run = pinocchio.forward_dynamics_loop()
    if run is None:
        pytest.skip(pinocchio.reason)
    run(count)
    assert np.allclose(pinocchio.accelerations[:, :count].T, pinocchio.acceleration(), rtol=TOLERANCE)
    assert not pinocchio.accelerations[:, count:].any()


def test_a_chain_has_inertias_that_a_body_can_have():
    for inertia in hinge_chain(100).inertias:
        moments = np.linalg.eigvalsh(inertia)
        assert moments[0] > 0 and moments[0] + moments[1] >= moments[2]
        assert np.abs(inertia - np.diag(np.diag(inertia))).max() > 0
