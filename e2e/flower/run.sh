#!/bin/bash
# Studies over a real Flower deployment on this machine: see the head of run.py. About half an hour (`quick`: some minutes); needs
# root, to give the SuperNodes an account of their own.
#
#   e2e/flower/run.sh [PART…]        FEDIRT names another program than target/release/fedirt, FLOWER a folder that is kept
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export FEDIRT=${FEDIRT:-$here/../../target/release/fedirt}
export FLOWER=${FLOWER:-$(mktemp -d /tmp/fedirt-flower.XXXXXX)}
if [ ! -x "$FLOWER/venv/bin/flower-superlink" ]; then
    # A Python that every account may run, as the SuperNodes do (PYTHON names another one).
    "${PYTHON:-/usr/bin/python3}" -m venv "$FLOWER/venv"
    "$FLOWER/venv/bin/pip" install --quiet 'flwr>=1.41,<1.42'
fi
chmod 755 "$FLOWER"
exec "$FLOWER/venv/bin/python3" "$here/run.py" "$@"
