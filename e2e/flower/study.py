"""A study on this machine: simulated answers, a coordinator, and sites behind mailboxes or over HTTPS."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

FEDIRT = Path(os.environ["FEDIRT"]).resolve()


def fedirt(*arguments, cwd, status=0):
    """Runs fedirt, which must end with this status; gives what it prints on standard output."""
    done = subprocess.run(
        [FEDIRT, *map(str, arguments)], cwd=cwd, capture_output=True, text=True
    )
    if done.returncode != status:
        told = f"{done.stdout}\n{done.stderr}"
        sys.exit(f"fedirt {' '.join(map(str, arguments))}: {done.returncode}\n{told}")
    return done.stdout


def wait_for(what, reached, seconds):
    """Waits until something has come about; ends the whole run if it does not."""
    until = time.monotonic() + seconds
    while not (found := reached()):
        if time.monotonic() > until:
            sys.exit(f"waited {seconds} s in vain for {what}")
        time.sleep(0.2)
    return found


class Process:
    """A process with everything that it starts, which can be killed and started again."""

    def __init__(self, name, command, cwd, environment=None):
        self.name, self.command, self.cwd = name, [str(part) for part in command], cwd
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self):
        with open(self.cwd / f"{self.name}.log", "ab") as out:
            self.process = subprocess.Popen(
                self.command,
                cwd=self.cwd,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=out,
                start_new_session=True,
            )

    def kill(self):
        """SIGKILL to the process and to what it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()

    def log(self):
        """What it has printed."""
        return (self.cwd / f"{self.name}.log").read_text(errors="replace")


class Study:
    """A folder with answers and plan. Its sites enrol in `over_mailboxes` or `over_https`."""

    def __init__(self, folder, mode, sites, students=400, items=20):
        self.folder, self.mode = folder, mode
        # What a site keeps is its own account's alone, answers too.
        folder.mkdir(parents=True, mode=0o700)
        self.names = [f"site{k:02}" for k in range(1, sites + 1)]
        self.processes = []
        self.fedirt(
            *("simulate", "--sites", sites, "--students", students, "--items", items),
            *("--seed", 7, "--per-site", "--out", "data"),
        )
        files = sorted((folder / "data").glob("*.csv"))
        files = [file for file in files if "truth" not in file.name]
        self.files = dict(zip(self.names, files, strict=True))
        for name, file in self.files.items():
            self.files[name] = file.rename(folder / f"{name}.csv")
        header = self.files[self.names[0]].read_text().splitlines()[0]
        names = [column for column in header.split(",") if column not in ("id", "site")]
        book = "".join(f"{name},2\n" for name in names)
        (folder / "book.csv").write_text("item,categories\n" + book)

    def fedirt(self, *arguments, status=0):
        return fedirt(*arguments, cwd=self.folder, status=status)

    def coordinator(self, *more):
        """Makes the coordinator's folder, with the plan."""
        self.fedirt(
            *("coordinator", "init", "hub", "--study", "bank", "--mode", self.mode),
            *("--sites", ",".join(self.names), "--codebook", "book.csv"),
            *("--students", 400 * len(self.names), *more),
        )

    def site(self, name, *arguments, status=0):
        return self.fedirt("site", "--home", f"home/{name}", *arguments, status=status)

    def enrol(self, name, address, *more):
        self.site(name, "init")
        policy = self.folder / "home" / name / "policy.toml"
        text = policy.read_text()
        policy.write_text(
            text.replace(
                "allow_pooled_rows_inferred = false",
                "allow_pooled_rows_inferred = true",
            )
        )
        invitation = self.fedirt(
            "coordinator", "invite", "hub", "bank", name, "--address", address
        ).strip()
        self.site(name, "enrol", invitation, "--yes", *more)
        if self.mode == "private":
            self.site(name, "budget", "pupils", "--epsilon", 2)

    def run(self, name, *arguments):
        process = Process(name, [FEDIRT, *arguments], self.folder)
        self.processes.append(process)
        return process

    def over_mailboxes(self, sockets):
        """The mailboxes of coordinator and sites, and the sockets at which they answer."""
        self.coordinator()
        self.sockets = sockets
        hub = sockets / "hub.sock"
        serve = ("coordinator", "mailbox", "hub", "bank", "--socket-group", "--socket", hub)
        self.mailboxes = {"hub": self.run("hub", *serve)}
        wait_for("the coordinator's mailbox", hub.exists, 120)
        (self.folder / "home").mkdir(mode=0o700)
        for name in self.names:
            self.enrol(name, "mailbox:", "--plan", "hub/plans/bank.toml")
            own = (name + ".csv", "--population", "pupils", "--yes", "--socket-group")
            at = sockets / f"{name}.sock"
            home = ("site", "--home", f"home/{name}", "mailbox", "bank")
            self.mailboxes[name] = self.run(name, *home, *own, "--socket", at)
        for name in self.names:
            wait_for(f"the mailbox of {name}", (sockets / f"{name}.sock").exists, 120)
        return hub

    def approve(self):
        """The officers compare the roster, and approve it."""
        prints = set()
        for name in self.names:
            waiting = self.folder / "home" / name / "studies/bank/roster.json"
            wait_for(f"the roster at {name}", waiting.exists, 600)
            shown = self.site(name, "approve", "bank", status=1)
            fingerprint = re.search(r"Fingerprint of the roster: ([\d ]+)", shown)[
                1
            ].strip()
            others = ",".join(other for other in self.names if other != name)
            self.site(name, "approve", "bank", fingerprint, "--called", others)
            prints.add(fingerprint)
        assert len(prints) == 1, prints

    def over_https(self):
        """The same study with fedirt's own coordinator; gives the seconds from the first call to the end."""
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.coordinator("--listen", f"127.0.0.1:{port}")
        settings = self.folder / "hub/coordinator.toml"
        settings.write_text(
            settings.read_text().replace("enabled = true", "enabled = false")
        )
        self.run("hub", "coordinator", "start", "hub")
        wait_for("the port", lambda: "Listening" in self.processes[0].log(), 60)
        for name in self.names:
            self.enrol(name, f"https://localhost:{port}")
            policy = self.folder / "home" / name / "policy.toml"
            trust = "trust_roster_from_coordinator = "
            policy.write_text(
                policy.read_text().replace(trust + "false", trust + "true")
            )
        for name in self.names:
            own = (name + ".csv", "--population", "pupils", "--yes")
            self.run(name, "site", "--home", f"home/{name}", "join", "bank", *own)
        return self.seconds()

    def status(self):
        """What `fedirt coordinator status` says."""
        return json.loads(
            self.fedirt("coordinator", "status", "hub", "bank", "--json")
        )[0]

    def round(self):
        """The round that is under way."""
        return ((self.status()["turn"] or {}).get("round")) or 0

    def is_over(self):
        done = (
            self.folder / "home" / name / "studies/bank/results/fit.json"
            for name in self.names
        )
        return self.status()["phase"] == "over" and all(file.exists() for file in done)

    def seconds(self, limit=1800):
        """Seconds from the first round to the end at the coordinator."""
        wait_for("the first round", lambda: self.round() > 0, limit)
        start = time.monotonic()
        wait_for("the end", lambda: self.status()["phase"] == "over", limit)
        seconds = time.monotonic() - start
        wait_for("the results at the sites", self.is_over, limit)
        return seconds

    def fit(self):
        """`fit.json` without its provenance; all sites must have the coordinator's."""
        found = [self.folder / "hub/results/bank/fit.json"]
        found += [
            self.folder / "home" / n / "studies/bank/results/fit.json"
            for n in self.names
        ]
        fits = [json.loads(file.read_text()) for file in found]
        for fit in fits:
            fit.pop("provenance", None)
        assert all(fit == fits[0] for fit in fits), "another fit at a site"
        return fits[0]

    def uploads(self, name):
        """The attempts that a site has answered, as its journal has them."""
        journal = self.folder / "home" / name / "studies/bank/journal.jsonl"
        entries = [
            json.loads(line)["entry"] for line in journal.read_text().splitlines()
        ]
        return [str(entry["turn"]) for entry in entries if entry["event"] == "upload"]

    def check(self):
        """No attempt was answered twice, and the chains of hashes hold."""
        for name in self.names:
            turns = self.uploads(name)
            assert turns and len(turns) == len(set(turns)), (name, turns)
            self.site(name, "audit")

    def in_one_process(self):
        """`fit.json` of `fedirt fit --secure` with the same answers."""
        files = [f"{name}.csv" for name in self.names]
        fit = json.loads(self.fedirt("fit", *files, "--secure", "--json"))
        fit.pop("provenance", None)
        return fit

    def stop(self):
        for process in self.processes:
            process.kill()
