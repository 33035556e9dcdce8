"""A strict reader of binary glTF files, which knows nothing of the writer: ISO/IEC 12113."""

import json
import struct

import numpy as np

KINDS = {5126: np.float32, 5123: np.uint16, 5125: np.uint32}
WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}


class Gltf:
    """A file's document, its arrays, and the poses of its nodes."""

    def __init__(self, path) -> None:
        data = path.read_bytes()
        magic, version, length = struct.unpack_from("<4sII", data)
        assert (magic, version, length) == (b"glTF", 2, len(data)) and length % 4 == 0
        size, kind = struct.unpack_from("<I4s", data, 12)
        assert kind == b"JSON" and size % 4 == 0
        self.document = json.loads(data[20 : 20 + size])
        size_of_bytes, kind = struct.unpack_from("<I4s", data, 20 + size)
        self.bytes = data[28 + size :]
        assert kind == b"BIN\0" and size_of_bytes == len(self.bytes)
        assert 0 <= len(self.bytes) - self.document["buffers"][0]["byteLength"] < 4
        assert self.document["asset"]["version"] == "2.0"
        self.arrays = [self._array(accessor) for accessor in self.document["accessors"]]

    def _array(self, accessor):
        kind, width = KINDS[accessor["componentType"]], WIDTHS[accessor["type"]]
        data = self.view(accessor["bufferView"])
        array = np.frombuffer(data, dtype=kind).reshape(accessor["count"], width)
        for name, least in (("min", array.min(axis=0)), ("max", array.max(axis=0))):
            if name in accessor:
                assert accessor[name] == least.tolist()
        assert np.isfinite(array).all()
        return array

    def view(self, number):
        view = self.document["bufferViews"][number]
        start = view["byteOffset"]
        assert start % 4 == 0 and start + view["byteLength"] <= len(self.bytes)
        return self.bytes[start : start + view["byteLength"]]

    def named(self, name):
        (number,) = [k for k, node in enumerate(self.document["nodes"]) if node.get("name") == name]
        return number

    def channels(self, number):
        """What moves a node: (times, values) by path."""
        (animation,) = self.document.get("animations", [{"channels": [], "samplers": []}])
        result = {}
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            assert sampler["interpolation"] == "LINEAR" and "min" in self.document["accessors"][sampler["input"]]
            if channel["target"]["node"] == number:
                times, values = self.arrays[sampler["input"]][:, 0], self.arrays[sampler["output"]]
                assert (np.diff(times) > 0).all() and len(times) == len(values) and times[0] == 0.0
                result[channel["target"]["path"]] = times, values
        return result

    def poses(self, number, count):
        """Poses (count, 4, 4) of a node in its parent, at the keys."""
        node, moved = self.document["nodes"][number], self.channels(number)
        result = np.tile(np.eye(4), (count, 1, 1))
        place = moved["translation"][1] if "translation" in moved else [node.get("translation", [0, 0, 0])] * count
        turn = moved["rotation"][1] if "rotation" in moved else [node.get("rotation", [0, 0, 0, 1])] * count
        result[:, :3, 3], result[:, :3, :3] = place, turned(np.array(turn, dtype=float))
        return result


def turned(q):
    """Rotations (n, 3, 3) of quaternions (n, 4), which must be unit ones."""
    assert np.abs(np.linalg.norm(q, axis=1) - 1.0).max() < 1e-6
    x, y, z, w = q.T
    return np.stack(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    ).transpose(2, 0, 1)
