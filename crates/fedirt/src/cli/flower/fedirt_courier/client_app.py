"""At a site: hands bytes to the site's mailbox and brings back its answer.

It needs no key, no file and no setting but the socket, which the site's own SuperNode names:

    flower-supernode --node-config 'mailbox="/run/fedirt/site.sock"'
"""

from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.clientapp import ClientApp

from fedirt_courier.parcel import ask

app = ClientApp()


@app.query("exchange")
def exchange(message: Message, context: Context) -> Message:
    """One request, one answer."""
    try:
        request = bytes(message.content["fedirt"]["parcel"])
        said = {"parcel": ask(str(context.node_config["mailbox"]), request)}
    except (OSError, KeyError) as error:
        # The kind of error alone: what else it says is about the site's machine.
        said = {"error": type(error).__name__}
    return Message(RecordDict({"fedirt": ConfigRecord(said)}), reply_to=message)
