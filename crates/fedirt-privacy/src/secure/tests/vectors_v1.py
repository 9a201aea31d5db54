#!/usr/bin/env python3
"""Recomputes the test vectors of version 1 without any code of fedirt, and prints vectors_v1.rs.

    pip install cryptography
    python3 vectors_v1.py | rustfmt --config-path ../../../../../rustfmt.toml > vectors_v1.rs

The primitives are those of the package cryptography (OpenSSL); the encodings are written out from the
documentation of encoding.rs, hello.rs, cohort.rs, mask.rs and upload.rs.
"""
from hashlib import sha256
from struct import pack

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

VERSION = 1
STUDY, PLAN, ROUND, ATTEMPT = "reading-2026", sha256(b"plan").digest(), 3, 2
SITES = ["Alba", "Borgo", "Città"]
BROADCAST = b"theta and all that was asked for"
LENGTH, LONG = 11, 1030  # the long vector crosses a page of keystream


def number(n):
    return pack("<Q", n)


def fields(label, *parts):
    parts = [label.encode(), number(VERSION), *parts]
    return b"".join(pack("<Q", len(p)) + p for p in parts)


def h(message):
    return sha256(message).digest()


def input_words(site, length):
    k = SITES.index(site)
    return [(k * 1000 + n if n % 2 == 0 else -(k + 1) * n) % 2**64 for n in range(length)]


identity = {s: Ed25519PrivateKey.from_private_bytes(h(b"identity " + s.encode())) for s in SITES}
round_key = {s: X25519PrivateKey.from_private_bytes(h(b"round key " + s.encode())) for s in SITES}
public = {s: identity[s].public_key().public_bytes_raw() for s in SITES}
round_public = {s: round_key[s].public_key().public_bytes_raw() for s in SITES}
where = [STUDY.encode(), PLAN, number(ROUND), number(ATTEMPT)]


def fingerprint(digest):
    return " ".join(f"{int.from_bytes(digest[i:i + 4], 'little') % 100000:05}" for i in range(0, 32, 4))


roster = fields(
    "fedirt roster", STUDY.encode(), number(1), number(len(SITES)),
    *(p for s in SITES for p in (s.encode(), public[s])),
)
hello = {s: fields("fedirt hello", *where, s.encode(), round_public[s]) for s in SITES}
context = h(fields(
    "fedirt context", *where, h(BROADCAST), number(len(SITES)),
    *(p for s in SITES for p in (s.encode(), round_public[s])),
))


def pair_key(low, high):
    shared = round_key[low].exchange(X25519PublicKey.from_public_bytes(round_public[high]))
    info = fields("fedirt mask", low.encode(), high.encode())
    return HKDF(algorithm=SHA256(), length=32, salt=context, info=info).derive(shared)


def stream(key, length):
    # counter 0 (four bytes), then the nonce of twelve zero bytes
    encryptor = Cipher(algorithms.ChaCha20(key, bytes(16)), mode=None).encryptor()
    data = encryptor.update(bytes(8 * length))
    return [int.from_bytes(data[8 * n:8 * n + 8], "little") for n in range(length)]


def masked(site, length):
    words = input_words(site, length)
    for other in SITES:
        if other != site:
            low, high = sorted([site, other], key=str.encode)
            sign = 1 if site == low else -1
            words = [(w + sign * m) % 2**64 for w, m in zip(words, stream(pair_key(low, high), length))]
    return words


def words_bytes(words):
    return b"".join(map(number, words))


def show(name, values):
    if len(values) == 1:
        print(f'\npub(super) const {name}: &str = "{values[0].hex()}";')
        return
    print(f"\npub(super) const {name}: [&str; {len(values)}] = [")
    for value in values:
        print(f'    "{value if isinstance(value, str) else value.hex()}",')
    print("];")


print("//! Printed by vectors_v1.py, which uses no code of this crate: do not edit.")
show("PUBLIC_IDENTITIES", [public[s] for s in SITES])
show("FINGERPRINTS", [fingerprint(h(public[s])) for s in SITES])
show("ROUND_PUBLIC_KEYS", [round_public[s] for s in SITES])
show("ROSTER_HASH", [h(roster)])
show("HELLO_SIGNATURES", [identity[s].sign(hello[s]) for s in SITES])
show("CONTEXT", [context])
pairs = [(SITES[i], SITES[j]) for i in range(3) for j in range(i + 1, 3)]
show("PAIR_KEYS", [pair_key(*p) for p in pairs])
show("FIRST_MASK_WORDS", [words_bytes(stream(pair_key(*p), 1)) for p in pairs])
show("MASKED", [words_bytes(masked(s, LENGTH)) for s in SITES])
show("LONG_MASKED_HASHES", [h(words_bytes(masked(s, LONG))) for s in SITES])
show("UPLOAD_SIGNATURES", [
    identity[s].sign(fields("fedirt upload", context, s.encode(), h(words_bytes(masked(s, LENGTH)))))
    for s in SITES
])
total = [sum(column) % 2**64 for column in zip(*(masked(s, LENGTH) for s in SITES))]
assert total == [sum(column) % 2**64 for column in zip(*(input_words(s, LENGTH) for s in SITES))]
show("SUM", [words_bytes(total)])
