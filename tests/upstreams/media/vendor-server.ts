import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The state of a local vendor's jobs. */
type JobPhase = 'running' | 'done' | 'failed' | 'refused' | 'lost'

export interface VendorRequest {
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The parsed text, if it is JSON. */
  readonly body: unknown
}

interface VendorReply {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
  /** Sent instead of JSON. */
  readonly bytes?: Uint8Array
}

export interface VendorState {
  readonly phase: JobPhase
  /** The origin of this server, for URLs in answers. */
  readonly origin: string
}

/** Answers one request of a vendor's wire. Returns null for a path that the vendor does not have. */
export type VendorWire = (request: VendorRequest, state: VendorState) => VendorReply | null

export interface VendorServer {
  readonly origin: string
  readonly requests: VendorRequest[]
  phase: JobPhase
  /** Replies for the next requests, whatever they are. */
  replyNext(...replies: readonly VendorReply[]): void
  close(): Promise<void>
}

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)
const MP4 = Buffer.from('000000186674797069736f6d0000020069736f6d69736f32', 'hex')

export const PNG_BASE64 = PNG.toString('base64')

/** Starts a local server for one vendor's wire, which also serves the files that its answers name. */
export async function startVendorServer(wire: VendorWire): Promise<VendorServer> {
  const requests: VendorRequest[] = []
  const forced: VendorReply[] = []
  const state = { phase: 'done' as JobPhase, origin: '' }

  const answer = async (incoming: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const url = new URL(incoming.url ?? '/', state.origin)
    const text = Buffer.concat(chunks).toString('utf8')
    const request = {
      method: incoming.method ?? '',
      path: url.pathname,
      query: url.searchParams,
      headers: incoming.headers,
      text,
      body: incoming.headers['content-type']?.includes('json') && text !== '' ? readJson(text) : undefined,
    }
    requests.push(request)
    const reply = forced.shift() ?? serveFile(request) ?? wire(request, state) ?? { status: 405, body: {} }
    const { status = 200, headers = {}, body, bytes } = reply
    response.writeHead(status, {
      'content-type': bytes === undefined ? 'application/json' : 'application/octet-stream',
      ...headers,
    })
    response.end(bytes ?? (body === undefined ? '' : JSON.stringify(body)))
  }

  const server = createServer((incoming, response) => {
    void answer(incoming, response)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  state.origin = `http://127.0.0.1:${port}`
  return {
    origin: state.origin,
    requests,
    get phase() {
      return state.phase
    },
    set phase(phase) {
      state.phase = phase
    },
    replyNext: (...replies) => {
      forced.push(...replies)
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

function readJson(text: string): unknown {
  return JSON.parse(text)
}

function serveFile({ method, path }: VendorRequest): VendorReply | null {
  if (method !== 'GET' || !path.startsWith('/files/')) return null
  if (path.endsWith('.mp4')) return { bytes: MP4, headers: { 'content-type': 'video/mp4' } }
  return { bytes: PNG, headers: { 'content-type': 'image/png' } }
}
