import type { Connection, PoolClient, Submittable } from 'pg'

export interface WriteCommand {
  readonly name: string
  readonly text: string
  readonly values: readonly string[]
}

/** Sends a statement and says how many rows it wrote. Asks for no description and reads no rows, which is half the driver's work. */
export function writeRows(client: PoolClient, command: WriteCommand): Promise<number> {
  return new Promise((resolve, reject) => {
    client.query(
      new RunningCommand(command, (error, rows) => (error === null ? resolve(rows) : reject(error))),
    )
  })
}

/** By connection, what it has prepared. */
const prepared = new WeakMap<Connection, Set<string>>()

/** What the driver asks of a query: it is given the connection when its turn comes, and told of every message. */
class RunningCommand implements Submittable {
  callback: (error: Error | null, rows: number) => void
  readonly #command: WriteCommand
  #rows = 0
  #onPrepared: (() => void) | null = null

  constructor(command: WriteCommand, callback: RunningCommand['callback']) {
    this.#command = command
    this.callback = callback
  }

  submit(connection: Connection): null {
    const { name, text, values } = this.#command
    const names = prepared.get(connection) ?? new Set()
    if (!names.has(name)) {
      connection.parse({ name, text, types: [] }, true)
      this.#onPrepared = () => prepared.set(connection, names.add(name))
    }
    connection.stream.write(encodeExecution(name, values))
    return null
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = Number(text.slice(text.lastIndexOf(' ') + 1))
  }

  handleReadyForQuery(): void {
    this.#onPrepared?.()
    this.callback(null, this.#rows)
  }

  handleError(error: Error): void {
    this.callback(error, 0)
  }

  handleRowDescription(): void {}
  handleDataRow(): void {}
  handleEmptyQuery(): void {}
  handlePortalSuspended(): void {}
  handleCopyInResponse(): void {}
  handleCopyData(): void {}
}

const EXECUTE_AND_SYNC = Buffer.from([0x45, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0x53, 0, 0, 0, 4])
const BIND = 0x42
/** Besides the name and the values: the portal's empty name, the name's end, and three counts. */
const BIND_FRAME_BYTES = 4 + 1 + 1 + 2 + 2 + 2

/** PostgreSQL's Bind, Execute and Sync, in one piece: the driver would write each by itself. */
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
  // No formats: all of them are text.
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
