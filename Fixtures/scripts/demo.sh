#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
#
# demo.sh BIN   the main job in a throw-away vault, each command shown with its result.
# Ends with status 0 only if every step did what it should.
set -u
bin=$(cd "$1" && pwd)
# Those of runs that were killed go first.
for old in "${TMPDIR:-/tmp}"/kura-demo.*.??????; do
  left=${old%.*}
  [ -O "$old" ] && ! kill -0 "${left##*.}" 2>/dev/null && rm -rf "$old"
done
here=$(mktemp -d "${TMPDIR:-/tmp}/kura-demo.$$.XXXXXX")
chmod 700 "$here"
export HOME="$here" XDG_DATA_HOME="$here/data" XDG_STATE_HOME="$here/state" XDG_RUNTIME_DIR="$here/run"
mkdir -m 700 "$XDG_RUNTIME_DIR"
unset KURA_VAULT KURA_PASSCODE_FILE CREDENTIALS_DIRECTORY KURA_ASKPASS SSH_ASKPASS
export PATH="$bin:$PATH" LC_ALL=C.UTF-8
cd "$here" || exit 1
finish() {
  kura --no-input agent stop >/dev/null 2>&1
  cd / && rm -rf "$here"
}
trap finish EXIT
trap 'exit 130' INT TERM

fail() {
  printf '\ndemo: this step did not do what it should\n' >&2
  exit 1
}

# run STATUS COMMAND…   shows the command, its output and its status, and compares the status.
run() {
  local expected=$1 status
  shift
  printf '\n$ %s\n' "$*"
  (eval "$*" </dev/null)
  status=$?
  [ "$status" -eq 0 ] || printf '(exit status %d)\n' "$status"
  [ "$status" -eq "$expected" ] || fail
}

identifier=001742.8c3d51f0a9be4e0d8f27b6c4512e90aa.0931
printf 'eleven quiet storehouses\n' >passcode
printf 'not the passcode\n' >wrong
printf '%s' "$identifier" >identifier
head -c 5242880 /dev/urandom >photo.bin

printf 'A vault of its own in %s, gone when this ends.\n' "$here"
run 0 kura init --passcode-file passcode --recovery-key-file recovery-key
run 0 kura unlock --passcode-file passcode
run 0 'printf %s '"$identifier"' | kura put com.example.juice/userIdentifier'
run 0 'kura get com.example.juice/userIdentifier | tee got; echo'
cmp -s got identifier || fail
run 0 kura list
run 0 kura unlock --idle-timeout 2s --passcode-file passcode
run 0 sleep 2.5
run 4 kura --no-input get com.example.juice/userIdentifier
run 0 kura status '||' true
run 0 kura unlock --passcode-file passcode
run 0 'kura get com.example.juice/userIdentifier; echo'
run 0 kura put com.example.juice/photo --file photo.bin
run 0 kura get com.example.juice/photo -o photo.out
run 0 cmp photo.bin photo.out
run 0 kura show com.example.juice/photo
run 0 kura verify
run 0 kura lock
run 5 kura unlock --passcode-file wrong
printf '\ndemo: every step did what it should\n'
