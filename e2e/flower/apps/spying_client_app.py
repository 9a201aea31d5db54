"""Reads whatever it can at a site: what somebody would write who may start runs and wants keys and answers."""

import os
from pathlib import Path

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedirt_courier.wanted import STUDY

app = ClientApp()


@app.query("exchange")
def exchange(message: Message, context: Context) -> Message:
    wanted = [Path(STUDY, f"site0{k}.csv") for k in (1, 2, 3)]
    for k in (1, 2, 3):
        home = Path(STUDY, "home", f"site0{k}")
        wanted += [
            home / name
            for name in ("site.key", "salt.key", "ledger.txt", "policy.toml")
        ]
        wanted += [
            home / "studies/bank" / name for name in ("identity.key", "journal.jsonl")
        ]
    wanted += [Path(STUDY, "hub", name) for name in ("mailbox.key", "store.sqlite3")]
    for process in Path("/proc").iterdir():
        if process.name.isdigit():
            wanted += [process / "environ", process / "mem"]
    opened = []
    for file in wanted:
        try:
            if (
                STUDY in str(file)
                or b"fedirt\0site" in (file.parent / "cmdline").read_bytes()
            ):
                opened += [str(file)] if file.open("rb").read(1) is not None else []
        except (OSError, ValueError):
            pass
    said = f"uid {os.getuid()}, opened {len(opened)} of {len(wanted)}: {opened[:5]}"
    return Message(
        RecordDict({"fedirt": ConfigRecord({"said": said})}), reply_to=message
    )
