"""Asks every node once, and prints what it read; reads what it can at the coordinator itself."""

import time
from logging import INFO

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.common.logger import log
from flwr.serverapp import Grid, ServerApp

from fedirt_courier.spying import opened

app = ServerApp()


@app.main()
def main(grid: Grid, context: Context) -> None:
    log(INFO, "SPY %s", opened())
    while len(nodes := list(grid.get_node_ids())) < 3:
        time.sleep(1)
    content = RecordDict({"fedirt": ConfigRecord({"parcel": b""})})
    letters = [
        Message(content, dst_node_id=n, message_type="query.exchange") for n in nodes
    ]
    for reply in grid.send_and_receive(letters):
        said = (
            reply.error.reason if reply.has_error() else reply.content["fedirt"]["said"]
        )
        log(INFO, "SPY %s", said)
