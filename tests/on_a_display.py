"""A display that nobody sees, for windows: ``[*ON_A_DISPLAY, "program", ...]`` runs a program on one of its own.

The server chooses its number itself, under a lock. ``xvfb-run -a`` looks for a free one and then starts a server there:
two at once now and then took the same, and the second one's program could not connect.
"""

import os
import shutil
import subprocess
import sys

import pytest

ON_A_DISPLAY = (sys.executable, os.path.abspath(__file__))

needs_display = pytest.mark.skipif(shutil.which("Xvfb") is None, reason="no virtual display: apt-get install xvfb")


def main(command: list[str]) -> int:
    """Run it and return its exit status; the server ends with it."""
    told, tells = os.pipe()
    screen = ["-screen", "0", "1280x1024x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(["Xvfb", "-displayfd", str(tells), *screen], stderr=subprocess.DEVNULL, pass_fds=[tells])
    os.close(tells)
    try:
        with os.fdopen(told) as numbers:
            number = numbers.readline().strip()  # empty where the server ended without one
        if not number:
            raise SystemExit("Xvfb did not start")
        return subprocess.run(command, env=os.environ | {"DISPLAY": f":{number}"}, check=False).returncode
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
