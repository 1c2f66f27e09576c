import { createServer, connect, type AddressInfo, type Socket } from 'node:net'
import { readMessages } from './read-messages.ts'

export interface TransactionPooler {
  readonly connectionString: string
  close(): Promise<void>
}

const AUTHENTICATION = 'R'.charCodeAt(0)
const PARAMETER = 'S'.charCodeAt(0)
const KEY_DATA = 'K'.charCodeAt(0)
const READY = 'Z'.charCodeAt(0)
const IN_TRANSACTION = 'T'.charCodeAt(0)

/** What PgBouncer says before it ends a connection. */
const NO_TRANSACTIONS = errorMessage('transaction blocks not allowed in statement pooling mode')

/**
 * Simulates PgBouncer in transaction mode: all clients share one session, each for one transaction at a time. In statement mode it
 * ends the connection of a client that begins a transaction.
 */
export async function startTransactionPooler(
  connectionString: string,
  mode: 'transaction' | 'statement' = 'transaction',
): Promise<TransactionPooler> {
  const target = new URL(connectionString)
  let server: Socket | null = null
  let greeting = Buffer.alloc(0)
  let holder: Socket | null = null
  const waiting: { client: Socket; bytes: Buffer }[] = []
  const clients = new Set<Socket>()

  const serveNext = (): void => {
    const index = holder === null ? 0 : waiting.findIndex(({ client }) => client === holder)
    const next = isBusy || index < 0 ? undefined : waiting.splice(index, 1)[0]
    if (next === undefined) return
    isBusy = true
    holder = next.client
    server?.write(next.bytes)
  }
  let isBusy = false

  const begin = (client: Socket): void => {
    client.on('data', (bytes: Buffer) => {
      // A Terminate message ends only the connection of the client.
      if (bytes[0] === 'X'.charCodeAt(0)) return client.end()
      waiting.push({ client, bytes })
      serveNext()
    })
  }

  const listener = createServer((client) => {
    clients.add(client)
    client.on('error', () => {})
    if (server !== null) {
      client.once('data', () => {
        client.write(greeting)
        begin(client)
      })
      return
    }
    server = connect(Number(target.port), target.hostname)
    const forward = (bytes: Buffer) => server?.write(bytes)
    client.on('data', forward)
    holder = client
    isBusy = true
    let isGreeted = false
    readMessages(server, (message) => {
      const [kind] = message
      // Poolers report another backend pid than that of the server.
      if (kind === KEY_DATA) message.writeUInt32BE(1, 5)
      if (!isGreeted && (kind === PARAMETER || kind === KEY_DATA || kind === READY || isOkay(message)))
        greeting = Buffer.concat([greeting, message])
      if (mode === 'statement' && kind === READY && message[5] === IN_TRANSACTION) {
        holder?.end(NO_TRANSACTIONS)
        return
      }
      holder?.write(message)
      if (kind !== READY) return
      if (!isGreeted) {
        client.off('data', forward)
        begin(client)
      }
      isGreeted = true
      isBusy = false
      if (message[5] !== IN_TRANSACTION) holder = null
      serveNext()
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  target.hostname = '127.0.0.1'
  const url = new URL(target)
  url.port = String((listener.address() as AddressInfo).port)
  return {
    connectionString: url.href,
    close: async () => {
      server?.destroy()
      for (const client of clients) client.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}

function errorMessage(text: string): Buffer {
  const fields = Buffer.from(`SFATAL\0C08P01\0M${text}\0\0`)
  const head = Buffer.alloc(5)
  head.write('E')
  head.writeUInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}

function isOkay(message: Buffer): boolean {
  return message[0] === AUTHENTICATION && message.readUInt32BE(5) === 0
}
