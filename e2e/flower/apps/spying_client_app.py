"""Reads whatever it can at a site: what somebody would write who may start runs and wants keys and answers."""

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedirt_courier.spying import opened

app = ClientApp()


@app.query("exchange")
def exchange(message: Message, context: Context) -> Message:
    return Message(
        RecordDict({"fedirt": ConfigRecord({"said": opened()})}), reply_to=message
    )
