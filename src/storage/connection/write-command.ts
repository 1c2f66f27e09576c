import type { Connection, PoolClient, Submittable } from 'pg'

export interface WriteCommand {
  readonly name: string
  readonly text: string
  readonly values: readonly string[]
}

/** Sends a statement. Requests no row description and reads no rows, which saves half of the driver's work. */
export function writeRows(client: PoolClient, command: WriteCommand): Promise<void> {
  return new Promise((resolve, reject) => {
    client.query(new RunningCommand(command, (error) => (error === null ? resolve() : reject(error))))
  })
}

/** Names of the prepared statements by connection. */
const prepared = new WeakMap<Connection, Set<string>>()
/** The driver's event for the server's confirmation that a statement is prepared. */
const PARSED = 'parseComplete'

/** Implements the driver's query interface: it gets the connection when it is its turn, and then all messages. */
class RunningCommand implements Submittable {
  callback: (error: Error | null) => void
  readonly #command: WriteCommand
  #stopListening: (() => void) | null = null

  constructor(command: WriteCommand, callback: RunningCommand['callback']) {
    this.#command = command
    this.callback = callback
  }

  submit(connection: Connection): null {
    const { name, text, values } = this.#command
    const names = prepared.get(connection) ?? new Set()
    if (!names.has(name)) {
      connection.parse({ name, text, types: [] }, true)
      const noteParsed = () => prepared.set(connection, names.add(name))
      // Remember it even if the execution fails, because the same name cannot be prepared twice.
      connection.once(PARSED, noteParsed)
      const stopListening = () => connection.off(PARSED, noteParsed)
      this.#stopListening = stopListening
    }
    connection.stream.write(encodeExecution(name, values))
    return null
  }

  handleReadyForQuery(): void {
    this.#stopListening?.()
    this.callback(null)
  }

  handleError(error: Error): void {
    this.#stopListening?.()
    this.callback(error)
  }

  handleCommandComplete(): void {}
  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4])
const BIND = 0x42
/** Bytes besides the name and the values: the message length, the portal's empty name, the end of the name, and three counts. */
const BIND_FRAME_BYTES = 4 + 1 + 1 + 2 + 2 + 2

/** Encodes PostgreSQL's Bind, Execute and Sync messages in one buffer. The driver would write them one by one. */
function encodeExecution(name: string, values: readonly string[]): Buffer {
  let length = BIND_FRAME_BYTES + name.length
  const lengths = values.map((value) => Buffer.byteLength(value))
  for (const bytes of lengths) length += 4 + bytes
  const message = Buffer.allocUnsafe(1 + length + EXECUTE_AND_SYNC.length)
  message[0] = BIND
  let at = message.writeInt32BE(length, 1)
  message[at] = 0
  at += 1 + message.write(name, at + 1, 'latin1')
  message[at] = 0
  // No format codes: all values are text.
  at = message.writeInt16BE(0, at + 1)
  at = message.writeInt16BE(values.length, at)
  for (const [index, value] of values.entries()) {
    at = message.writeInt32BE(lengths[index] ?? 0, at)
    at += message.write(value, at)
  }
  at = message.writeInt16BE(0, at)
  EXECUTE_AND_SYNC.copy(message, at)
  return message
}
