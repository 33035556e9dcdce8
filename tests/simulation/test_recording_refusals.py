"""What recordings, replays and poses over time refuse by name."""

import zipfile

import numpy as np
import pytest

import recursive_dyn as rd
from recursive_dyn.simulation.recording import PoseTrack
from scene import Body, Scene, joints, shapes


@pytest.fixture(scope="module")
def swing():
    scene = Scene()
    scene.world.attach(Body("arm", [shapes.Sphere(0.1, at=rd.pose((0, 0, -1)))]), joints.revolute("y"))
    simulation = rd.Simulation(scene.compile(), 1 / 100)
    simulation.q[0] = 1.0
    with rd.Recorder(simulation) as recorder:
        simulation.step(10)
    return recorder.recording, simulation.dynamics


def test_files_in_which_numpy_loses_its_way_are_refused(swing, tmp_path):
    path = swing[0].save(tmp_path / "swing.npz")
    content = path.read_bytes()
    for damaged in (content.replace(b"), }", b"(, }"), content.replace(b"'descr'", b"'des\\r'")):
        assert damaged != content
        path.write_bytes(damaged)
        with pytest.raises(rd.SceneFileError, match=r"swing\.npz"):
            rd.Recording.load(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("head.npy", bytes(1000))
    packed = bytearray(path.read_bytes())
    packed[38] ^= 255  # the first byte of what is deflated
    path.write_bytes(packed)
    with pytest.raises(rd.SceneFileError, match="damaged"):
        rd.Recording.load(path)


@pytest.mark.parametrize("frame", [11, -12, 1.0, "a", None])
def test_frames_that_are_none_are_refused(swing, frame):
    with pytest.raises(rd.StateError, match="there is no frame"):
        swing[0].contacts(frame)


@pytest.mark.parametrize("time", [np.nan, np.inf, "a", None, True])
def test_times_that_are_none_are_refused(swing, time):
    replay = rd.Replay(*swing)
    with pytest.raises(rd.StateError, match="time must be"):
        swing[0].frame_at(time)
    with pytest.raises(rd.StateError, match="time must be"):
        replay.seek(time)
    for times in (time, [[0.0]], [0.0, np.nan]):
        with pytest.raises(rd.StateError, match="times are finite"):
            replay.states(times)


def test_what_is_no_recording_no_dynamics_and_no_column_is_refused(swing):
    recording, dynamics = swing
    for wrong in ((None, dynamics), ("swing.npz", dynamics), (recording, Scene())):
        with pytest.raises(rd.ModelError, match="a replay is of a Recording"):
            rd.Replay(*wrong)
    with pytest.raises(rd.ModelError, match="no column 5"):
        recording.column(5)
    with pytest.raises(rd.ModelError, match="outputs are functions"):
        rd.Recorder(rd.Simulation(dynamics), outputs=5)


def test_poses_over_time_may_be_lists_of_numbers():
    track = PoseTrack(("arm",), [0.0, 1.0], [[np.eye(4)], [np.eye(4)]])
    assert track.time.shape == (2,) and np.array_equal(track.frames()[0], np.eye(4)[None])
    with pytest.raises(rd.StateError, match="time are numbers"):
        PoseTrack(("arm",), "a", np.eye(4)[None, None])
