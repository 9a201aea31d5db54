#!/usr/bin/env python3
"""Checks that crates use only what ARCHITECTURE.md allows, and that every dependency has its reason."""
import json
import re
import subprocess
import sys

ALLOWED = {
    "fedirt-model": set(),
    "fedirt-privacy": set(),
    "fedirt-protocol": {"fedirt-model", "fedirt-privacy"},
    "fedirt-site": {"fedirt-model"},
    "fedirt-figures": {"fedirt-model"},
    "fedirt-studies": {"fedirt-model", "fedirt-protocol"},
    "fedirt": {"fedirt-model", "fedirt-protocol", "fedirt-site", "fedirt-figures", "fedirt-studies"},
}
# What a crate must never know: networks, clocks, files as a service.
FORBIDDEN = {
    "fedirt-model": {"tokio", "reqwest", "ureq", "csv", "serde_json"},
    "fedirt-privacy": {"tokio", "nalgebra", "serde_json"},
    "fedirt-protocol": {"tokio", "reqwest", "ureq", "rusqlite"},
}

metadata = json.loads(
    subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps"], check=True, capture_output=True).stdout
)
problems = []
external = set()
for package in metadata["packages"]:
    name = package["name"]
    if name not in ALLOWED:
        problems.append(f"{name}: a crate that ARCHITECTURE.md and this check do not know")
        continue
    for dependency in package["dependencies"]:
        other, kind = dependency["name"], dependency["kind"]
        if other.startswith("fedirt"):
            if kind is None and other not in ALLOWED[name]:
                problems.append(f"{name} must not use {other}")
        else:
            external.add(other)
            if kind is None and other in FORBIDDEN.get(name, set()):
                problems.append(f"{name} must not know {other}")
explained = set(re.findall(r"^\| `([a-z0-9_-]+)`", open("docs/dependencies.md").read(), re.M))
problems += [f"docs/dependencies.md gives no reason for {name}" for name in sorted(external - explained)]
problems += [f"docs/dependencies.md explains {name}, which nothing uses" for name in sorted(explained - external)]
print("\n".join(problems) or f"{len(metadata['packages'])} crates, {len(external)} dependencies: as described")
sys.exit(1 if problems else 0)
