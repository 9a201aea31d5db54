"""Requests and answers of mailboxes: a header in JSON and parts in bytes."""

import json
import socket
import struct

MAGIC = b"FIRTBOX1"
MOST_BYTES = 66 << 20
SECONDS = 120.0


def pack(header, parts=()):
    """A header and its parts as bytes."""
    text = json.dumps(header).encode()
    lengths = [len(text), len(parts), *(len(part) for part in parts)]
    return b"".join([MAGIC, struct.pack(f">{len(lengths)}I", *lengths), text, *parts])


def unpack(data):
    """The header and its parts; ValueError if these are not exactly such bytes."""
    try:
        if data[:8] != MAGIC:
            raise ValueError("this is no parcel of a mailbox")
        length, count = struct.unpack_from(">2I", data, 8)
        lengths = struct.unpack_from(f">{min(count, 8)}I", data, 16)
        at = 16 + 4 * len(lengths)
        header = json.loads(data[at : at + length])
        at += length
        parts = []
        for length in lengths:
            parts.append(data[at : at + length])
            at += length
    except (struct.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"this is no parcel of a mailbox: {error}") from error
    if at != len(data) or count != len(parts) or not isinstance(header, dict):
        raise ValueError("this is no whole parcel of a mailbox")
    return header, parts


def ask(path, request):
    """Hands a request to the mailbox at a socket; gives its answer."""
    with socket.socket(socket.AF_UNIX) as mailbox:
        mailbox.settimeout(SECONDS)
        mailbox.connect(path)
        mailbox.sendall(request)
        chunks = []
        left = MOST_BYTES
        while chunk := mailbox.recv(1 << 16):
            chunks.append(chunk)
            left -= len(chunk)
            if left < 0:
                raise ConnectionAbortedError("the mailbox does not come to an end")
    if not chunks:
        raise ConnectionAbortedError("the mailbox gave no answer")
    return b"".join(chunks)
