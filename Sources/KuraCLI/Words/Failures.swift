// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Does what reads the command line, with the command's errors.
func parsing<Value>(_ body: () throws(UsageError) -> Value) throws(CommandError) -> Value {
  do throws(UsageError) { return try body() } catch { throw .usage(error) }
}

/// Does what asks the agent, with the command's errors.
func running<Value: ~Copyable>(
  _ body: () throws(ClientError) -> Value
) throws(CommandError) -> Value {
  do throws(ClientError) { return try body() } catch { throw .client(error) }
}

/// Does what asks a person, with the command's errors.
func prompting<Value: ~Copyable>(
  _ body: () throws(PromptError) -> Value
) throws(CommandError) -> Value {
  do throws(PromptError) { return try body() } catch { throw .prompt(error) }
}

/// Does what needs guarded memory, with the command's errors.
func allocating<Value: ~Copyable>(
  _ body: () throws(SecureMemoryError) -> Value
) throws(CommandError) -> Value {
  do throws(SecureMemoryError) { return try body() } catch { throw .outOfMemory }
}

/// Does what writes a file that the user named, with the command's errors.
func writing<Value: ~Copyable>(
  _ path: String, _ body: () throws(FileError) -> Value
) throws(CommandError) -> Value {
  do throws(FileError) { return try body() } catch {
    throw .file(.write, path: path, errno: error.errno)
  }
}

/// Writes to stdout in the middle of an answer of the agent's.
func writing(_ body: () throws(CommandError) -> Void) throws(ClientError) {
  do throws(CommandError) { try body() } catch {
    guard case .output(let number) = error else { throw .outOfMemory }
    throw .output(number)
  }
}
