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
    connection.stream.cork()
    if (!names.has(name)) {
      connection.parse({ name, text, types: [] }, true)
      this.#onPrepared = () => prepared.set(connection, names.add(name))
    }
    connection.bind({ statement: name, values: [...values] }, true)
    connection.execute(null, true)
    connection.sync()
    connection.stream.uncork()
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
