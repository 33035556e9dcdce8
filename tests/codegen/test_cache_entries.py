"""Entries of the cache: what is damaged, foreign or open to others is a miss, what cannot be written is no error."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from recursive_dyn.codegen.making import cache

ROOT = Path(__file__).resolve().parents[2]
KEY = cache.key_of("an entry")
PAYLOAD = bytes(range(200))
own = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="files have no owners here")


@pytest.fixture
def entry(tmp_path, monkeypatch) -> Path:
    """The file of an entry that was stored."""
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "cache"))
    cache._warn.cache_clear()
    cache.store(KEY, PAYLOAD)
    path = tmp_path / "cache" / KEY[:2] / KEY
    assert cache.load(KEY) == PAYLOAD and path.is_file()
    return path


def test_cut_at_every_byte(entry):
    content = entry.read_bytes()
    for length in range(len(content)):
        entry.write_bytes(content[:length])
        assert cache.load(KEY) is None, f"cut to {length} of {len(content)} bytes"


def test_every_byte_changed(entry):
    content = entry.read_bytes()
    for place in range(len(content)):
        entry.write_bytes(content[:place] + bytes([content[place] ^ 0x40]) + content[place + 1 :])
        assert cache.load(KEY) is None, f"byte {place}"


@pytest.mark.parametrize("garbage", (b"", b"\0" * 5000, os.urandom(5000), b"\xff" * 40, b"\xff" * 4000))
def test_garbage(entry, garbage):
    entry.write_bytes(garbage)
    assert cache.load(KEY) is None
    cache.store(KEY, PAYLOAD)
    assert cache.load(KEY) == PAYLOAD


def test_a_size_is_checked_before_it_is_read(entry):
    """A terabyte of nothing, which takes no room on the disk, is not read into memory."""
    with entry.open("ab") as file:
        file.truncate(1 << 40)
    assert cache.load(KEY) is None


def test_an_entry_for_another_key(entry):
    other = cache.key_of("another")
    (entry.parent.parent / other[:2]).mkdir(exist_ok=True)
    (entry.parent.parent / other[:2] / other).write_bytes(entry.read_bytes())
    assert cache.load(other) is None


def test_a_link_is_not_followed(entry, tmp_path):
    """Not even to an intact entry of the same key."""
    kept = entry.rename(tmp_path / "kept")
    entry.symlink_to(kept)
    assert cache.load(KEY) is None
    cache.store(KEY, PAYLOAD)
    assert cache.load(KEY) == PAYLOAD and not entry.is_symlink()


def test_a_pipe_is_not_waited_for(entry):
    entry.unlink()
    os.mkfifo(entry)
    assert cache.load(KEY) is None


def test_a_folder_in_an_entrys_place(entry):
    entry.unlink()
    entry.mkdir()
    assert cache.load(KEY) is None
    cache.store(KEY, PAYLOAD)
    assert cache.load(KEY) is None and list(entry.parent.iterdir()) == [entry]


@own
@pytest.mark.parametrize("mode", (0o620, 0o602, 0o666))
def test_an_entry_that_others_may_write(entry, mode):
    entry.chmod(mode)
    assert cache.load(KEY) is None


@own
@pytest.mark.parametrize("level", (0, 1), ids=("the cache", "its part"))
@pytest.mark.parametrize("mode", (0o770, 0o707, 0o1777))
def test_a_folder_that_others_may_write(entry, level, mode):
    """Nothing is read there nor written, which is said once."""
    (entry.parent.parent, entry.parent)[level].chmod(mode)
    with pytest.warns(UserWarning, match="chmod go-w") as said:
        assert cache.load(KEY) is None
        cache.store(KEY, b"more")
        assert cache.load(KEY) is None
    assert len(said) == 1
    (entry.parent.parent, entry.parent)[level].chmod(0o700)
    assert cache.load(KEY) == PAYLOAD


@own
@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only the superuser may give files away")
@pytest.mark.parametrize("level", (0, 1, 2), ids=("the entry", "its part", "the cache"))
def test_what_someone_else_owns(entry, level):
    os.chown((entry, entry.parent, entry.parent.parent)[level], 12345, -1)
    if level == 0:
        assert cache.load(KEY) is None
    else:
        with pytest.warns(UserWarning, match="of your own"):
            assert cache.load(KEY) is None


@own
def test_someone_elses_as_anyone(entry, monkeypatch):
    """The same for users who may not give files away: it is they who are someone else."""
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    with pytest.warns(UserWarning, match="of your own"):
        assert cache.load(KEY) is None


@own
def test_what_is_made_is_closed_to_others(tmp_path, monkeypatch):
    monkeypatch.setenv("RECURSIVE_DYN_CACHE", str(tmp_path / "above" / "cache"))
    before = os.umask(0)
    try:
        cache.store(KEY, PAYLOAD)
    finally:
        os.umask(before)
    assert cache.load(KEY) == PAYLOAD


def refusing(error):
    def refuse(*arguments, **options):
        raise error

    return refuse


@pytest.mark.parametrize("number", (errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT, errno.EIO))
@pytest.mark.parametrize("call", ("os.replace", "tempfile.mkstemp", "os.fdopen", "pathlib.Path.mkdir"))
def test_a_disk_that_takes_nothing(entry, monkeypatch, number, call):
    with monkeypatch.context() as patch:
        patch.setattr(call, refusing(OSError(number, os.strerror(number))))
        cache.store(KEY, b"newer" * 1000)
    assert cache.load(KEY) in (PAYLOAD, b"newer" * 1000)  # the one or the other, whole
    assert [path.name for path in entry.parent.iterdir()] == [KEY]


def test_a_disk_that_is_full_in_the_middle(tmp_path):
    """A limit of the operating system on the size of files: the write itself fails."""
    program = f"""
import resource
from recursive_dyn.codegen.making import cache
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
cache.store({KEY!r}, b"x" * 5000)
assert cache.load({KEY!r}) is None
cache.store({KEY!r}, b"x" * 50)
assert cache.load({KEY!r}) == b"x" * 50
"""
    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert [path.name for path in (tmp_path / "cache" / KEY[:2]).iterdir()] == [KEY]


@pytest.mark.parametrize("place", ("/dev/null", "/dev/full", "/proc", "/no\0place", "{tmp}/file/cache"))
def test_a_folder_that_cannot_be(tmp_path, monkeypatch, place):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setattr(cache, "folder", lambda: Path(place.format(tmp=tmp_path)))
    cache._warn.cache_clear()
    cache.store(KEY, PAYLOAD)
    assert cache.load(KEY) is None


def test_writers_at_once_leave_whole_entries(tmp_path):
    """Four processes write entries of different sizes under one key again and again; a reader sees whole ones only."""
    program = f"""
import sys
from recursive_dyn.codegen.making import cache
for _ in range(200):
    cache.store({KEY!r}, sys.argv[1].encode() * (100_000 + int(sys.argv[1])))
    found = cache.load({KEY!r})
    assert found is not None and found == found[:1] * (100_000 + int(found[:1])), len(found or b"")
"""
    environment = os.environ | {"RECURSIVE_DYN_CACHE": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}
    writers = [
        subprocess.Popen([sys.executable, "-c", program, str(n)], env=environment, stderr=subprocess.PIPE, text=True)
        for n in range(4)
    ]
    for writer in writers:
        _, error = writer.communicate(timeout=60)
        assert writer.returncode == 0, error
    assert [path.name for path in (tmp_path / "cache" / KEY[:2]).iterdir()] == [KEY]
