"""A ServerApp that carries, and on the way does what it can: mail of one site to another, damaged mail, forged ends, older mail of
the same site again, and mail to a SuperNode that belongs to no site.

It has no key of the coordinator's, as it has an account of its own; sites must take nothing of this.
"""

import random
import time
from logging import INFO

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid, ServerApp

from fedirt_courier.parcel import ask, pack, unpack

app = ServerApp()
dice = random.Random(2026)


def exchange(grid, node, parcel):
    """One message to one node; its answer."""
    content = RecordDict({"fedirt": ConfigRecord({"parcel": parcel})})
    letter = Message(
        content, dst_node_id=node, message_type="query.exchange", ttl=600.0
    )
    waiting = list(grid.push_messages([letter]))
    while True:
        for reply in grid.pull_messages(waiting):
            if reply.has_error() or "parcel" not in reply.content["fedirt"]:
                return {"state": "fault", "parts": []}, []
            return unpack(bytes(reply.content["fedirt"]["parcel"]))
        time.sleep(0.2)


def damaged(mail):
    at = dice.randrange(len(mail))
    return mail[:at] + bytes([mail[at] ^ 1 << dice.randrange(8)]) + mail[at + 1 :]


@app.main()
def main(grid: Grid, context: Context) -> None:
    hub, study = str(context.run_config["mailbox"]), str(context.run_config["study"])
    while len(nodes := list(grid.get_node_ids())) < 4:
        time.sleep(1)
    # Who is nobody's site has no mailbox. It is shown mail all the same.
    sites = []
    while len(sites) < 3:
        said = {node: exchange(grid, node, pack({"study": study}))[0] for node in nodes}
        sites = [node for node in nodes if said[node]["state"] != "fault"]
    strangers = [node for node in nodes if node not in sites]
    polls, over, last, older, turn = {}, set(), {}, {}, 0
    while len(over) < 3:
        for k, node in enumerate(sites):
            if node in over:
                continue
            mail = (
                unpack(ask(hub, pack({"ask": "take", "kind": "poll"}, [polls[node]])))[
                    1
                ]
                if node in polls
                else []
            )
            if node in polls and not mail:
                time.sleep(0.5)
                continue
            other = last.get(sites[(k + 1) % 3])
            forged = {
                0: mail and [damaged(mail[0])],
                1: other,
                2: [b"FIRT\x03" + b"\0" * 40],
            }.get(turn % 9)
            turn += 1
            if forged:
                header, _ = exchange(grid, node, pack({"study": study}, forged))
                log(INFO, "HOSTILE sent")
                taken = header["state"] != "not_taken"
                log(INFO, "HOSTILE taken" if taken else "HOSTILE refused")
            if mail and turn % 9 == 4 and node in older:
                # It was in order once: the site says again what it said then, or nothing.
                header, _ = exchange(
                    grid, node, pack({"study": study}, older[node])
                )
                log(INFO, "HOSTILE replayed %s", header["state"])
            if mail and turn >= 8 and strangers:
                stranger = strangers.pop()
                header, parts = exchange(grid, stranger, pack({"study": study}, mail))
                assert header["state"] == "fault" and not parts, header
                log(INFO, "HOSTILE stranger")
            if mail:
                older[node] = last.get(node, mail)
                last[node] = mail
            header, parts = exchange(grid, node, pack({"study": study}, mail))
            for kind, part in zip(header["parts"], parts, strict=True):
                if kind == "poll":
                    polls[node] = part
                else:
                    ask(hub, pack({"ask": "take", "kind": kind}, [damaged(part)]))
                    ask(hub, pack({"ask": "take", "kind": kind}, [part]))
            if header["state"] == "over":
                over.add(node)
            if header["state"] == "officer":
                time.sleep(10)
