"""Motion that is kept: recorded step by step, written to files, and gone through again."""

from recursive_dyn.simulation.recording.pose_track import PoseTrack
from recursive_dyn.simulation.recording.recorder import Recorder
from recursive_dyn.simulation.recording.recording import Recording
from recursive_dyn.simulation.recording.replay import Replay

__all__ = ["PoseTrack", "Recorder", "Recording", "Replay"]
