#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""security-key.py STATE PLACE [--pin PIN] [--tries N] [--uv] [--always-uv] [--eager] [--old] [--protocol 1|2]

A security key in software (CTAP 2.1), at the other end of the terminal that PLACE becomes a link to, until it is ended: where a
kernel has /dev/hidraw0, with the same packets of 64 bytes. STATE keeps what it is, made where it is not: a key that was
unplugged is plugged in again by starting it with the same one.

What a finger does stands in STATE.finger, looked at for each touch: `yes` (where there is no such file), `no`, `late`, `wait`,
which blinks until it is told to stop, or `pull`, which unplugs the key while it blinks. What the key was told stands in
STATE.log, a word a line.
"""
import argparse
import hashlib
import hmac
import json
import os
import pty
import struct
import termios
import time
import tty

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

INIT, CBOR, CANCEL, KEEPALIVE, ERROR = 0x86, 0x90, 0x91, 0xBB, 0xBF
(UNSUPPORTED_ALGORITHM, DENIED, CANCELLED, NO_CREDENTIALS, LATE, PIN_INVALID, PIN_BLOCKED, PIN_AUTH_INVALID, PIN_AUTH_BLOCKED,
 PIN_NOT_SET, PUAT_REQUIRED, UV_INVALID) = (
    0x26, 0x27, 0x2D, 0x2E, 0x2F, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x3F)


class Fault(Exception):
    """What a command comes to that goes wrong."""


# --- CBOR (RFC 8949), as CTAP uses it ---------------------------------------------------------------

def head(major, number):
    if number < 24:
        return bytes([major << 5 | number])
    for size, mark, form in ((1, 24, ">B"), (2, 25, ">H"), (4, 26, ">I")):
        if number < 1 << (8 * size):
            return bytes([major << 5 | mark]) + struct.pack(form, number)
    raise ValueError("too large")


def encode(value):
    if isinstance(value, bool):
        return b"\xf5" if value else b"\xf4"
    if isinstance(value, int):
        return head(0, value) if value >= 0 else head(1, -1 - value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, list):
        return head(4, len(value)) + b"".join(encode(each) for each in value)
    pairs = sorted(((encode(key), encode(each)) for key, each in value.items()),
                   key=lambda pair: (pair[0][0] >> 5, len(pair[0]), pair[0]))
    return head(5, len(pairs)) + b"".join(key + each for key, each in pairs)


def decode(data):
    def one(at):
        major, number = data[at] >> 5, data[at] & 31
        at += 1
        if number >= 24 and major != 7:
            size = 1 << (number - 24)
            number, at = int.from_bytes(data[at:at + size], "big"), at + size
        if major == 0:
            return number, at
        if major == 1:
            return -1 - number, at
        if major in (2, 3):
            part = bytes(data[at:at + number])
            return (part if major == 2 else part.decode()), at + number
        if major == 7:
            return number == 21, at
        values = []
        for _ in range(number * (2 if major == 5 else 1)):
            value, at = one(at)
            values.append(value)
        return (dict(zip(values[::2], values[1::2])) if major == 5 else values), at
    return one(0)[0]


# --- The PIN/UV protocols (CTAP 2.1, 6.5.6 and 6.5.7) -----------------------------------------------

class Protocol:
    def __init__(self, number):
        self.number = number
        self.renew()

    def renew(self):
        self.pair = ec.generate_private_key(ec.SECP256R1())

    def public(self):
        numbers = self.pair.public_key().public_numbers()
        return {1: 2, 3: -25, -1: 1, -2: numbers.x.to_bytes(32, "big"),
                -3: numbers.y.to_bytes(32, "big")}

    def shared(self, cose):
        point = ec.EllipticCurvePublicNumbers(
            int.from_bytes(cose[-2], "big"), int.from_bytes(cose[-3], "big"), ec.SECP256R1())
        x = self.pair.exchange(ec.ECDH(), point.public_key())
        if self.number == 1:
            key = hashlib.sha256(x).digest()
            return key, key
        return tuple(HKDF(hashes.SHA256(), 32, bytes(32), info).derive(x)
                     for info in (b"CTAP2 HMAC key", b"CTAP2 AES key"))

    def encrypt(self, shared, text):
        start = bytes(16) if self.number == 1 else os.urandom(16)
        cipher = Cipher(algorithms.AES(shared[1]), modes.CBC(start)).encryptor()
        sealed = cipher.update(text) + cipher.finalize()
        return sealed if self.number == 1 else start + sealed

    def decrypt(self, shared, sealed):
        start, sealed = (bytes(16), sealed) if self.number == 1 else (sealed[:16], sealed[16:])
        cipher = Cipher(algorithms.AES(shared[1]), modes.CBC(start)).decryptor()
        return cipher.update(sealed) + cipher.finalize()

    def tag(self, key, text):
        whole = hmac.digest(key, text, "sha256")
        return whole[:16] if self.number == 1 else whole


# --- The key ---------------------------------------------------------------------------------------

class Key:
    def __init__(self, options):
        self.path, self.old, self.eager = options.state, options.old, options.eager
        self.state = {"secret": os.urandom(32).hex(), "tries": 8, "pin": None, "uv": False, "always": False}
        if os.path.exists(self.path):
            with open(self.path) as file:
                self.state.update(json.load(file))
        if options.pin:
            self.state["pin"] = options.pin
        if options.tries is not None:
            self.state["tries"] = options.tries
        self.state["uv"] |= options.uv
        self.state["always"] |= options.always_uv
        self.secret = bytes.fromhex(self.state["secret"])
        self.protocol, self.token, self.wrong = Protocol(options.protocol), os.urandom(32), 0
        self.save()

    def save(self):
        with open(self.path + ".new", "w") as file:
            json.dump(self.state, file)
        os.rename(self.path + ".new", self.path)

    def log(self, word):
        with open(self.path + ".log", "a") as file:
            file.write(word + "\n")

    def mac(self, *parts):
        return hmac.digest(self.secret, b"".join(parts), "sha256")

    def call(self, command, arguments, port):
        if command == 4:
            return self.info()
        if command == 6:
            return self.client_pin(arguments, port)
        if command == 1:
            return self.make(arguments, port)
        if command == 2:
            return self.give(arguments, port)
        raise Fault(1)

    def info(self):
        options = {"up": True, "rk": False, "plat": False, "clientPin": self.state["pin"] is not None}
        if self.old:
            return {1: ["FIDO_2_0"], 3: bytes(16), 4: options, 5: 1200, 6: [1]}
        options["pinUvAuthToken"] = True
        if self.state["uv"]:
            options["uv"] = True
        if self.state["always"]:
            options["alwaysUv"] = True
        return {1: ["FIDO_2_0", "FIDO_2_1"], 2: ["hmac-secret"], 3: bytes(16), 4: options, 5: 1200,
                6: [self.protocol.number]}

    def client_pin(self, wish, port):
        kind = wish[2]
        if kind == 1:
            return {3: self.state["tries"]}
        if kind == 2:
            return {1: self.protocol.public()}
        shared = self.protocol.shared(wish[3])
        if kind in (5, 9):
            self.check_pin(self.protocol.decrypt(shared, wish[6]))
        elif kind == 6 and self.state["uv"]:
            self.log("finger")
            port.touch(UV_INVALID)
        else:
            raise Fault(1)
        self.token = os.urandom(32)
        return {2: self.protocol.encrypt(shared, self.token)}

    def check_pin(self, shown):
        if self.state["pin"] is None:
            raise Fault(PIN_NOT_SET)
        if self.state["tries"] == 0:
            raise Fault(PIN_BLOCKED)
        if self.wrong == 3:
            raise Fault(PIN_AUTH_BLOCKED)
        self.log("pin")
        self.state["tries"] -= 1
        self.save()
        if hashlib.sha256(self.state["pin"].encode()).digest()[:16] != shown:
            self.wrong += 1
            self.protocol.renew()
            raise Fault(PIN_BLOCKED if self.state["tries"] == 0
                        else PIN_AUTH_BLOCKED if self.wrong == 3 else PIN_INVALID)
        self.state["tries"], self.wrong = 8, 0
        self.save()

    def verified(self, wish, digest, options, tag, port):
        """Whether who asks was verified; a command that has to be and is not ends here."""
        if tag is not None:
            if not hmac.compare_digest(self.protocol.tag(self.token, digest), tag):
                raise Fault(PIN_AUTH_INVALID)
            return True
        if options.get("uv"):
            if not self.state["uv"]:
                raise Fault(0x2B)
            port.touch(UV_INVALID)
            return True
        if self.state["always"]:
            raise Fault(PUAT_REQUIRED)
        return self.eager

    def pair(self, nonce):
        number = int.from_bytes(self.mac(b"pair", nonce), "big") >> 1 or 1
        return ec.derive_private_key(number, ec.SECP256R1())

    def make(self, wish, port):
        if all(each["alg"] != -7 for each in wish[4]):
            raise Fault(UNSUPPORTED_ALGORITHM)
        isVerified = self.verified(wish, wish[1], wish.get(7, {}), wish.get(8), port)
        if not isVerified and self.state["pin"] is not None:
            raise Fault(PUAT_REQUIRED)
        self.log("make")
        port.touch(DENIED)
        party = hashlib.sha256(wish[2]["id"].encode()).digest()
        nonce = os.urandom(32)
        name = nonce + self.mac(b"name", party, nonce)
        numbers = self.pair(nonce).public_key().public_numbers()
        public = {1: 2, 3: -7, -1: 1, -2: numbers.x.to_bytes(32, "big"), -3: numbers.y.to_bytes(32, "big")}
        secrets = {"hmac-secret": True} if "hmac-secret" in wish.get(6, {}) and not self.old else {}
        flags = 0x41 | (4 if isVerified else 0) | (0x80 if secrets else 0)
        data = party + bytes([flags]) + bytes(4) + bytes(16) + struct.pack(">H", len(name)) + name + encode(public)
        return {1: "none", 2: data + (encode(secrets) if secrets else b""), 3: {}}

    def give(self, wish, port):
        party, options = hashlib.sha256(wish[1].encode()).digest(), wish.get(5, {})
        own = [each["id"] for each in wish.get(3, [])
               if each["id"][32:] == self.mac(b"name", party, each["id"][:32])]
        isTouched = options.get("up", True)
        isVerified = isTouched and self.verified(wish, wish[2], options, wish.get(6), port)
        if not own:
            raise Fault(NO_CREDENTIALS)
        self.log("give" if isTouched else "look")
        if isTouched:
            port.touch(DENIED)
        nonce, output = own[0][:32], {}
        if "hmac-secret" in wish.get(4, {}):
            sealed = wish[4]["hmac-secret"]
            shared = self.protocol.shared(sealed[1])
            if not hmac.compare_digest(self.protocol.tag(shared[0], sealed[2]), sealed[3]):
                raise Fault(PIN_AUTH_INVALID)
            secret = self.mac(b"with" if isVerified else b"without", nonce)
            salt = self.protocol.decrypt(shared, sealed[2])
            output = {"hmac-secret": self.protocol.encrypt(shared, hmac.digest(secret, salt[:32], "sha256"))}
        flags = (1 if isTouched else 0) | (4 if isVerified else 0) | (0x80 if output else 0)
        data = party + bytes([flags]) + bytes(4) + (encode(output) if output else b"")
        signature = self.pair(nonce).sign(data + wish[2], ec.ECDSA(hashes.SHA256()))
        return {1: {"id": own[0], "type": "public-key"}, 2: data, 3: signature}


# --- The packets (CTAP 2.1, 11.2) -------------------------------------------------------------------

class Port:
    def __init__(self, key, place):
        self.key, self.place, self.channel, self.heard = key, place, 0, b""
        self.ours, self.theirs = pty.openpty()
        tty.setraw(self.theirs)
        # Who reads gets whole packets, as of hidraw.
        settings = termios.tcgetattr(self.theirs)
        settings[6][termios.VMIN], settings[6][termios.VTIME] = 64, 0
        termios.tcsetattr(self.theirs, termios.TCSANOW, settings)
        os.symlink(os.ttyname(self.theirs), place + ".new")
        os.rename(place + ".new", place)

    def packet(self):
        while len(self.heard) < 65:
            self.heard += os.read(self.ours, 4096)
        packet, self.heard = self.heard[1:65], self.heard[65:]
        return struct.unpack(">I", packet[:4])[0], packet[4:]

    def message(self):
        """The next whole message: channel, command, bytes."""
        while True:
            channel, rest = self.packet()
            if rest[0] < 0x80:
                continue
            command, size, data = rest[0], struct.unpack(">H", rest[1:3])[0], rest[3:]
            while len(data) < size:
                other, rest = self.packet()
                if other == channel:
                    data += rest[1:]
            return channel, command, data[:size]

    def send(self, channel, command, data):
        packets = [struct.pack(">IBH", channel, command, len(data)) + data[:57]]
        for number, at in enumerate(range(57, len(data), 59)):
            packets.append(struct.pack(">IB", channel, number) + data[at:at + 59])
        for packet in packets:
            packet = packet.ljust(64, b"\0")
            while packet:
                packet = packet[os.write(self.ours, packet):]

    def touch(self, refusal):
        """Blinks until somebody has touched the key, or has not."""
        finger = "yes"
        if os.path.exists(self.key.path + ".finger"):
            with open(self.key.path + ".finger") as file:
                finger = file.read().strip()
        self.send(self.channel, KEEPALIVE, b"\x02")
        if finger == "yes":
            return
        self.key.log("blinks")
        if finger == "pull":
            os.unlink(self.place)
            os._exit(0)
        if finger == "wait":
            while self.message()[1] != CANCEL:
                pass
            self.key.log("cancelled")
            raise Fault(CANCELLED)
        raise Fault(LATE if finger == "late" else refusal)

    def serve(self):
        while True:
            channel, command, data = self.message()
            if command == INIT:
                # What nobody has read is of who was there before.
                termios.tcflush(self.theirs, termios.TCIFLUSH)
                self.channel = int.from_bytes(os.urandom(4), "big") & 0x7FFFFFFF | 1
                self.send(channel, INIT, data + struct.pack(">IBBBBB", self.channel, 2, 1, 0, 0, 0x0C))
            elif command == CBOR:
                self.channel = channel
                try:
                    answer = self.key.call(data[0], decode(data[1:]) if len(data) > 1 else {}, self)
                    self.send(channel, CBOR, b"\0" + encode(answer))
                except Fault as fault:
                    self.send(channel, CBOR, bytes([fault.args[0]]))
            elif command != CANCEL:
                self.send(channel, ERROR, b"\x01")


def main():
    reader = argparse.ArgumentParser()
    reader.add_argument("state")
    reader.add_argument("place")
    reader.add_argument("--pin")
    reader.add_argument("--tries", type=int)
    reader.add_argument("--uv", action="store_true")
    reader.add_argument("--always-uv", action="store_true")
    reader.add_argument("--eager", action="store_true", help="verifies where nobody asked for it")
    reader.add_argument("--old", action="store_true")
    reader.add_argument("--protocol", type=int, default=2)
    options = reader.parse_args()
    Port(Key(options), options.place).serve()


main()
