import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { readMessages } from './read-messages.ts'

export interface MutingProxy {
  readonly connectionString: string
  /** From now on the notifications of the server are lost, and everything else still arrives. */
  mute(): void
  close(): Promise<void>
}

const NOTIFICATION = 'A'.charCodeAt(0)

/** Stands between a process and its database. */
export async function startMutingProxy(connectionString: string): Promise<MutingProxy> {
  const url = new URL(connectionString)
  const directory = url.searchParams.get('host')
  const target =
    directory === null
      ? { host: url.hostname, port: Number(url.port) }
      : { path: join(directory, '.s.PGSQL.5432') }
  const sockets = new Set<Socket>()
  let isMute = false
  const listener = createServer((client) => {
    const server = connect(target)
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
    }
    client.on('data', (bytes: Buffer) => server.write(bytes))
    readMessages(server, (message) => {
      if (!isMute || message[0] !== NOTIFICATION) client.write(message)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  url.searchParams.delete('host')
  url.hostname = '127.0.0.1'
  url.port = String((listener.address() as AddressInfo).port)
  return {
    connectionString: url.href,
    mute: () => {
      isMute = true
    },
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => listener.close(resolve))
    },
  }
}
