# SPDX-License-Identifier: MIT
"""Asks the real secretspec, and prints what it says, a line each.

ask-secretspec.py report|load MANIFEST PROVIDER
"""

import sys

import secretspec


def main(verb, manifest, provider):
    asked = secretspec.SecretSpec.builder().with_path(manifest).with_provider(provider).with_reason("a test")
    try:
        if verb == "report":
            for secret in sorted(asked.report().secrets, key=lambda secret: secret.name):
                print(secret.name, secret.status)
        else:
            for name, value in sorted(asked.load().fields().items()):
                print(name, value)
    except secretspec.MissingRequiredError as error:
        print("missing:", *sorted(error.missing))
    except secretspec.SecretSpecError as error:
        print("error:", error.kind, "locked" if "is locked" in error.message else error.message)


main(*sys.argv[1:])
