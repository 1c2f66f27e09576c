import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

interface ReceivedWebhook {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface WebhookReceiver {
  readonly url: string
  /** The host and port, for `PARKWAY_OUTBOUND_ALLOW`. */
  readonly host: string
  readonly received: ReceivedWebhook[]
  close(): void
}

/** A server that remembers what it is told. */
export async function receiveWebhooks(): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
    })
    request.on('end', () => {
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
      received.push({ path: request.url ?? '', headers: Object.fromEntries(headers), text })
      response.writeHead(204).end()
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hook`,
    host: `127.0.0.1:${port}`,
    received,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
