# SPDX-License-Identifier: MIT
"""Is a package index on loopback that lets in who has the password: it serves one package, and takes uploads.

index.py USER PASSWORD PORT-FILE DENIED-FILE    a line goes into DENIED-FILE for each wrong password
index.py DIRECTORY                              puts the package there, to be uploaded
"""

import base64
import hashlib
import http.server
import io
import os
import sys
import zipfile

wheel_name = "kura_probe-1-py3-none-any.whl"


def wheel():
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        files = {
            "kura_probe.py": "WORKS = True\n",
            "kura_probe-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: kura-probe\nVersion: 1\n",
            "kura_probe-1.dist-info/WHEEL":
                "Wheel-Version: 1.0\nGenerator: a test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        }
        record = "kura_probe-1.dist-info/RECORD"
        listed = ""
        for name, text in files.items():
            archive.writestr(name, text)
            digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()
            listed += f"{name},sha256={digest},{len(text)}\n"
        archive.writestr(record, listed + f"{record},,\n")
    return made.getvalue()


class Index(http.server.BaseHTTPRequestHandler):
    def answer(self, status, kind, body):
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Basic realm="index"')
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def is_let_in(self):
        given = self.headers.get("Authorization")
        if given == right:
            return True
        # Some say the user with an empty password first.
        if given is not None and not base64.b64decode(given.removeprefix("Basic ")).endswith(b":"):
            with open(denied_file, "a") as file:
                file.write("a wrong password\n")
        self.answer(401, "text/plain", b"who are you?\n")
        return False

    def do_GET(self):
        if not self.is_let_in():
            return
        if self.path == "/simple/kura-probe/":
            self.answer(200, "text/html", f'<!DOCTYPE html><a href="/files/{wheel_name}">{wheel_name}</a>'.encode())
        elif self.path == "/files/" + wheel_name:
            self.answer(200, "application/octet-stream", wheel())
        else:
            self.answer(404, "text/plain", b"nothing\n")

    do_HEAD = do_GET

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        if self.is_let_in():
            self.answer(200, "text/plain", b"")

    def log_message(self, *words):
        pass


if len(sys.argv) == 2:
    with open(os.path.join(sys.argv[1], wheel_name), "wb") as package:
        package.write(wheel())
    sys.exit()
user, password, port_file, denied_file = sys.argv[1:]
right = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Index)
with open(port_file + ".new", "w") as port:
    port.write(str(server.server_address[1]))
os.rename(port_file + ".new", port_file)
server.serve_forever()
