import { request, type IncomingMessage } from 'node:http'
import { Duplex } from 'node:stream'
import type { AnswerHeaders } from '../post-dispatcher.ts'

export interface NodeAnswer {
  readonly status: number
  readonly headers: AnswerHeaders
  readonly body: string
}

/** Reads the same bytes, followed by the end of the connection, with Node's own client. Null if Node refuses them. */
export function readWithNode(bytes: Buffer): Promise<NodeAnswer | null> {
  return new Promise((resolve) => {
    const outgoing = request({
      method: 'POST',
      host: 'upstream',
      createConnection: () => connectionThatSays(bytes),
    })
    outgoing.on('error', () => resolve(null))
    outgoing.on('upgrade', () => resolve(null))
    outgoing.on('response', (incoming) => {
      const pieces: Buffer[] = []
      incoming.on('data', (piece: Buffer) => pieces.push(piece))
      incoming.on('error', () => resolve(null))
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode ?? 0,
          headers: tableOf(incoming),
          body: Buffer.concat(pieces).toString('latin1'),
        }),
      )
    })
    outgoing.end('{}')
  })
}

function connectionThatSays(bytes: Buffer): Duplex {
  let hasSaid = false
  const connection = new Duplex({
    read() {},
    write(_bytes, _encoding, done) {
      done()
      if (hasSaid) return
      hasSaid = true
      connection.push(bytes)
      connection.push(null)
    },
  })
  return connection
}

/** Node's `headers` drops some repeated headers. This table keeps all of them as lists. */
function tableOf({ rawHeaders }: IncomingMessage): Record<string, string | string[]> {
  const table: Record<string, string | string[]> = {}
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = (rawHeaders[index] ?? '').toLowerCase()
    const value = rawHeaders[index + 1] ?? ''
    const earlier = Object.hasOwn(table, name) ? table[name] : undefined
    table[name] = earlier === undefined ? value : [earlier, value].flat()
  }
  return table
}
