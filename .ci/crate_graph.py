#!/usr/bin/env python3
"""Checks that crates use only what ARCHITECTURE.md allows, that every dependency has its reason, and that all of them,
indirect ones too, come from the registry under a licence that ours can live with; and that the pure crates are pure."""
import json
import pathlib
import re
import subprocess
import sys

ALLOWED = {
    "fedirt-model": set(),
    "fedirt-privacy": set(),
    "fedirt-protocol": {"fedirt-model", "fedirt-privacy"},
    "fedirt-data": {"fedirt-model"},
    "fedirt-agent": {"fedirt-data", "fedirt-model", "fedirt-privacy", "fedirt-protocol"},
    "fedirt-ui": {"fedirt-agent", "fedirt-coordinator", "fedirt-data", "fedirt-model", "fedirt-privacy", "fedirt-protocol", "fedirt-figures"},
    "fedirt-coordinator": {"fedirt-data", "fedirt-model", "fedirt-privacy", "fedirt-protocol", "fedirt-figures"},
    "fedirt-figures": {"fedirt-model"},
    "fedirt-studies": {"fedirt-model", "fedirt-privacy", "fedirt-protocol", "fedirt-figures"},
    "fedirt": {"fedirt-data", "fedirt-model", "fedirt-privacy", "fedirt-protocol", "fedirt-agent", "fedirt-figures", "fedirt-studies",
               "fedirt-coordinator", "fedirt-ui"},
    "fedirt-bindings": {"fedirt", "fedirt-data", "fedirt-model", "fedirt-protocol"},
    "fedirt-python": {"fedirt", "fedirt-bindings", "fedirt-agent", "fedirt-coordinator", "fedirt-privacy", "fedirt-protocol"},
    "fedirt-r": {"fedirt", "fedirt-bindings"},
}
# What a crate must never know: networks, clocks, files as a service.
FORBIDDEN = {
    "fedirt-model": {"tokio", "reqwest", "ureq", "csv", "serde_json"},
    "fedirt-privacy": {"tokio", "nalgebra", "serde_json"},
    "fedirt-protocol": {"tokio", "reqwest", "ureq", "rusqlite"},
    "fedirt-data": {"tokio", "reqwest", "ureq", "rusqlite"},
    "fedirt-agent": {"tokio", "axum", "hyper", "askama", "rusqlite"},
}

# Crates that are given time and randomness, and read and send nothing themselves. (Tests may measure time.)
PURE = ["fedirt-model", "fedirt-privacy", "fedirt-protocol"]
IMPURE = re.compile(r"\bstd::(fs|net|thread|process|env)\b|\b(Instant|SystemTime)::now|\b(SysRng|OsRng|getrandom)\b")

LICENCES = {
    "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "ISC", "Zlib", "Unlicense", "Unicode-3.0", "0BSD", "CC0-1.0",
    "MIT-0", "BSL-1.0", "Apache-2.0 WITH LLVM-exception",
}


def acceptable(expression):
    """Whether an SPDX expression (or the old form with a slash) can be satisfied: every AND part by one of its ORs."""
    parts = re.split(r" AND ", (expression or "").replace("/", " OR "))
    return all(any(o.strip(" ()") in LICENCES for o in re.split(r" OR ", part)) for part in parts)


def cargo_metadata(*flags):
    command = ["cargo", "metadata", "--format-version", "1", "--locked", *flags]
    return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)


metadata = cargo_metadata("--no-deps")
problems = []
everything = [p for p in cargo_metadata()["packages"] if not p["name"].startswith("fedirt")]
for package in everything:
    who = f"{package['name']} {package['version']}"
    if not acceptable(package["license"]):
        problems.append(f"{who}: licence {package['license']}")
    if not (package["source"] or "").startswith("registry+"):
        problems.append(f"{who}: does not come from the registry")
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
for crate in PURE:
    for path in sorted(pathlib.Path("crates", crate, "src").rglob("*.rs")):
        if "tests" in path.parts or path.name == "tests.rs" or path.name.endswith("_tests.rs"):
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.lstrip().startswith("//") and IMPURE.search(line):
                problems.append(f"{path}:{number}: {crate} must not know files, networks, clocks, threads or chance")
explained = set(re.findall(r"^\| `([a-z0-9_-]+)`", open("docs/dependencies.md").read(), re.M))
problems += [f"docs/dependencies.md gives no reason for {name}" for name in sorted(external - explained)]
problems += [f"docs/dependencies.md explains {name}, which nothing uses" for name in sorted(explained - external)]
count = f"{len(metadata['packages'])} crates, {len(external)} dependencies, {len(everything)} with indirect ones"
print("\n".join(problems) or f"{count}: as described")
sys.exit(1 if problems else 0)
