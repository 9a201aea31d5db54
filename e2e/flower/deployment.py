"""A Flower deployment on this machine: SuperLink, SuperNodes, and their executors, with TLS, node authentication and a database.

Executors run beside the SuperLink (`--isolation process`), so that a run survives its restart. SuperNodes have an account of their
own (65534) that may open the mailboxes' sockets and nothing else of a site; ServerApps have another (65533), which may open the
coordinator's socket and nothing else of its folder.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

from study import Process, wait_for

BIN = Path(sys.executable).parent
ACCOUNT = 65534
SERVER_ACCOUNT = 65533
QUIET = {
    "PATH": f"{BIN}:{os.environ['PATH']}",
    "FLWR_TELEMETRY_ENABLED": "0",
    "FLWR_DISABLE_UPDATE_CHECK": "1",
    "FLWR_SUPEREXEC_TASK_POLL_INTERVAL": "0.1",
}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Deployment:
    """One SuperLink, and a SuperNode for each site."""

    def __init__(self, folder, sites, sockets):
        self.folder, self.sites, self.sockets = folder, sites, sockets
        folder.mkdir()
        folder.chmod(0o755)
        self.tls = folder / "tls"
        self.tls.mkdir()
        subprocess.run(
            [
                "openssl",
                "req",
                "-x509",
                "-newkey",
                "ec",
                "-pkeyopt",
                "ec_paramgen_curve:P-256",
            ]
            + [
                "-nodes",
                "-days",
                "2",
                "-subj",
                "/CN=localhost",
                "-keyout",
                "server.key",
            ]
            + [
                "-out",
                "server.pem",
                "-addext",
                "subjectAltName=IP:127.0.0.1,DNS:localhost",
            ],
            cwd=self.tls,
            check=True,
            capture_output=True,
        )
        (self.tls / "secret").write_text("a" * 64)
        self.address = f"127.0.0.1:{free_port()}"
        home = folder / "home"
        home.mkdir()
        (home / "config.toml").write_text(
            '[superlink]\ndefault = "tls"\n\n[superlink.tls]\n'
            f'address = "{self.address}"\nroot-certificates = "{self.tls}/server.pem"\n'
        )
        self.environment = {**QUIET, "FLWR_HOME": str(home)}
        self.processes = {}
        self.start_link()
        wait_for("the SuperLink", self.answers, 120)
        own = folder / "exec"
        own.mkdir()
        shutil.chown(own, SERVER_ACCOUNT, SERVER_ACCOUNT)
        execute = ["setpriv", f"--reuid={SERVER_ACCOUNT}", f"--regid={SERVER_ACCOUNT}"]
        # The sockets are the group's.
        execute += [f"--groups={ACCOUNT}", BIN / "flower-superexec"]
        execute += ["--runtime-api-address", self.address]
        execute += [
            "--root-certificates",
            "server.pem",
            "--superexec-auth-secret-file",
            "secret",
        ]
        apart = {**QUIET, "FLWR_HOME": str(own), "HOME": str(own)}
        self.processes["exec"] = Process("exec", execute, self.tls, apart)
        for site in sites:
            key = self.tls / site
            make = ["ssh-keygen", "-q", "-t", "ecdsa", "-b", "384", "-N", "", "-f", key]
            subprocess.run(make, check=True)
            self.flwr("supernode", "register", f"{key}.pub", "tls")
            shutil.chown(key, ACCOUNT, ACCOUNT)
            self.start_node(site)

    def start_link(self):
        tls = ["--ssl-ca-certfile", "server.pem", "--ssl-certfile", "server.pem"]
        host, port = self.address.split(":")
        link = [BIN / "flower-superlink", *tls, "--ssl-keyfile", "server.key"]
        link += ["--enable-supernode-auth", "--database", self.folder / "state.db"]
        link += ["--host", host, "--port", port, "--isolation", "process"]
        link += ["--superexec-auth-secret-file", "secret"]
        if "link" in self.processes:
            self.processes["link"].start()
            return
        self.processes["link"] = Process("link", link, self.tls, self.environment)

    def start_node(self, site):
        if site in self.processes:
            self.processes[site].start()
            return
        home = self.folder / site
        home.mkdir()
        shutil.chown(home, ACCOUNT, ACCOUNT)
        node = ["setpriv", f"--reuid={ACCOUNT}", f"--regid={ACCOUNT}", "--clear-groups"]
        node += [BIN / "flower-supernode", "--superlink", self.address]
        node += ["--root-certificates", self.tls / "server.pem"]
        node += ["--auth-supernode-private-key", self.tls / site]
        node += ["--host", "127.0.0.1", "--port", str(free_port())]
        node += ["--node-config", f'mailbox="{self.sockets / site}.sock"']
        environment = {**QUIET, "FLWR_HOME": str(home), "HOME": str(home)}
        self.processes[site] = Process(f"node-{site}", node, self.folder, environment)

    def flwr(self, *arguments):
        command = [BIN / "flwr", *map(str, arguments)]
        environment = {**os.environ, **self.environment}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if done.returncode:
            sys.exit(
                f"flwr {' '.join(map(str, arguments))}:\n{done.stdout}\n{done.stderr}"
            )
        return done.stdout

    def answers(self):
        host, port = self.address.split(":")
        with socket.socket() as attempt:
            return attempt.connect_ex((host, int(port))) == 0

    def run(self, app):
        """Starts a run of an app; gives its number."""
        told = self.flwr("run", app, "tls", "--format", "json")
        return str(json.loads(told[told.index("{") :])["run-id"])

    def log(self, run):
        """What a run has printed."""
        return self.flwr("log", run, "tls", "--show")

    def state(self, run):
        """`pending`, `starting`, `running` or `finished:…`."""
        told = self.flwr("ls", "tls", "--format", "json")
        runs = json.loads(told[told.index("{") :])["runs"]
        return next(r["status"] for r in runs if str(r["run-id"]) == run)

    def kill_server_app(self):
        """SIGKILL to the process of the ServerApp, a child of the executor."""
        group = os.getpgid(self.processes["exec"].process.pid)
        killed = 0
        for entry in Path("/proc").iterdir():
            if not re.fullmatch(r"\d+", entry.name):
                continue
            try:
                command = (entry / "cmdline").read_bytes()
                ours = os.getpgid(int(entry.name)) == group
            except (FileNotFoundError, ProcessLookupError):
                continue
            if ours and b"flwr-serverapp" in command:
                os.kill(int(entry.name), 9)
                killed += 1
        return killed

    def stop(self):
        for process in self.processes.values():
            process.kill()
