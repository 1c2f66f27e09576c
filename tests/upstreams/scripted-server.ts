import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'

/** An answer of a local vendor. Chunks are written one by one, each in its own packet. */
export interface ScriptedReply {
  status?: number
  headers?: Record<string, string>
  chunks: readonly (string | Uint8Array)[]
  /** Further chunks, at their own pace. */
  more?: AsyncIterable<string | Uint8Array>
  /** `end` completes the answer, `cut` closes the connection in the middle, `hang` sends nothing more. */
  ending?: 'end' | 'cut' | 'hang'
}

export interface RecordedRequest {
  method: string
  path: string
  headers: IncomingHttpHeaders
  /** The raw body, its text, and the parsed value if it is JSON. */
  bytes: Buffer
  text: string
  body: unknown
  /** For answers that are not HTTP. */
  socket: Socket
  /** The number of the connection, to check whether connections are reused. */
  connection: number
  /** Resolves if the caller closes the connection before the answer is complete. */
  abandoned: Promise<void>
}

export type Reply = ScriptedReply | ((request: RecordedRequest) => ScriptedReply | Promise<ScriptedReply>)

export interface ScriptedServer {
  baseUrl: string
  requests: RecordedRequest[]
  /** Replies for the next requests in order. The last one is repeated. Without any, the usual reply of the server. */
  respondWith(...replies: readonly Reply[]): void
  /** Resolves with the request of this number, counted from zero, once it has arrived. */
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
