# SPDX-License-Identifier: MIT
"""The SQLite file of a vault: its schema, its checks and typed reads of what may be hostile."""

import os
import sqlite3

from kura_format import (APPLICATION_ID, HEADER, MAX_ARGON2_SLOTS, MAX_SLOTS, GIB, Refused,
                         SlotHeader, read_header)
from kura_record import Row

SCHEMA = [
    "CREATE TABLE part (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT",
    "CREATE TABLE slot (number INTEGER PRIMARY KEY, header BLOB NOT NULL, key BLOB NOT NULL, "
    "protected BLOB NOT NULL) STRICT",
    "CREATE TABLE item (tag BLOB PRIMARY KEY, id BLOB NOT NULL, revision INTEGER NOT NULL, "
    "generation INTEGER NOT NULL, class INTEGER NOT NULL, kind INTEGER NOT NULL, "
    "history BLOB NOT NULL, meta BLOB NOT NULL, body BLOB NOT NULL) STRICT, WITHOUT ROWID",
    "CREATE TABLE history (item BLOB NOT NULL, revision INTEGER NOT NULL, tag BLOB NOT NULL, "
    "generation INTEGER NOT NULL, class INTEGER NOT NULL, kind INTEGER NOT NULL, "
    "meta BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (item, revision)) STRICT, WITHOUT ROWID",
    "CREATE TABLE chunk (value BLOB NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, "
    "PRIMARY KEY (value, number)) STRICT",
    "CREATE TABLE loose (value BLOB PRIMARY KEY) STRICT, WITHOUT ROWID",
    "CREATE TABLE bucket (number INTEGER PRIMARY KEY, leaves BLOB NOT NULL) STRICT",
    "CREATE TABLE node (id INTEGER PRIMARY KEY, digests BLOB NOT NULL) STRICT",
]
JOURNAL = "CREATE TABLE journal (number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT"
SHARING = ["CREATE TABLE head (device BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT",
           "CREATE TABLE place (value BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT"]
EARLIER_CHUNK = SCHEMA[4] + ", WITHOUT ROWID"
ITEM_COLUMNS = "tag, id, revision, generation, class, kind, history, meta, body"
HISTORY_COLUMNS = "tag, item, revision, generation, class, kind, x'', meta, body"


class File:
    """An open vault file; every read checks types, since a hostile file keeps no promises."""

    def __init__(self, connection, version=1):
        self.db, self.version, self.is_shared = connection, version, False

    @staticmethod
    def build(path, page_size=16384, is_earlier=False):
        if os.path.exists(path):
            raise FileExistsError(path)
        db = sqlite3.connect(path, isolation_level=None)
        for pragma in (f"page_size = {page_size}", "journal_mode = WAL", "synchronous = FULL",
                       f"application_id = {APPLICATION_ID}", "user_version = 1"):
            db.execute("PRAGMA " + pragma).fetchall()
        for statement in SCHEMA:
            db.execute(EARLIER_CHUNK if is_earlier and statement == SCHEMA[4] else statement)
        return File(db)

    @staticmethod
    def open(path, newest=1):
        """Opens and checks what needs no key: identity, schema; `newest` is the last format taken."""
        if not os.path.isfile(path):
            raise Refused("file", "no-vault")
        uri = "file:" + path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        db = sqlite3.connect(uri + "?mode=rw", uri=True, isolation_level=None)
        file = File(db)
        try:
            file.check_schema(newest)
        except Refused:
            db.close()
            raise
        return file

    def check_schema(self, newest=1):
        for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0"):
            self.db.execute("PRAGMA " + pragma)
        try:
            application = self.db.execute("PRAGMA application_id").fetchone()[0]
            version = self.db.execute("PRAGMA user_version").fetchone()[0]
            encoding = self.db.execute("PRAGMA encoding").fetchone()[0]
        except sqlite3.DatabaseError:
            raise Refused("file", "not-a-vault") from None
        if application != APPLICATION_ID:
            raise Refused("file", "not-a-vault")
        if not 1 <= version <= newest:
            raise Refused("file", "newer-format" if version > newest else "not-a-vault")
        self.version = version
        found = self.rows("SELECT type, name, tbl_name, sql FROM sqlite_schema")
        expected = []
        self.is_shared = version == 2 and any(row[1] in ("head", "place") for row in found)
        for statement in SCHEMA + ([JOURNAL] if version == 2 else []) + (SHARING if self.is_shared else []):
            name = statement.split()[2]
            if statement in SHARING:
                expected.append(("index", f"sqlite_autoindex_{name}_1", name, None))
            if name == "chunk" and ("table", name, name, EARLIER_CHUNK) in found:
                statement = EARLIER_CHUNK
            elif name == "chunk":
                expected.append(("index", "sqlite_autoindex_chunk_1", name, None))
            expected.append(("table", name, name, statement))
        if encoding != "UTF-8" or sorted(map(repr, found)) != sorted(map(repr, expected)):
            raise Refused("file", "schema")

    def rows(self, sql, *arguments, shape=None):
        """All rows; `shape` has b (bytes) or i (integer) for each column."""
        try:
            rows = self.db.execute(sql, arguments).fetchall()
        except (sqlite3.DatabaseError, OverflowError, UnicodeDecodeError):
            raise Refused("file", "damaged") from None
        for row in rows if shape else ():
            for value, letter in zip(row, shape, strict=True):
                if not isinstance(value, bytes if letter == "b" else int):
                    raise Refused("file", "damaged", "column type")
        return rows

    def part(self, number, layer):
        rows = self.rows("SELECT data FROM part WHERE id = ?", number, shape="b")
        if len(rows) != 1:
            raise Refused(layer, "damaged", "missing")
        return rows[0][0]

    def store_part(self, number, data):
        self.db.execute("INSERT OR REPLACE INTO part VALUES (?, ?)", (number, data))

    def vault_id(self):
        return read_header(self.part(HEADER, "header"), self.version)

    def slots(self):
        """[(number, header, key, protected)], refused when a header is malformed or hostile."""
        slots = self.rows("SELECT number, header, key, protected FROM slot ORDER BY number",
                          shape="ibbb")
        if not slots:
            raise Refused("slot", "none")
        if len(slots) > MAX_SLOTS:
            raise Refused("slot", "too-many")
        headers = [SlotHeader.decode(header) for _, header, _, _ in slots]
        for header, (_, _, key, protected) in zip(headers, slots):
            header.check_columns(key, protected)
        if slots[0][0] < 0 or slots[-1][0] >= MAX_SLOTS:
            raise Refused("slot", "damaged", "number")
        if sum(header.kdf == 1 for header in headers) > MAX_ARGON2_SLOTS:
            raise Refused("slot", "too-many")
        return slots

    @staticmethod
    def candidates(slots, kind, fits=lambda _: True):
        """[(header, its bytes, key, protected)] to try, and whether some were left out as too costly."""
        tried = [(SlotHeader.decode(header), header, *blobs) for _, header, *blobs in slots]
        tried = [slot for slot in tried if slot[0].kind == kind and fits(slot[0])]
        if not tried:
            raise Refused("slot", "no-such-slot")
        affordable, work = [], 0
        for slot in tried:
            cost = slot[0].passes * slot[0].memory
            if slot[0].is_affordable() and work + cost <= 16 * GIB:
                affordable.append(slot)
                work += cost
        return affordable, len(affordable) < len(tried)

    # Items, history, chunks.

    def item(self, tag):
        rows = self.rows(f"SELECT {ITEM_COLUMNS} FROM item WHERE tag = ?", tag, shape="bbiiiibbb")
        return Row(*rows[0]) if rows else None

    def old_item(self, item_id, revision):
        rows = self.rows(
            f"SELECT {HISTORY_COLUMNS} FROM history WHERE item = ? AND revision = ?", item_id,
            revision, shape="bbiiiibbb")
        return Row(*rows[0]) if rows else None

    def store_item(self, row):
        self.db.execute("INSERT OR REPLACE INTO item VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", (
            row.tag, row.id, row.revision, row.generation, row.cls, row.kind, row.history,
            row.meta, row.body))

    def store_old_item(self, row):
        self.db.execute("INSERT OR REPLACE INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (
            row.id, row.revision, row.tag, row.generation, row.cls, row.kind, row.meta, row.body))

    def chunk(self, value_id, index):
        rows = self.rows("SELECT data FROM chunk WHERE value = ? AND number = ?", value_id, index,
                         shape="b")
        return rows[0][0] if rows else None

    def close(self):
        self.db.close()
