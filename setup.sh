#!/bin/sh
# All the set-up on a fresh Debian machine: Debian packages where they are missing (as root or through sudo), a virtual
# environment in .venv, this project in it. Argument: an extra of pyproject.toml, as in "sh setup.sh test".
set -eu
cd "$(dirname "$0")"
extra=${1:-}

if command -v apt-get >/dev/null 2>&1; then
    # Mesa and EGL: pictures without a display; Xvfb: tests of the window
    wanted="python3-venv libegl1 libgl1 libgl1-mesa-dri"
    [ "$extra" = test ] && wanted="$wanted xvfb xauth"
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

python=$(command -v python3.11 || command -v python3)
[ -x .venv/bin/python ] || "$python" -m venv .venv
.venv/bin/python -m pip install -q --disable-pip-version-check -e ".${extra:+[$extra]}"
