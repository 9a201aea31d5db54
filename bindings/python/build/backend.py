"""The build backend: maturin, which makes the extension module, and before it the program `fedirt`, which goes into the wheel.

`MATURIN_PEP517_ARGS="--profile dev"` builds both with another profile than `release`; `FEDIRT_PROGRAM` names a program that is built
already.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess

import maturin
from maturin import (  # noqa: F401: the hooks that are maturin's alone
    build_sdist,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

HERE = pathlib.Path(__file__).resolve().parent
SCRIPTS = HERE / "fedirt.data" / "scripts"
# Maturin looks for it from the start.
SCRIPTS.mkdir(parents=True, exist_ok=True)


def profile():
    """The profile that maturin is told to use."""
    arguments = shlex.split(os.environ.get("MATURIN_PEP517_ARGS", ""))
    return arguments[arguments.index("--profile") + 1] if "--profile" in arguments else "release"


def program():
    """Builds the program, and puts it where maturin looks for scripts."""
    path = os.environ.get("FEDIRT_PROGRAM") or built()
    copy = pathlib.Path(shutil.copy(path, SCRIPTS / f"fedirt{pathlib.Path(path).suffix}"))
    if profile() != "release" and shutil.which("strip"):
        subprocess.run(["strip", str(copy)], check=True)


def built():
    """The program, built."""
    manifest = HERE.parent / "Cargo.toml"
    command = ["cargo", "build", "--package", "fedirt", "--bin", "fedirt", "--profile", profile(), "--manifest-path", str(manifest)]
    lines = subprocess.run([*command, "--message-format", "json-render-diagnostics"], check=True, stdout=subprocess.PIPE).stdout
    messages = [json.loads(line) for line in lines.splitlines()]
    return next(message["executable"] for message in messages if message.get("executable"))


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    program()
    return maturin.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    program()
    return maturin.build_editable(wheel_directory, config_settings, metadata_directory)
