"""Studies over a real Flower deployment on this machine (run.sh).

    quick       three sites, to the end; fit.json is that of `fedirt fit --secure` (some minutes)
    secure      the same, killed at every place in the middle
    private     three sites, killed in the middle; nothing is spent twice
    spy         an app that reads what it can at every node, and at the coordinator, gets nothing in the middle of a study
    hostile     an app that alters, replays and mixes up mail changes nothing, with a SuperNode that belongs to no site
    units       systemd finds nothing wrong with the units of `fedirt flower init`
    seconds     seconds per round with 3 sites (and 10 with `seconds10`), beside fedirt's own coordinator

Without arguments all but `quick` and `seconds10`.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from deployment import ACCOUNT, Deployment
from study import FEDIRT, Study, fedirt, wait_for

WORK = Path(os.environ["FLOWER"]).resolve()
APPS = Path(__file__).parent / "apps"


def say(text):
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)


class Consortium:
    """A study over mailboxes with a deployment, and the project that carries it."""

    def __init__(self, name, mode, sites=3, strangers=()):
        self.folder = WORK / name
        shutil.rmtree(self.folder, ignore_errors=True)
        self.study = Study(self.folder / "study", mode, sites)
        sockets = self.folder / "sockets"
        sockets.mkdir()
        os.chown(sockets, 0, ACCOUNT)
        sockets.chmod(0o2750)
        hub = self.study.over_mailboxes(sockets)
        self.app = self.folder / "app"
        fedirt("flower", "init", "bank", "--out", self.app, "--socket", hub, cwd=WORK)
        nodes = [*self.study.names, *strangers]
        self.flower = Deployment(self.folder / "flower", nodes, sockets)

    def carry(self):
        """Starts a run of the couriers."""
        return self.flower.run(self.app)

    def finish(self):
        """Everything that holds of a finished study."""
        wait_for("the end at all sites", self.study.is_over, 1800)
        fit = self.study.fit()
        self.study.check()
        return fit

    def until(self, number):
        """Waits for a round."""
        study = self.study
        wait_for(
            f"round {number}", lambda: study.round() >= number or study.is_over(), 900
        )
        say(f"{study.mode}: round {study.round()}")

    def kill_mailboxes(self, *names):
        for name in names:
            self.study.mailboxes[name].kill()
            self.study.mailboxes[name].start()
        say(f"{self.study.mode}: killed the mailboxes of {' and '.join(names)}")

    def kill_server_app(self, run):
        """Kills it, waits until its run has failed, and starts another one."""
        assert self.flower.kill_server_app() > 0, "no ServerApp"
        wait_for(
            "the failed run",
            lambda: self.flower.state(run).startswith("finished"),
            300,
        )
        say(f"{self.study.mode}: killed the ServerApp; its run failed, another goes on")
        return self.carry()

    def completed(self, run):
        wait_for(
            "the end of the run",
            lambda: self.flower.state(run) == "finished:completed",
            300,
        )

    def stop(self):
        self.flower.stop()
        self.study.stop()


def quick():
    consortium = Consortium("quick", "secure")
    start = time.monotonic()
    run = consortium.carry()
    consortium.study.approve()
    fit = consortium.finish()
    assert fit == consortium.study.in_one_process(), "another fit than in one process"
    say(
        f"quick: fit.json is that of `fedirt fit --secure`; {time.monotonic() - start:.0f} s"
    )
    consortium.completed(run)
    consortium.stop()


def secure():
    consortium = Consortium("secure", "secure")
    study, flower = consortium.study, consortium.flower
    run = consortium.carry()
    study.approve()
    start = time.monotonic()
    consortium.until(2)
    consortium.kill_mailboxes("hub", "site01")
    consortium.until(3)
    run = consortium.kill_server_app(run)
    consortium.until(4)
    flower.processes["link"].kill()
    flower.start_link()
    say("secure: killed the SuperLink, and started it again")
    consortium.until(5)
    flower.processes["site02"].kill()
    say("secure: killed the SuperNode of site02; it returns after 65 s")
    time.sleep(65)
    flower.start_node("site02")
    fit = consortium.finish()
    assert fit == study.in_one_process(), "another fit than in one process"
    say(
        f"secure: fit.json is that of `fedirt fit --secure`; {fit['exchanges']} exchanges, "
        f"{time.monotonic() - start:.0f} s with four kills"
    )
    consortium.completed(run)
    consortium.stop()


def private():
    consortium = Consortium("private", "private")
    study, flower = consortium.study, consortium.flower
    run = consortium.carry()
    study.approve()
    start = time.monotonic()
    consortium.until(1)
    consortium.kill_mailboxes("hub", "site01", "site02")
    run = consortium.kill_server_app(run)
    consortium.until(2)
    flower.processes["site03"].kill()
    say("private: killed the SuperNode of site03; it returns after 65 s")
    time.sleep(65)
    flower.start_node("site03")
    fit = consortium.finish()
    # Two questions, each answered and paid for once.
    for name in study.names:
        assert len(study.uploads(name)) == 2, (name, study.uploads(name))
    say(
        f"private: ε = {fit['privacy']['epsilon']}, two debits at each site, {time.monotonic() - start:.0f} s with five kills"
    )
    consortium.completed(run)
    consortium.stop()


def spy():
    """Sites that have everything to read: keys, answers, journals. The app tells what it could open."""
    consortium = Consortium("spy", "secure")
    study, flower = consortium.study, consortium.flower
    consortium.carry()
    study.approve()
    consortium.until(2)
    app = consortium.folder / "spying"
    shutil.copytree(consortium.app, app)
    for file in ("client_app.py", "server_app.py"):
        shutil.copy(APPS / f"spying_{file}", app / "fedirt_courier" / file)
    shutil.copy(APPS / "spying.py", app / "fedirt_courier" / "spying.py")
    wanted = [f"{name}.csv" for name in study.names]
    wanted += [
        f"home/{name}/{file}"
        for name in study.names
        for file in (
            *("site.key", "salt.key", "policy.toml"),
            *("studies/bank/identity.key", "studies/bank/journal.jsonl"),
        )
    ]
    wanted += ["hub/mailbox.key", "hub/plans/bank.toml"]
    wanted = [str(study.folder / file) for file in wanted]
    (app / "fedirt_courier" / "wanted.py").write_text(f"WANTED = {wanted!r}\n")
    # There is something to read: whoever may read everything can open each of them.
    for file in wanted:
        assert Path(file).read_bytes(), file
    run = flower.run(app)
    ended = wait_for(
        "the spying run",
        lambda: flower.state(run).startswith("finished") and flower.log(run),
        600,
    )
    told = [line.split("SPY ")[1] for line in ended.splitlines() if "SPY " in line]
    assert len(told) == len(study.names) + 1, ended
    for line in told:
        say(f"spy: {line}")
        assert f"opened 0 of {len(wanted)} files" in line, line
        assert "opened 0 processes" in line, line
    consortium.stop()


def hostile():
    consortium = Consortium("hostile", "secure", strangers=["stranger"])
    study, flower = consortium.study, consortium.flower
    app = consortium.folder / "hostile"
    shutil.copytree(consortium.app, app)
    shutil.copy(
        APPS / "hostile_server_app.py", app / "fedirt_courier" / "server_app.py"
    )
    run = flower.run(app)
    study.approve()
    fit = consortium.finish()
    assert fit == study.in_one_process(), "another fit than in one process"
    log = flower.log(run)
    refused = log.count("HOSTILE refused")
    say(
        f"hostile: {log.count('HOSTILE sent')} forged parcels, {refused} refused; "
        f"{log.count('HOSTILE replayed')} of a site's own older mail; the same fit.json"
    )
    assert refused > 5 and "HOSTILE taken" not in log, log
    assert "HOSTILE replayed" in log and "HOSTILE stranger" in log, log
    consortium.stop()


def seconds(sites=3):
    own = WORK / f"own{sites}"
    shutil.rmtree(own, ignore_errors=True)
    study = Study(own, "secure", sites)
    https = study.over_https()
    expected, rounds = study.fit(), study.fit()["exchanges"]
    study.stop()
    consortium = Consortium(f"seconds{sites}", "secure", sites)
    consortium.carry()
    consortium.study.approve()
    flower = consortium.study.seconds()
    assert consortium.finish() == expected, "another fit than over HTTPS"
    load = os.getloadavg()[0]
    say(
        f"seconds: {sites} sites, {rounds} rounds: Flower {flower:.0f} s ({flower / rounds:.1f} s a round), "
        f"own coordinator {https:.1f} s ({https / rounds:.2f} s a round); load {load:.0f}"
    )
    consortium.stop()


def units():
    if shutil.which("systemd-analyze") is None:
        say("units: LEFT OUT, there is no systemd-analyze here")
        return
    folder = WORK / "units"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    fedirt("flower", "init", "bank", "--out", folder / "app", cwd=WORK)
    tried = sorted((folder / "app" / "systemd").glob("*.service"))
    for unit in tried:
        # Programs that this machine has, in place of those of the units.
        text = unit.read_text()
        for program in (
            "/opt/flower/bin/flower-supernode",
            "/usr/local/bin/fedirt",
        ):
            text = text.replace(program, "/bin/true")
        unit.write_text(text)
    verify = ["systemd-analyze", "verify", "--man=no", *map(str, tried)]
    done = subprocess.run(verify, capture_output=True, text=True)
    ours = [
        line
        for line in (done.stdout + done.stderr).splitlines()
        if str(folder) in line or any(unit.name in line for unit in tried)
    ]
    assert len(tried) == 3 and not ours, "\n".join(ours)
    say(f"units: systemd finds nothing wrong with {len(tried)} units")


PARTS = {
    "quick": quick,
    "secure": secure,
    "private": private,
    "spy": spy,
    "hostile": hostile,
    "units": units,
    "seconds": seconds,
    "seconds10": lambda: seconds(10),
}

if __name__ == "__main__":
    if os.getuid() != 0:
        sys.exit("this needs root, to give the SuperNodes an account of their own")
    if not FEDIRT.exists():
        sys.exit(
            f"{FEDIRT} is not there: cargo build --release, or name a program with FEDIRT"
        )
    wanted = sys.argv[1:] or [part for part in PARTS if part not in ("quick", "seconds10")]
    for part in wanted:
        if part not in PARTS:
            sys.exit(f"{part}: choose from {', '.join(PARTS)}")
    for part in wanted:
        PARTS[part]()
    say(f"all is well: {', '.join(wanted)}")
