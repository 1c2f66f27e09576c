import { Agent, request } from 'undici'
import { createConnector } from './create-connector.ts'
import type { NetworkPath } from './network-path.ts'

interface OneRequest {
  readonly url: string
  readonly method: 'GET' | 'POST'
  readonly headers: Readonly<Record<string, string>> | string[]
  readonly body?: string | null
  readonly path?: NetworkPath | undefined
  readonly signal: AbortSignal
  readonly bytesMax: number
}

const CONNECT_MS_MAX = 10_000

/** Sends a rare request over a connection of its own, and reads its answer up to a limit. Redirects are not followed. */
export async function requestOnce({
  url,
  method,
  headers,
  body = null,
  path = {},
  signal,
  bytesMax,
}: OneRequest): Promise<{ readonly status: number; readonly text: string }> {
  const dispatcher = new Agent({ connect: createConnector(path, CONNECT_MS_MAX) })
  try {
    const answer = await request(url, { method, headers, body, signal, dispatcher })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of answer.body) {
      bytes += chunk.length
      if (bytes > bytesMax) throw new Error('its answer is too long')
      chunks.push(chunk)
    }
    return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8') }
  } finally {
    void dispatcher.destroy()
  }
}
