"""Tries to open files, and memory and environment of fedirt's processes."""

import os
from pathlib import Path

from fedirt_courier.wanted import WANTED


def may_read(file):
    try:
        return file.open("rb").read(1) is not None
    except (OSError, ValueError):
        return False


def is_ours(process):
    try:
        return b"fedirt\0" in (process / "cmdline").read_bytes()
    except OSError:
        return False


def opened():
    """What this account could open, in words."""
    files = [name for name in WANTED if may_read(Path(name))]
    running = [p for p in Path("/proc").iterdir() if p.name.isdigit() and is_ours(p)]
    read = [p for p in running if may_read(p / "environ") or may_read(p / "mem")]
    return (
        f"uid {os.getuid()}, opened {len(files)} of {len(WANTED)} files {files[:5]}, "
        f"opened {len(read)} processes of {len(running)}"
    )
