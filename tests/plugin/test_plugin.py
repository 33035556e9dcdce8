"""A plugin keeps fixed steps in any loop, tells what happened, and takes edits and commands when they are safe."""

import threading
from collections import Counter

import numpy as np
import pytest
from game_scenes import yard

import bridge
import recursive_dyn as rd
from recursive_dyn.spatial.rotations import rotation_exp, rotation_log
from scene import Body, Scene, joints, shapes

H = 1 / 240


@pytest.fixture(params=["closed form", "bullet"])
def plugin(request):
    with bridge.Plugin(yard(), collisions=request.param) as made:
        yield made


def test_frames_of_any_length_take_the_steps_of_the_time_that_passed(plugin):
    rng, total = np.random.default_rng(1), 0.0
    for dt in rng.uniform(0.0, 0.04, 60):
        total += dt
        plugin.on_frame(dt)
        behind = total - plugin.simulation.time
        assert -1e-9 < behind < H + 1e-9
        assert np.isclose(plugin.fraction, behind / H, atol=1e-6)
    assert plugin.dropped == 0.0


def test_pause_scale_and_single_steps(plugin):
    plugin.time_scale = 0.5
    assert plugin.on_frame(8 * H) == 4
    plugin.paused = True
    assert plugin.on_frame(1.0) == 0
    plugin.step(3)
    assert np.isclose(plugin.simulation.time, 7 * H) and plugin.fraction == 0.0


@pytest.mark.parametrize("dt", [-1e-9, np.nan, np.inf, "a", None, True])
def test_times_that_are_none_are_refused(plugin, dt):
    with pytest.raises(rd.StateError, match="frame time"):
        plugin.on_frame(dt)
    assert plugin.simulation.time == 0.0


@pytest.mark.parametrize("collisions", ["closed form", "bullet"])
def test_games_go_by_other_formulations_and_edits_keep_them(collisions):
    """A door swings, falls when it is cut off, and lies as in joint coordinates."""
    heights = []
    for method, settings in (("auto", {}), ("velocity_constraints", {"stabilization": 0.3})):
        scene = yard()
        with bridge.Plugin(scene, H, method=method, collisions=collisions, **settings) as game:
            game.step(24)
            swung = game.poses()[2].copy()
            scene.cut("door")
            scene["ball 0"].detach()
            game.update()
            game.step(480)
            made = game.simulation.dynamics
            assert made.method == scene.compile(method).method and made.settings.items() >= settings.items()
            heights.append((swung[2, 0], swung[2, 3], *game.poses()[:, 2, 3]))
            assert game.bodies == ("ball 1", "door")
    np.testing.assert_allclose(heights[0], heights[1], atol=1e-2)  # one of them is of first order
    assert abs(heights[0][0]) > 0.05 and heights[0][-1] < 0.5


def test_what_hours_leave_out_is_counted_and_told_once(plugin, recwarn):
    for _ in range(60):
        plugin.on_frame(0.9)  # a slow machine is slow motion
    assert not [w for w in recwarn if "frame" in str(w.message)] and plugin.dropped > 30
    with pytest.warns(UserWarning, match=r"a frame of 16\.7 s leaves out 16\.6 s .*in seconds, 1 / 60"):
        plugin.on_frame(16.7)
    recwarn.clear()
    before = plugin.simulation.time + plugin.dropped
    assert plugin.on_frame(7200.0) == 16 and not recwarn.list
    assert np.isclose(plugin.simulation.time + plugin.dropped - before, 7200.0, atol=H)


@pytest.mark.parametrize(
    ("name", "value"),
    [("timestep", 0.0), ("most_steps", 0), ("most_steps", 1.5), ("hit_speed", -1.0), ("collisions", "magic")],
)
def test_settings_that_are_none_are_refused(name, value):
    with pytest.raises(rd.StateError, match=name):
        bridge.Plugin(yard(0), **{name: value})
    with pytest.raises(rd.StateError, match="time_scale"):
        bridge.Plugin(yard(0)).time_scale = np.nan


def test_poses_lie_between_two_steps_along_the_shortest_arc():
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("top", [shapes.Box((1, 2, 3))]), joints.free())
    with bridge.Plugin(scene, timestep=0.1) as plugin:
        plugin.simulation.v[:] = 3.0, -20.0, 9.0, 1.0, 2.0, 3.0  # 2.2 rad a step
        plugin.on_frame(0.1)
        start = np.eye(4)
        end = plugin.simulation.present.poses[0].copy()
        shown = plugin.poses()
        assert np.allclose(shown[0], start, atol=1e-12) and shown.flags.c_contiguous
        plugin.on_frame(0.03)
        assert plugin.poses() is shown
        assert np.allclose(shown[0, :3, 3], 0.3 * end[:3, 3], atol=1e-9)
        assert np.allclose(shown[0, :3, :3], rotation_exp(0.3 * rotation_log(end[:3, :3])), atol=1e-8)
        single = np.zeros((1, 4, 4), dtype=np.float32)
        assert plugin.poses(single) is single and np.allclose(single, shown, atol=1e-6)
        with pytest.raises(rd.StateError, match="1 bodies"):
            plugin.poses(np.zeros((2, 4, 4)))


def test_a_ball_hits_as_fast_as_it_fell(plugin):
    told = []
    while plugin.simulation.time < 0.6:
        plugin.on_frame(1 / 60)
        told += plugin.events
    hits = [event for event in told if event.kind == "hit" and event.body_a == "ball 0"]
    assert len(hits) == 1 and hits[0].body_b == "world"
    assert np.isclose(hits[0].speed, np.sqrt(2 * 9.81 * 0.5), atol=9.81 * 2 * H)  # the steps before and of the hit
    assert np.isclose(hits[0].impulse, hits[0].speed * 1000 * 4 / 3 * np.pi * 1e-3, rtol=0.02)
    assert np.allclose(hits[0].normal, (0, 0, 1)) and np.allclose(hits[0].point, (0, 0, 0), atol=1e-3)


def test_a_plugin_by_bullet_answers_queries_where_the_state_is_and_closed_forms_say_who_does(plugin):
    if plugin.collisions == "closed form":
        with pytest.raises(rd.StateError, match=r"closed form.*collisions='bullet'.*PyBulletMirror"):
            plugin.queries.ray((0, 0, 5), (0, 0, 0.1))
        return
    seen = []
    plugin.after_step.append(lambda game: seen.append(game.queries.ray((0, 0, 5), (0, 0, 0.1))))
    plugin.step(24)
    assert [hit.body for hit in seen] == ["ball 0"] * 24
    heights = [0.7 - 9.81 / 2 * (k * H) ** 2 for k in range(1, 25)]
    np.testing.assert_allclose([hit.point[2] for hit in seen], heights, atol=1e-3)  # a sphere's top
    plugin.simulation.place("ball 0", rd.pose((3, 1, 2)))
    assert plugin.queries.ray((0, 0, 5), (0, 0, 0.1)) is None
    assert plugin.queries.closest("ball 0", "world", 5.0).distance == pytest.approx(1.9, abs=1e-6)
    plugin.close()
    with pytest.raises(rd.StateError, match="Plugin is closed"):
        plugin.queries  # noqa: B018


def test_a_slow_touch_is_no_hit():
    with bridge.Plugin(yard(1, gap=0.001)) as plugin:
        plugin.on_frame(16 * H)
        assert {event.kind for event in plugin.events} == {"begin"}
        plugin.on_frame(16 * H)
        (stay,) = plugin.events
        mass = 1000 * 4 / 3 * np.pi * 1e-3
        assert stay.kind == "stay" and np.isclose(stay.impulse, mass * 9.81 * 16 * H, rtol=1e-3)


def test_limits_are_told_when_they_are_reached(plugin):
    told = []
    for _ in range(60):
        plugin.on_frame(1 / 60)
        told += [event for event in plugin.events if event.kind == "limit"]
    assert [(event.body_a, event.coordinate, event.side) for event in told] == [("door", "door.angle", "high")]


def test_touches_stay_balanced_where_bodies_go(plugin):
    told = Counter()
    for frame in range(80):
        plugin.on_frame(1 / 60)
        told.update((event.kind, event.body_a) for event in plugin.events)
        if frame == 40:
            plugin.scene["ball 0"].detach()
            plugin.update()
            assert plugin.poses().shape == (2, 4, 4) and plugin.bodies == ("ball 1", "door")
    assert told["begin", "ball 0"] == told["end", "ball 0"] == 1
    assert told["begin", "ball 1"] == 1 and told["end", "ball 1"] == 0


def test_callbacks_run_around_every_step_and_may_edit(plugin):
    order = []

    def before(game):
        order.append("before")
        if len(order) == 5:
            plugin.scene["ball 0"].detach()
            body = Body("late", [shapes.Sphere(0.1)])
            plugin.scene.world.attach(body, joints.free(), at=rd.pose((5, 0, 3)))
            game.update()
            assert "late" not in game.bodies  # until all callbacks are done

    def after(game):
        order.append("after")
        if len(order) == 6:
            assert "late" in game.bodies
        with pytest.raises(rd.StateError, match="within a step"):
            game.on_frame(0.1)

    plugin.before_step.append(before)
    plugin.after_step.append(after)
    plugin.on_frame(4 * H)
    assert order == ["before", "after"] * 4
    late = plugin.simulation.present.poses[plugin.bodies.index("late"), 2, 3]
    assert np.isclose(late, 3 - 9.81 / 2 * (2 * H) ** 2, atol=1e-9)  # two steps


def test_commands_of_other_threads_run_before_the_next_step(plugin):
    ran = []
    threads = [
        threading.Thread(target=lambda k=k: [plugin.call(ran.append, (k, i)) for i in range(50)]) for k in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ran == []
    plugin.on_frame(H)
    assert len(ran) == 200 and all([i for k, i in ran if k == t] == [*range(50)] for t in range(4))


def test_a_command_that_fails_leaves_the_others_for_the_next_step(plugin):
    plugin.call(lambda: 1 / 0)
    ran = []
    plugin.call(ran.append, 1)
    with pytest.raises(ZeroDivisionError):
        plugin.on_frame(H)
    assert ran == [] and plugin.simulation.time == 0.0
    plugin.on_frame(H)
    assert ran == [1]


def test_several_plugins_do_not_meet():
    with bridge.Plugin(yard()) as one, bridge.Plugin(yard()) as two:
        for _ in range(20):
            one.on_frame(1 / 60)
        assert two.simulation.time == 0.0
        for _ in range(20):
            two.on_frame(1 / 60)
        assert np.array_equal(one.simulation.q, two.simulation.q)


def test_a_game_tells_events_of_its_own(plugin):
    def snap(game):
        if game.simulation.time > 3.5 * H and "door" in game.bodies:
            plugin.scene["door"].detach()
            game.update()
            game.tell(bridge.GameEvent("broken", game.simulation.time, "door"))

    plugin.after_step.append(snap)
    plugin.on_frame(16 * H)
    assert [event.body_a for event in plugin.events if event.kind == "broken"] == ["door"]
    assert "door" not in plugin.bodies


def test_an_event_told_between_frames_is_one_of_the_next_frame(plugin):
    plugin.on_frame(H)
    plugin.tell(bridge.GameEvent("whistle", 0.0, "referee"))
    plugin.on_frame(0.0)
    assert [event.kind for event in plugin.events] == ["whistle"]
    plugin.on_frame(0.0)
    assert plugin.events == ()


def test_a_closed_plugin_says_so_and_none_is_closed_within_a_step(plugin):
    plugin.before_step.append(bridge.Plugin.close)
    with pytest.raises(rd.StateError, match="within a step"):
        plugin.step()
    plugin.before_step.clear()
    plugin.step()
    plugin.close()
    for act in (plugin.step, plugin.update, lambda: plugin.on_frame(H), lambda: plugin.restore(b"")):
        with pytest.raises(rd.StateError, match="Plugin is closed"):
            act()
    plugin.close()


@pytest.mark.parametrize(
    "out", [None, [[1.0]], np.zeros((3, 4, 4), int), np.zeros((3, 4, 4), complex), np.zeros((9, 4, 4))]
)
def test_poses_go_to_an_array_of_floats_only(plugin, out):
    if out is None:
        out = np.zeros_like(plugin.poses())
        out.flags.writeable = False
    with pytest.raises(rd.StateError, match="poses are"):
        plugin.poses(out)


def test_what_is_no_function_event_or_scene_is_refused_where_it_is_given(plugin):
    with pytest.raises(rd.StateError, match="call takes a function"):
        plugin.call(5)
    with pytest.raises(rd.StateError, match="GameEvent"):
        plugin.tell("broken")
    with pytest.raises(rd.StateError, match="runs a scene, not Dynamics"):
        bridge.Plugin(plugin.simulation.dynamics)
    plugin.step()
