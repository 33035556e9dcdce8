#!/bin/sh
# All the set-up on a fresh Debian machine: Debian packages where they are missing (as root or through sudo), a virtual
# environment in .venv, this project in it. Argument: an extra of pyproject.toml, as in "sh setup.sh test"; "docs"
# makes pages of README.md, docs/ and docstrings as well; "core" is the core alone, without PyBullet, meshes and windows.
set -eu
cd "$(dirname "$0")"
extra=${1:-}

if command -v apt-get >/dev/null 2>&1; then
    # Mesa and EGL: pictures without a display; Xvfb: tests of the window
    wanted="python3-venv libegl1 libgl1 libgl1-mesa-dri"
    [ "$extra" = test ] && wanted="$wanted xvfb"
    missing=""
    for package in $wanted; do
        dpkg -s "$package" >/dev/null 2>&1 || missing="$missing $package"
    done
    if [ -n "$missing" ]; then
        as_root=""
        [ "$(id -u)" = 0 ] || as_root=sudo
        export DEBIAN_FRONTEND=noninteractive
        # shellcheck disable=SC2086
        { $as_root apt-get update -qq && $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null; } ||
            echo "could not install$missing: pictures may be plainer, tests that need them skip" >&2
    fi
fi

if [ ! -x .venv/bin/python ]; then
    python=$(command -v python3.11 || command -v python3 || echo python3.11)
    "$python" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null || {
        echo "This project needs Python 3.11: PyBullet, which finds its collisions and draws, has no wheels for later ones." >&2
        echo "Found: $("$python" --version 2>&1 || true). Debian 12 has it as python3.11; elsewhere 'uv python install 3.11' or" >&2
        echo "'pyenv install 3.11' brings it. Then run this again, with python3.11 on the PATH." >&2
        exit 1
    }
    "$python" -m venv .venv
fi
if [ "$extra" = core ]; then # what scenes, dynamics, simulations and closed-form contacts need, and nothing else
    read_core="import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['dependency-groups']['core'], sep='\n')"
    .venv/bin/python -c "$read_core" >.venv/core.txt
    .venv/bin/python -m pip install -q --disable-pip-version-check -r .venv/core.txt
    .venv/bin/python -m pip install -q --disable-pip-version-check --no-deps -e .
    exit
fi
.venv/bin/python -m pip install -q --disable-pip-version-check -e ".${extra:+[$extra]}"
if [ "$extra" = docs ]; then # -W: what is not well linked is an error
    .venv/bin/python -m sphinx -q -W -c docs . build/docs
    echo "build/docs/docs/index.html"
fi
