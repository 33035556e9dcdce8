"""The demo of things that come apart: each does, by itself or when it is cut, and what hangs goes on hanging."""

from demos import breaking
from demos.stage import CONTROL_PERIOD, mirrored


def test_a_wheel_breaks_off_and_what_is_cut_falls():
    stage = breaking.build()
    simulation, scene = stage.simulation, stage.scene
    with mirrored(stage) as mirror:
        while simulation.time < 2.6:
            stage.control(simulation)
            mirror.step(int(round(CONTROL_PERIOD / simulation.timestep)) or 1)
        heights = dict(zip(simulation.dynamics.bodies, simulation.frames()[0][:, 2, 3], strict=True))
    free = {body.name for body in scene.bodies if body.parent is scene.world}
    assert free == {"cart", "forearm", "link 0", "front right", *breaking.CUTS}
    assert "'front right' broke off" in stage.report()
    assert heights["forearm"] > 2.8 and heights["trunk"] < 1.0 and heights["link 9"] < heights["link 4"] - 0.5
