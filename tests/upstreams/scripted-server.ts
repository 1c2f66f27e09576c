import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** What a local vendor answers. A list of chunks is written one by one, each in a packet of its own. */
export interface ScriptedReply {
  status?: number
  headers?: Record<string, string>
  chunks: readonly (string | Uint8Array)[]
  /** Chunks that follow at a pace of their own. */
  more?: AsyncIterable<string | Uint8Array>
  /** `end` completes the answer, `cut` drops the connection in its middle, `hang` says nothing more. */
  ending?: 'end' | 'cut' | 'hang'
}

export interface RecordedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The body as it came, and what it says where it is JSON. */
  bytes: Buffer
  text: string
  body: unknown
  /** For answers that are not HTTP. */
  socket: Socket
  /** Which of the server's connections it came over, to see whether connections are reused. */
  connection: number
  /** Resolves when the caller goes away before it has the whole answer. */
  abandoned: Promise<void>
}

export type Reply = ScriptedReply | ((request: RecordedRequest) => ScriptedReply | Promise<ScriptedReply>)

export interface ScriptedServer {
  baseUrl: string
  requests: RecordedRequest[]
  /** Replies for the next requests in order; the last one stays. */
  respondWith(...replies: readonly Reply[]): void
  /** The request with this number, counted from zero, as soon as it has come. */
  requestNumber(index: number): Promise<RecordedRequest>
  close(): Promise<void>
}

export async function startScriptedServer(fallback: Reply): Promise<ScriptedServer> {
  const requests: RecordedRequest[] = []
  let script: readonly Reply[] = [fallback]
  const arrivals: Array<() => void> = []
  let connections = 0
  const server = createServer((incoming, response) => {
    void answer(incoming, response)
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const bytes = Buffer.concat(chunks)
    const text = bytes.toString('utf8')
    const request: RecordedRequest = {
      method: incoming.method ?? '',
      path: incoming.url ?? '',
      headers: incoming.headers,
      bytes,
      text,
      body: parseJson(text),
      socket: incoming.socket,
      connection: numbers.get(incoming.socket) ?? 0,
      abandoned: new Promise((resolve) => {
        response.once('close', () => {
          if (!response.writableFinished) resolve()
        })
      }),
    }
    requests.push(request)
    for (const arrival of arrivals.splice(0)) arrival()
    const [next = fallback, ...rest] = script
    if (rest.length > 0) script = rest
    await play(typeof next === 'function' ? await next(request) : next, response)
  }

  const numbers = new WeakMap<object, number>()
  server.on('connection', (socket) => {
    connections += 1
    numbers.set(socket, connections)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    requests,
    respondWith(...replies) {
      script = replies
    },
    async requestNumber(index) {
      for (;;) {
        const request = requests[index]
        if (request) return request
        await new Promise<void>((resolve) => {
          arrivals.push(resolve)
        })
      }
    },
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => {
        server.close(resolve)
      })
    },
  }
}

async function play(
  { status = 200, headers = {}, chunks, more, ending = 'end' }: ScriptedReply,
  response: ServerResponse,
) {
  response.writeHead(status, headers)
  response.flushHeaders()
  const write = async (chunk: string | Uint8Array) => {
    await new Promise((resolve) => {
      response.write(chunk, resolve)
    })
    await new Promise((resolve) => {
      setImmediate(resolve)
    })
  }
  for (const chunk of chunks) {
    if (response.destroyed) return
    await write(chunk)
  }
  for await (const chunk of more ?? []) {
    if (response.destroyed) return
    await write(chunk)
  }
  if (ending === 'end') response.end()
  if (ending === 'cut') response.destroy()
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
