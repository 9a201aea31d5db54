"""At the coordinator: goes between its mailbox and the sites'.

Nothing is kept here: a run that is started again asks every site how it stands. Which
site a node belongs to is known from signed messages alone, which the coordinator's
mailbox checks; never from the node's id or from what it says.
"""

import time
from dataclasses import dataclass
from logging import INFO, WARNING

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid, ServerApp

from fedirt_courier.parcel import ask, pack, unpack

# Seconds until a node is asked again, by what its site's mailbox said.
AGAIN = {"waiting": 0.0, "busy": 2.0, "not_taken": 5.0, "officer": 30.0, "fault": 30.0}

app = ServerApp()


@dataclass
class Node:
    """What is known of a node."""

    poll: bytes | None = None
    site: str | None = None
    over: bool = False
    busy: bool = False
    again: float = 0.0
    since: float = 0.0

    def wait(self, seconds: float) -> None:
        """Leaves the node alone for a while."""
        self.again = time.monotonic() + seconds


class Courier:
    """Goes between the coordinator's mailbox and the nodes of a grid."""

    def __init__(self, grid: Grid, config: dict) -> None:
        self.grid = grid
        self.study = str(config["study"])
        self.mailbox = str(config["mailbox"])
        self.ttl = float(config["ttl"])
        self.nodes: dict[int, Node] = {}
        self.under_way: dict[str, int] = {}
        self.messages = 0

    def ask(self, header, parts=()):
        """Asks the coordinator's mailbox."""
        return unpack(ask(self.mailbox, pack(header, parts)))

    def status(self):
        """Where the study stands."""
        return self.ask({"ask": "status"})[0]["status"]

    def take(self, node: Node, kind: str, part: bytes):
        """Hands a site's part to the coordinator; gives the mail that is its answer."""
        header, mail = self.ask({"ask": "take", "kind": kind}, [part])
        if refused := header.get("refused"):
            log(INFO, "fedirt: %s of %s is not taken: %s", kind, node.site, refused[1])
        node.site = header.get("site", node.site)
        return mail

    def send(self) -> None:
        """Sends mail to nodes that wait for it, and asks new ones who they are."""
        now = time.monotonic()
        letters = []
        for ident in self.grid.get_node_ids():
            node = self.nodes.setdefault(ident, Node())
            if node.busy or node.over or now < node.again:
                continue
            mail = []
            if node.poll is not None:
                mail = self.take(node, "poll", node.poll)
                if not mail:
                    continue
            parcel = pack({"study": self.study}, mail)
            content = RecordDict({"fedirt": ConfigRecord({"parcel": parcel})})
            letter = Message(
                content,
                dst_node_id=ident,
                message_type="query.exchange",
                ttl=self.ttl,
            )
            letters.append((ident, letter))
        if not letters:
            return
        pushed = self.grid.push_messages([letter for _, letter in letters])
        for (ident, _), message in zip(letters, pushed, strict=True):
            self.under_way[message] = ident
            self.nodes[ident].busy = True
            self.nodes[ident].since = now
        self.messages += len(letters)

    def receive(self) -> None:
        """Takes what has come back."""
        if not self.under_way:
            return
        for reply in self.grid.pull_messages(list(self.under_way)):
            ident = self.under_way.pop(reply.metadata.reply_to_message_id, None)
            if ident is None:
                continue
            node = self.nodes[ident]
            node.busy = False
            try:
                self.answered(node, reply)
            except (OSError, ValueError, KeyError, TypeError) as error:
                # The same mail is sent again, and the site says the same again.
                log(WARNING, "fedirt: node %s: %s", ident, error)
                node.wait(5.0)

    def answered(self, node: Node, reply: Message) -> None:
        """Takes a node's answer."""
        if reply.has_error():
            log(WARNING, "fedirt: %s: %s", node.site, reply.error.reason)
            node.wait(5.0)
            return
        said = reply.content["fedirt"]
        if "parcel" not in said:
            log(WARNING, "fedirt: %s has no mailbox: %s", node.site, said["error"])
            node.wait(30.0)
            return
        header, parts = unpack(bytes(said["parcel"]))
        poll = None
        for kind, part in zip(header["parts"], parts, strict=True):
            if kind == "poll":
                poll = part
            else:
                self.take(node, str(kind), part)
        state = str(header["state"])
        node.over = state == "over"
        node.poll = poll
        node.wait(AGAIN.get(state, 30.0))
        log(
            INFO,
            "fedirt: %s %s, %d bytes, %.1f s",
            node.site,
            state,
            sum(len(part) for part in parts),
            time.monotonic() - node.since,
        )

    def is_done(self, sites) -> bool:
        """Whether every site knows that the study is over."""
        return set(sites) <= {node.site for node in self.nodes.values() if node.over}


@app.main()
def main(grid: Grid, context: Context) -> None:
    """Carries until the study is over and every site knows it."""
    config = context.run_config
    courier = Courier(grid, config)
    began = time.monotonic()
    ended = None
    phase = None
    while True:
        try:
            status = courier.status()
            courier.send()
            courier.receive()
        except (OSError, ValueError) as error:
            log(WARNING, "fedirt: the coordinator's mailbox: %s", error)
            time.sleep(5.0)
            continue
        if status["phase"] != phase:
            phase = status["phase"]
            log(INFO, "fedirt: %s is %s", status["study"], phase)
        if phase == "over":
            ended = ended or time.monotonic()
            late = time.monotonic() - ended > float(config["patience"])
            if late or courier.is_done(status["sites"]):
                break
        time.sleep(float(config["pause"]))
    log(
        INFO,
        "fedirt: %s is over: %.1f s, %d messages",
        courier.study,
        time.monotonic() - began,
        courier.messages,
    )
