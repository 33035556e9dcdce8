"""Motion that is kept: recorded to the last bit, written and read, refused where damaged, gone through again."""

import copy
import csv
import io
import json
import sys
import zipfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import recursive_dyn as rd
from recursive_dyn.contact.contacts import STATIC, Contacts
from scene import Body, Scene, joints, shapes

G, HEIGHT = 9.81, 0.5


def touch_the_floor(simulation):
    """A ball's lowest point over z = 0, where it is near."""
    x, y, z = simulation.q[:3]
    near = 1 if z < 0.05 else 0
    point = np.tile([x, y, 0.0], (near, 1))
    return Contacts(
        np.zeros(near, int), np.full(near, STATIC), point + np.array([0.0, 0.0, z]), point,
        np.tile([0.0, 0.0, 1.0], (near, 1)), np.full(near, z), np.zeros((near, 5)), np.zeros(near, int),
    )  # fmt: skip


def scene_of(names=("ball", "rod")):
    scene = Scene(gravity=(0, 0, -G))
    scene.parameter("length", 0.4)
    ball, rod = (Body(name, [shapes.Sphere(0.1)], mass=1.0) for name in names)
    scene.world.attach(ball, joints.free(), at=rd.pose((0, 0, 0)))
    scene.world.attach(rod, joints.universal(), at=rd.pose((1, 0, 1)))
    return scene


DYNAMICS = scene_of().compile()


def falling(detect=None):
    simulation = rd.Simulation(DYNAMICS, 1 / 240)
    simulation.q[2] = HEIGHT
    simulation.v[:] = np.linspace(-1.0, 1.0, DYNAMICS.nv)
    simulation.v[3:6] = 0.0
    simulation.detect = detect
    return simulation


def energy(simulation):
    return DYNAMICS.kinetic_energy(simulation.q, simulation.v) + DYNAMICS.potential_energy(simulation.q)


@pytest.fixture(scope="module")
def recording():
    recorder = rd.Recorder(falling(touch_the_floor), outputs={"energy": energy, "place": lambda s: s.q[:3]})
    recorder.simulation.step(120)
    return recorder.recording


@pytest.fixture
def saved(recording, tmp_path):
    return recording.save(tmp_path / "motion.npz")


def test_a_recorded_motion_is_the_same_and_each_frame_is_a_state_of_it():
    free, watched = falling(touch_the_floor), falling(touch_the_floor)
    recorder, states = rd.Recorder(watched), [(0.0, free.q.copy(), free.v.copy())]
    watched.step(90)
    watched.advance(30 / 240)
    for _ in range(120):
        free.step()
        states.append((free.time, free.q.copy(), free.v.copy()))
    recording = recorder.recording
    assert len(recording) == 121
    for own, known in zip((recording.time, recording.q, recording.v), zip(*states, strict=True), strict=True):
        assert np.array_equal(own, np.array(known))


def test_the_floor_gives_what_gravity_takes(recording):
    """A ball that has landed: impulses of every frame from then on are m g h, and one event tells when it began."""
    ((time, event),) = recording.events
    assert (event.kind, event.body_a, event.body_b) == ("begin", "ball", "world")
    fall = np.sqrt(2 * HEIGHT / G)
    assert fall - 2 / 240 <= time <= fall + 2 / 240  # a step is not cut at the impact
    assert event.impulse == pytest.approx(G * time, rel=0.02)
    for frame in range(recording.frame_at(time) + 3, len(recording)):
        assert recording.contacts(frame).impulse.sum(axis=0) == pytest.approx([0, 0, G / 240], rel=1e-6, abs=1e-9)
    assert len(recording.contacts(0)) == 0


def test_every_nth_step_is_a_frame_and_going_back_forgets_what_was_later():
    simulation = falling()
    recorder = rd.Recorder(simulation, every=4)
    simulation.step(30)
    assert recorder.recording.time == pytest.approx(np.arange(0, 30, 4) / 240, abs=1e-12)
    kept = simulation.snapshot()
    simulation.step(30)
    simulation.restore(kept)
    simulation.step(10)
    time = recorder.recording.time
    assert (np.diff(time) > 0).all() and 36 / 240 <= time[-1] <= 40 / 240 + 1e-12
    simulation.q[0] = 3.0
    simulation.time = 1.0  # somebody put it elsewhere: that is a frame
    simulation.step()
    assert recorder.recording.time[-1] == 1.0 and recorder.recording.q[-1, 0] == 3.0


def test_a_recorder_stops_and_does_not_follow_copies():
    with rd.Recorder(falling()) as recorder:
        other = copy.copy(recorder.simulation)
        recorder.simulation.step(3)
        other.step(5)
    recorder.simulation.step(7)
    assert len(recorder) == 4 and not recorder.simulation.observers and not other.observers


def test_a_file_holds_every_bit(recording, saved):
    again = rd.Recording.load(saved)
    assert again.names == recording.names and again.timestep == recording.timestep and again.events == recording.events
    for name in ("time", "q", "v", "parameters"):
        assert np.array_equal(getattr(again, name), getattr(recording, name))
    assert {name: values.tolist() for name, values in again.outputs.items()} == {
        name: values.tolist() for name, values in recording.outputs.items()
    }
    for name, rows in vars(recording.contact_rows).items():
        assert np.array_equal(getattr(again.contact_rows, name), rows), name


def entries_of(path):
    with np.load(path) as entries:
        return dict(entries)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("q", lambda a: a[:, 1:], "'q' has shape"),
        ("q", lambda a: np.where(a == a[5], np.nan, a), "'q' holds something else than finite"),
        ("v", lambda a: a.astype(np.float32), "'v' holds"),
        ("time", lambda a: a[::-1], "'time' does not increase"),
        ("time", lambda a: a[:0], "no frames"),
        ("time", lambda a: a[0], "no frames"),
        ("contacts.a", lambda a: np.int64(3), "'contacts."),
        ("outputs.energy", lambda a: a[0], "'outputs.energy' has shape"),
        ("contacts.a", lambda a: a + 9, "'contacts.a' holds something else than whole numbers"),
        ("contacts.start", lambda a: a[::-1], "'contacts.start'"),
        ("events.kinds", lambda a: a + 5, "'events.kinds'"),
        ("outputs.energy", lambda a: a[1:], "'outputs.energy' has shape"),
        ("parameters", None, "no array 'parameters'"),
        ("head", None, "another kind"),
        ("head", lambda a: np.array([{"format": 1}], dtype=object), "no .npz file of plain arrays"),
        ("more", lambda _: np.zeros(1), "an array too many, 'more'"),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused_by_name(saved, name, change, message):
    entries = entries_of(saved)
    if change is None:
        del entries[name]
    else:
        entries[name] = change(entries.get(name))
    np.savez(saved, **entries)
    with pytest.raises(rd.SceneFileError, match=message) as refused:
        rd.Recording.load(saved)
    assert saved.name in str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": 2}, "version 2, and this program reads version 1"),
        ({"format": "recursive-dyn scene"}, "another kind"),
        ({"timestep": -1.0}, "head is damaged"),
        ({"bodies": [1, 2]}, "head is damaged"),
        ({"touched": []}, "head is damaged"),
    ],
)
def test_a_head_that_does_not_fit_is_refused(saved, change, message):
    entries = entries_of(saved)
    head = json.loads(entries["head"].tobytes()) | change
    np.savez(saved, **entries | {"head": np.frombuffer(json.dumps(head).encode(), np.uint8)})
    with pytest.raises(rd.SceneFileError, match=message):
        rd.Recording.load(saved)


@given(st.data())
def test_a_damaged_file_is_read_as_it_was_or_refused(recording, tmp_path_factory, data):
    path = tmp_path_factory.getbasetemp() / "damaged.npz"
    content = bytearray(recording.save(path).read_bytes())
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        content[data.draw(st.integers(0, len(content) - 1))] ^= data.draw(st.integers(1, 255))
    path.write_bytes(content)
    try:
        again = rd.Recording.load(path)
    except rd.SceneFileError:
        return
    assert np.array_equal(again.q, recording.q) and np.array_equal(again.time, recording.time)


def test_what_is_no_recording_is_refused(tmp_path):
    for name, content in (("text", b"time,q\n"), ("nothing", b""), ("numpy", b"\x93NUMPY")):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(rd.SceneFileError, match=name):
            rd.Recording.load(tmp_path / name)
    with zipfile.ZipFile(tmp_path / "zip", "w") as file:
        file.writestr("hello.txt", "hello")
    for name in ("zip", "missing"):
        with pytest.raises(rd.SceneFileError, match=name):
            rd.Recording.load(tmp_path / name)


def test_bad_recorders_and_outputs_are_refused():
    simulation = falling()
    for arguments in ((DYNAMICS,), (simulation, 0), (simulation, 2.5)):
        with pytest.raises(rd.StateError):
            rd.Recorder(*arguments)
    with pytest.raises(rd.ModelError, match="function of the simulation"):
        rd.Recorder(simulation, outputs={"height": 3})
    with pytest.raises(rd.StateError, match="'bad' is not finite"):
        rd.Recorder(simulation, outputs={"bad": lambda s: np.nan})
    assert not simulation.observers
    recorder = rd.Recorder(simulation, outputs={"growing": lambda s: np.zeros(1 + int(s.time > 0))})
    with pytest.raises(rd.StateError, match="nothing is recorded"):
        _ = recorder.recording
    with pytest.raises(rd.StateError, match="'growing' has shape"):
        simulation.step()
    recorder.stop()
    scene = scene_of()
    simulation = rd.Simulation(scene.compile())
    rd.Recorder(simulation)
    scene["rod"].detach()
    simulation.update(scene.compile())
    with pytest.raises(rd.StateError, match="edited while it was recorded"):
        simulation.step()


def test_between_frames_a_steady_turn_goes_on_steadily():
    """A ball without gravity turns about a fixed axis: the pose at any time is the exponential of its twist, which is
    what a step of semi-implicit Euler is, too."""
    scene = Scene(gravity=(0, 0, 0))
    scene.world.attach(Body("ball", mass=1.0, inertia=np.eye(3), center_of_mass=(0, 0, 0)), joints.free())
    simulation = rd.Simulation(scene.compile(), 0.1, "semi_implicit_euler")
    simulation.v[:] = 0.3, -0.8, 0.5, 0.0, 0.0, 0.0
    recorder = rd.Recorder(simulation, every=3)
    simulation.step(30)
    replay = rd.Replay(recorder.recording, scene.compile())
    start = simulation.dynamics.neutral()
    for time in np.linspace(0.0, 3.0, 23):
        replay.seek(time)
        exact = simulation.dynamics.poses(simulation.dynamics.integrate(start, simulation.v, time))
        np.testing.assert_allclose(replay.frames()[0], exact, atol=1e-12)
        assert replay.simulation.v == pytest.approx(simulation.v, abs=1e-12)
    np.testing.assert_allclose(replay.track([0.45]).poses[0], replay.track().poses[1:3].mean(axis=0), atol=0.05)


def test_a_replay_is_where_the_recording_was(recording):
    replay = rd.Replay(recording, scene_of().compile())
    poses = replay.track().poses
    for frame in (0, 57, len(recording) - 1, 3):
        replay.seek(recording.time[frame])
        assert replay.frame == frame and np.array_equal(replay.simulation.q, recording.q[frame])
        np.testing.assert_allclose(replay.frames()[0], poses[frame], atol=1e-15)
        np.testing.assert_allclose(replay.simulation.contacts.impulse, recording.contacts(frame).impulse)
    for beyond, frame in ((-1.0, 0), (99.0, len(recording) - 1)):
        replay.time = beyond
        assert replay.frame == frame
    with pytest.raises(rd.StateError, match="finite"):
        replay.seek(np.nan)
    with pytest.raises(rd.ModelError, match="'rod' is 'stick' here"):
        rd.Replay(recording, scene_of(("ball", "stick")).compile())


def test_a_table_has_every_number_and_a_plot_every_curve(recording, tmp_path):
    text = recording.csv(tmp_path / "motion.csv").read_text()
    names, *rows = csv.reader(io.StringIO(text))
    assert names[0] == "time" and names[-4:] == ["energy", "place[0]", "place[1]", "place[2]"]
    numbers = np.array(rows, dtype=float)
    assert np.array_equal(numbers[:, 1 : 1 + recording.q.shape[1]], recording.q)
    assert np.array_equal(numbers[:, -4], recording.outputs["energy"])
    figure = recording.plot(path=tmp_path / "motion.png")
    assert [len(axis.lines) for axis in figure.axes] == [1, 3] and (tmp_path / "motion.png").stat().st_size > 10_000
    with pytest.raises(rd.ModelError, match="no column 'speed'"):
        recording.plot("speed")


def test_without_matplotlib_a_plot_says_what_does_without(recording, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(rd.StateError, match="pip install matplotlib; csv"):
        recording.plot()
