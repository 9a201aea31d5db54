"""Studies over a real Flower deployment on this machine (run.sh).

    secure      three sites, killed at every place in the middle; fit.json is that of `fedirt fit --secure`
    private     three sites, to the end
    spy         an app that reads what it can at every node gets nothing
    hostile     an app that alters, replays and mixes up mail changes nothing
    seconds     seconds per round with 3 sites (and 10 with `seconds10`), beside fedirt's own coordinator

Without arguments all but `seconds10`.
"""

import os
import shutil
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

    def __init__(self, name, mode, sites=3):
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
        self.flower = Deployment(self.folder / "flower", self.study.names, sockets)

    def carry(self):
        """Starts a run of the couriers."""
        return self.flower.run(self.app)

    def finish(self):
        """Everything that holds of a finished study."""
        wait_for("the end at all sites", self.study.is_over, 1800)
        fit = self.study.fit()
        self.study.check()
        return fit

    def stop(self):
        self.flower.stop()
        self.study.stop()


def secure():
    consortium = Consortium("secure", "secure")
    study, flower = consortium.study, consortium.flower
    run = consortium.carry()
    study.approve()
    start = time.monotonic()

    def until(number):
        wait_for(
            f"round {number}", lambda: study.round() >= number or study.is_over(), 900
        )
        say(f"secure: round {study.round()}, {time.monotonic() - start:.0f} s")

    until(2)
    for name in ("hub", "site01"):
        study.mailboxes[name].kill()
        study.mailboxes[name].start()
    say(
        "secure: killed the mailboxes of the coordinator and of site01, and started them again"
    )
    until(3)
    assert flower.kill_server_app() > 0, "no ServerApp"
    wait_for("the failed run", lambda: flower.state(run).startswith("finished"), 300)
    run = consortium.carry()
    say("secure: killed the ServerApp; its run failed, another one goes on")
    until(4)
    flower.processes["link"].kill()
    flower.start_link()
    say("secure: killed the SuperLink, and started it again")
    until(5)
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
    wait_for(
        "the end of the run", lambda: flower.state(run) == "finished:completed", 300
    )
    consortium.stop()


def private():
    consortium = Consortium("private", "private")
    run = consortium.carry()
    consortium.study.approve()
    start = time.monotonic()
    fit = consortium.finish()
    say(f"private: ε = {fit['privacy']['epsilon']}, {time.monotonic() - start:.0f} s")
    wait_for(
        "the run", lambda: consortium.flower.state(run) == "finished:completed", 300
    )
    consortium.stop()


def spy():
    """Sites that have everything to read: keys, answers, journals. The app tells what it could open."""
    consortium = Consortium("spy", "secure")
    study, flower = consortium.study, consortium.flower
    app = consortium.folder / "spying"
    shutil.copytree(consortium.app, app)
    for file in ("client_app.py", "server_app.py"):
        shutil.copy(APPS / f"spying_{file}", app / "fedirt_courier" / file)
    (app / "fedirt_courier" / "wanted.py").write_text(
        f"STUDY = {str(study.folder)!r}\n"
    )
    for file in ("site01.csv", "home/site01/site.key", "hub/mailbox.key"):
        assert (study.folder / file).exists(), f"{file}: nothing to read there"
    run = flower.run(app)
    ended = wait_for(
        "the spying run",
        lambda: flower.state(run).startswith("finished") and flower.log(run),
        600,
    )
    told = [line.split("SPY ")[1] for line in ended.splitlines() if "SPY " in line]
    assert len(told) == len(study.names), ended
    for line in told:
        say(f"spy: {line}")
        assert "opened 0 of" in line and "opened 0 of 0" not in line, line
    consortium.stop()


def hostile():
    consortium = Consortium("hostile", "secure")
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
        f"hostile: {log.count('HOSTILE sent')} forged parcels, {refused} refused; the same fit.json"
    )
    assert refused > 5 and "HOSTILE taken" not in log, log
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


PARTS = {
    "secure": secure,
    "private": private,
    "spy": spy,
    "hostile": hostile,
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
    wanted = sys.argv[1:] or [part for part in PARTS if part != "seconds10"]
    for part in wanted:
        if part not in PARTS:
            sys.exit(f"{part}: choose from {', '.join(PARTS)}")
    for part in wanted:
        PARTS[part]()
    say(f"all is well: {', '.join(wanted)}")
