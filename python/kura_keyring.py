# SPDX-License-Identifier: MIT
"""Lets programs that import Python's keyring, as twine and poetry do, get their passwords from Kura: a backend of it.

PYTHONPATH=/usr/libexec/kura/keyring PYTHON_KEYRING_BACKEND=kura_keyring.Keyring twine upload dist/*
"""

import json
import subprocess

from keyring import backend, credentials, errors

MISSING = 1
LOCKED = 4


class Keyring(backend.KeyringBackend):
    """Asks 'kura helper keyring', which knows where the passwords are. A vault that stays locked is an error, never a miss."""

    priority = 5

    def get_password(self, service, username):
        found = self._get(service, username)
        return None if found is None else found.password

    def get_credential(self, service, username):
        return self._get(service, username)

    def set_password(self, service, username, password):
        # One newline at the end goes: a password that has one keeps it so.
        run = self._run(["set", "--", service, username], (password + "\n").encode())
        if run.returncode != 0:
            raise self._error(run, errors.PasswordSetError)

    def delete_password(self, service, username):
        run = self._run(["del", "--", service, username])
        if run.returncode != 0:
            raise self._error(run, errors.PasswordDeleteError)

    def _get(self, service, username):
        wanted = [service] if username is None else [service, username]
        run = self._run(["--mode=creds", "--output=json", "get", "--", *wanted])
        if run.returncode == MISSING and not run.stderr:
            return None
        if run.returncode != 0:
            raise self._error(run, errors.KeyringError)
        answer = json.loads(run.stdout)
        return credentials.SimpleCredential(answer["username"], answer["password"])

    @staticmethod
    def _run(words, given=b""):
        return subprocess.run(["kura", "helper", "keyring", "--", *words], input=given, capture_output=True)

    @staticmethod
    def _error(run, kind):
        said = run.stderr.decode(errors="replace").strip()
        return (errors.KeyringLocked if run.returncode == LOCKED else kind)(said)
