#!/usr/bin/env python3
"""Receives events in Python 3.9 or later. One file, no dependency: take `verify`, or all of it.

    WEBHOOK_SECRET=whsec_... python3 python.py                                      listens on PORT (8787)
    WEBHOOK_SECRET=whsec_... python3 python.py check HEADERS BODY [UNIX_SECONDS]    judges a request saved in two files
"""
import base64
import binascii
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

TOLERANCE_SECONDS = 300
BODY_MAX_BYTES = 1_000_000


def is_recent(t, now):
    is_number = t.isascii() and t.isdigit() and len(t) <= 16
    return is_number and abs(int(time.time() if now is None else now) - int(t)) <= TOLERANCE_SECONDS


def verify(secret, header, body, now=None):
    """X-Service-Signature. `body` is the bytes that came in, before anything parses them; `secret` is the whole `whsec_...`."""
    pieces = [piece.partition("=")[::2] for piece in header.split(",")]
    t = next((value for name, value in pieces if name == "t"), "")
    expected = hmac.new(secret.encode(), t.encode() + b"." + body, hashlib.sha256).hexdigest().encode()
    # while a secret is being replaced there are two v1: any of them will do
    is_signed = any(name == "v1" and hmac.compare_digest(value.encode(), expected) for name, value in pieces)
    return is_signed and is_recent(t, now)


def verify_standard(secret, headers, body, now=None):
    """The same for Standard Webhooks, keyed by the bytes that the secret stands for.

    The package standardwebhooks of PyPI does it in one line: Webhook(secret).verify(body, headers)
    """
    wid, t = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "")
    try:
        key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    except binascii.Error:
        return False
    signed = f"{wid}.{t}.".encode() + body
    expected = b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    signatures = headers.get("webhook-signature", "").split(" ")
    return any(hmac.compare_digest(one.encode(), expected) for one in signatures) and is_recent(t, now)


class Receiver(BaseHTTPRequestHandler):
    seen = set()  # of yours: a unique column

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        if length > BODY_MAX_BYTES:
            return self.answer(413)
        body = self.rfile.read(length)
        if not verify(os.environ["WEBHOOK_SECRET"], self.headers.get("X-Service-Signature", ""), body):
            return self.answer(400)
        event = json.loads(body)
        # answer soon, work later; an event may come twice, and a later one before an earlier one
        if event["id"] not in self.seen:
            print(f"event {event['sequence']} {event['type']} {event['id']}", flush=True)
        self.seen.add(event["id"])
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        """Says nothing of single requests."""


def headers_of(file):
    """A file of `Name: value` lines."""
    with open(file, encoding="utf-8") as lines:
        split = [line.partition(":")[::2] for line in lines if ":" in line]
    return {name.strip().lower(): value.strip() for name, value in split}


def check(secret, headers_file, body_file, now=None):
    headers = headers_of(headers_file)
    with open(body_file, "rb") as file:
        body = file.read()
    service = verify(secret, headers.get("x-service-signature", ""), body, now)
    standard = verify_standard(secret, headers, body, now)
    print(f"service {'valid' if service else 'invalid'}\nstandard {'valid' if standard else 'invalid'}")
    return 0 if service and standard else 1


if __name__ == "__main__":
    own_secret = os.environ["WEBHOOK_SECRET"]
    if sys.argv[1:2] == ["check"]:
        sys.exit(check(own_secret, *sys.argv[2:]))
    server = ThreadingHTTPServer(("127.0.0.1", int(os.environ.get("PORT", "8787"))), Receiver)
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    server.serve_forever()
