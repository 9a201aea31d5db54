"""A study between machines in one process: a coordinator, three sites, and a courier that carries their bytes."""

import importlib.util
import json
import pathlib
import shutil
import subprocess
import time

import pytest

import fedirt
from fedirt.engines import Coordinator, Site

ROOT = pathlib.Path(__file__).resolve().parents[3]
SITES = ("north", "south", "west")


def courier():
    """The codec of the courier that the program brings for Flower."""
    path = ROOT / "crates/fedirt/src/cli/flower/fedirt_courier/parcel.py"
    spec = importlib.util.spec_from_file_location("parcel", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def study(tmp_path):
    """A coordinator's folder and three homes that have enrolled."""
    if shutil.which("fedirt") is None:
        pytest.fail("the program fedirt, which comes with the package, is not on the PATH")

    def run(*command):
        return subprocess.run(["fedirt", *command], cwd=tmp_path, check=True, capture_output=True, text=True).stdout

    table, _ = fedirt.simulate(sites=3, students=60, items=5, seed=4, kind="pandas")
    for site, (_, own) in zip(SITES, table.groupby("site")):
        own.drop(columns="site").to_csv(tmp_path / f"{site}.csv", index=False)
    (tmp_path / "book.csv").write_text("item,categories\n" + "".join(f"i{item:02},2\n" for item in range(1, 6)))
    run("coordinator", "init", "hub", "--study", "bank", "--sites", ",".join(SITES), "--codebook", "book.csv",
        "--mode", "secure", "--students", "180")
    (tmp_path / "mail").mkdir()
    with Coordinator(tmp_path / "hub", "bank"):
        # The first start makes the key that invitations name.
        pass
    for site in SITES:
        home = ("site", "--home", f"home-{site}")
        run(*home, "init")
        policy = tmp_path / f"home-{site}" / "policy.toml"
        allowed = policy.read_text().replace("allow_pooled_rows_inferred = false", "allow_pooled_rows_inferred = true")
        policy.write_text(allowed)
        invitation = run("coordinator", "invite", "hub", "bank", site, "--address", "mailbox:").strip()
        run(*home, "enrol", invitation, "--plan", "hub/plans/bank.toml", "--yes")
    return tmp_path


def test_a_study_between_machines_has_the_fit_of_one_process(study):
    parcel = courier()
    polls, states = {}, dict.fromkeys(SITES, "waiting")
    with Coordinator(study / "hub", "bank") as hub:

        def hand_in(kind, part):
            return parcel.unpack(hub.answer(parcel.pack({"ask": "take", "kind": kind}, [part])))[1]

        sites = {site: Site(study / f"home-{site}", "bank", [study / f"{site}.csv"], population="pupils") for site in SITES}
        until = time.monotonic() + 120
        approved = set()
        while set(states.values()) != {"over"}:
            assert time.monotonic() < until, states
            for name, site in sites.items():
                mail = hand_in("poll", polls[name]) if name in polls else []
                if states[name] == "over" or (name in polls and not mail):
                    continue
                header, parts = parcel.unpack(site.exchange(parcel.pack({"study": "bank"}, mail)))
                states[name] = header["state"]
                for kind, part in zip(header["parts"], parts):
                    if kind == "poll":
                        polls[name] = part
                    else:
                        hand_in(kind, part)
                roster = site.roster
                if states[name] == "officer" and roster and name not in approved:
                    assert {own for own, _, _ in roster.sites} == set(SITES)
                    with pytest.raises(fedirt.CalibrationError):
                        site.approve("11111-22222", [])
                    site.approve(roster.fingerprint.replace(" ", "-"), [other for other in SITES if other != name])
                    approved.add(name)
        while not (study / "hub/results/bank/fit.json").exists():
            assert time.monotonic() < until, "no result"
            time.sleep(0.01)
    assert approved == set(SITES)
    found = json.loads((study / "hub/results/bank/fit.json").read_text())
    expected = fedirt.fit([study / f"{site}.csv" for site in SITES], id="id", mode="secure").to_dict()
    assert [item["a"] for item in found["items"]] == [item["a"] for item in expected["items"]]
    assert [item["se_b"] for item in found["items"]] == [item["se_b"] for item in expected["items"]]
    assert found["loglik"] == expected["loglik"]


def test_bytes_that_are_no_parcel_are_refused(study):
    with Coordinator(study / "hub", "bank") as hub:
        with pytest.raises(fedirt.DataError, match="no parcel"):
            hub.answer(b"something else")
    with pytest.raises(fedirt.CalibrationError, match="closed"):
        hub.answer(courier().pack({"ask": "status"}))
    with pytest.raises(fedirt.CalibrationError):
        Site(study / "home-north", "another", [study / "north.csv"])
