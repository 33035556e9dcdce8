"""Two players in one arena over a slow line: inputs are guessed, and frames taken back where the guess was wrong."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np

import recursive_dyn as rd
from bridge import Plugin
from recursive_dyn.codegen.making import optimizing
from scene import Body, Scene, joints, shapes

LATEST = 8  # frames after which an input has arrived at last
STEPS = 4  # of a frame
PUSH = 30.0  # N


def arena() -> Scene:
    """Two pushers, each on a slide of its own, and a heap of boxes and balls between them."""
    scene = Scene()
    scene.world.shapes += [shapes.Plane(), shapes.Box((0.1, 4, 0.4), at=rd.pose((2, 0, 0.2)))]
    for k in range(12):
        shape = shapes.Box((0.2, 0.2, 0.2)) if k % 2 else shapes.Sphere(0.1)
        at = rd.pose((0.3 * (k % 3) - 0.3, 0.11 * (k % 2), 0.11 + 0.21 * (k // 3)))
        scene.world.attach(Body(f"thing {k}", [shape], mass=0.5), joints.free(), at=at)
    for player, x in (("red", -1.2), ("blue", 1.2)):
        body = Body(player, [shapes.Capsule(0.15, 0.3)], mass=2.0)
        scene.world.attach(body, joints.planar(), at=rd.pose((x, 0, 0.31)))
    return scene


def played(frame: int, player: int) -> tuple[int, int]:
    """What a player presses in a frame: right or left, up or down; the same for whoever asks."""
    rng = np.random.default_rng((frame // 12, player))
    x, y = rng.integers(-1, 2, 2).tolist()
    return x, y


def arrival(frame: int, player: int) -> int:
    """The frame in which a player's input of a frame reaches the other one: 1 to LATEST later, never overtaking."""
    sent = range(max(0, frame - LATEST), frame + 1)
    return max(k + int(np.random.default_rng((k, player, 7)).integers(1, LATEST + 1)) for k in sent)


class Peer:
    """One player's machine. ``confirmed``: bytes of each frame's start, once all inputs before it are known."""

    def __init__(self, player: int) -> None:
        self.player, self.frame, self.rolled_back, self.deepest = player, 0, 0, 0
        self.plugin = Plugin(arena())
        self.confirmed: dict[int, bytes] = {}
        self._inputs: dict[int, list[tuple[int, int]]] = {}  # by frame, of both players
        self._saved: dict[int, bytes] = {}
        self._known = -1  # the last frame of which the other's input has arrived

    def hear(self, frame: int, pressed: tuple[int, int]) -> None:
        """The other's input of a frame has arrived: take back what was played on another guess."""
        self._known, other = frame, 1 - self.player
        if frame >= self.frame or self._inputs[frame][other] == pressed:
            if frame < self.frame:
                self._inputs[frame][other] = pressed
            return
        self.plugin.restore(self._saved[frame])
        self.rolled_back, self.deepest = self.rolled_back + 1, max(self.deepest, self.frame - frame)
        for again in range(frame, self.frame):
            self._inputs[again][other] = pressed  # still a guess of the later ones: that nothing changes
            self._take(again)

    def play(self) -> None:
        """One frame with the own input and a guess of the other's."""
        inputs = [played(self.frame, self.player)] * 2
        last = self._inputs.get(self.frame - 1)
        inputs[1 - self.player] = last[1 - self.player] if last else (0, 0)
        self._inputs[self.frame] = inputs
        self._take(self.frame)
        self.frame += 1

    def confirm(self) -> None:
        """Note the starts of frames that no input can change any more."""
        for frame in [k for k in self._saved if k <= self._known + 1]:
            self.confirmed[frame] = self._saved[frame]
            if frame <= self._known:
                del self._saved[frame]

    def _take(self, frame: int) -> None:
        self._saved[frame] = self.plugin.snapshot()
        push(self.plugin, self._inputs[frame])


def push(plugin: Plugin, inputs: list[tuple[int, int]]) -> None:
    """The steps of a frame, with both players' inputs as forces."""
    for _ in range(STEPS):
        for name, (x, y) in zip(("red", "blue"), inputs, strict=True):
            plugin.simulation.apply_force(name, (PUSH * x, PUSH * y, 0.0))
        plugin.step()


def play(frames: int, tell: Callable[[str], object] = print) -> tuple[Peer, Peer]:
    """Two peers, and a third machine that has all inputs at once; raises AssertionError where a byte differs."""
    peers, judge, truth = (Peer(0), Peer(1)), Plugin(arena()), dict[int, bytes]()
    for frame in range(frames):
        truth[frame] = judge.snapshot()
        push(judge, [played(frame, 0), played(frame, 1)])
        for peer in peers:
            other = 1 - peer.player
            for sent in range(max(0, frame - LATEST), frame):
                if arrival(sent, other) == frame:
                    peer.hear(sent, played(sent, other))
            peer.play()
            peer.confirm()
            for known, data in peer.confirmed.items():
                assert data == truth[known], f"player {peer.player} differs in frame {known}"
            peer.confirmed.clear()
    for peer in peers:
        tell(
            f"player {peer.player}: {peer.frame} frames, {peer.rolled_back} taken back, up to {peer.deepest} at once;"
            f" {len(peer.plugin.snapshot())} bytes a snapshot, none of them different"
        )
    return peers


def shortest(action: Callable[[], object], count: int = 300) -> float:
    """The shortest of many runs, microseconds."""
    times = []
    for _ in range(count):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return 1e6 * min(times)


def main(arguments: list[str] | None = None) -> None:
    """Read the command line and play."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=600)
    plugin = play(parser.parse_args(arguments).frames)[0].plugin
    optimizing.finish()
    state, contacts = plugin.snapshot(), len(plugin.simulation.contacts)
    taken, restored = shortest(plugin.snapshot), shortest(lambda: plugin.simulation.restore(state))
    print(
        f"{len(state)} bytes of {len(plugin.simulation.v)} coordinates and {contacts} contacts, taken in {taken:.0f} us"
        f" and restored in {restored:.0f} us, where a step takes {shortest(plugin.simulation.step):.0f} us"
    )


if __name__ == "__main__":
    main()
