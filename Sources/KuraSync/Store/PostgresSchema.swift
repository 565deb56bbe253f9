// SPDX-License-Identifier: MIT

/// Prints the SQL that makes a database ready for vaults, for its owner to run.
enum PostgresSchema {
  /// Two tables, and who may do what with a row of them.
  static let tables = """
    -- Tables for vaults of Kura: see kura-sync(1). For the owner of the database, by psql.
    BEGIN;
    CREATE TABLE kura_object (
      vault bytea NOT NULL CHECK (octet_length(vault) = 16),
      device bytea NOT NULL CHECK (octet_length(device) = 16),
      hash bytea NOT NULL CHECK (octet_length(hash) = 32),
      bytes bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 4194304),
      owner name NOT NULL DEFAULT current_user,
      PRIMARY KEY (vault, device, hash)
    );
    CREATE TABLE kura_head (
      vault bytea NOT NULL CHECK (octet_length(vault) = 16),
      device bytea NOT NULL CHECK (octet_length(device) = 16),
      bytes bytea NOT NULL CHECK (octet_length(bytes) BETWEEN 1 AND 262144),
      owner name NOT NULL DEFAULT current_user,
      PRIMARY KEY (vault, device)
    );
    -- What is sealed cannot be compressed.
    ALTER TABLE kura_object ALTER COLUMN bytes SET STORAGE EXTERNAL;
    ALTER TABLE kura_head ALTER COLUMN bytes SET STORAGE EXTERNAL;
    -- Who has a role writes and deletes rows of its own. Objects never change.
    ALTER TABLE kura_object ENABLE ROW LEVEL SECURITY;
    ALTER TABLE kura_head ENABLE ROW LEVEL SECURITY;
    CREATE POLICY kura_read ON kura_object FOR SELECT USING (true);
    CREATE POLICY kura_write ON kura_object FOR INSERT WITH CHECK (owner = current_user);
    CREATE POLICY kura_delete ON kura_object FOR DELETE USING (owner = current_user);
    CREATE POLICY kura_read ON kura_head FOR SELECT USING (true);
    CREATE POLICY kura_write ON kura_head FOR INSERT WITH CHECK (owner = current_user);
    CREATE POLICY kura_change ON kura_head FOR UPDATE
      USING (owner = current_user) WITH CHECK (owner = current_user);
    CREATE POLICY kura_delete ON kura_head FOR DELETE USING (owner = current_user);
    COMMIT;

    """

  /// A role for a machine.
  ///
  /// - Parameter role: One of ``isRole(_:)``.
  static func role(_ role: String) -> String {
    """
    -- A role for a machine: it reads all, and writes and deletes what is its own.
    BEGIN;
    DO $kura$ BEGIN CREATE ROLE "\(role)" LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $kura$;
    GRANT SELECT, INSERT, DELETE ON kura_object TO "\(role)";
    GRANT SELECT, INSERT, UPDATE, DELETE ON kura_head TO "\(role)";
    COMMIT;

    """
  }

  /// Whether a name of a role needs no care in SQL, a shell or an address.
  static func isRole(_ name: String) -> Bool {
    let isFirst = name.utf8.first.map { isLetter($0) || $0 == UInt8(ascii: "_") } == true
    return isFirst && name.utf8.count <= 63
      && name.utf8.allSatisfy { byte in
        isLetter(byte) || (0x30...0x39).contains(byte) || "_-".utf8.contains(byte)
      }
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) }
}
