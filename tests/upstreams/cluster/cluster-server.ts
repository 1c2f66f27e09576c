import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClusterNodes } from './cluster-nodes.ts'
import { ClusterStore, read, StoreError, type Json } from './cluster-store.ts'

/** A server with the part of the Kubernetes API that the driver uses. */
export interface ClusterServer {
  readonly url: string
  readonly store: ClusterStore
  readonly nodes: ClusterNodes
  readonly token: string
  /** Method and path of every request. */
  readonly requests: string[]
  /** Refuses the next requests whose method and path match. */
  refuse(refusal: Refusal): void
  /** Ends all watches; the next watches continue at the same position. */
  cutWatches(): void
  close(): Promise<void>
}

interface Refusal {
  readonly matching: RegExp
  readonly times: number
  readonly status: number
  readonly reason: string
  readonly retryAfter?: string
}

const TOKEN = 'cluster-token'
const PATH =
  /^\/(?:api\/v1|apis\/[a-z0-9.]+\/v1)\/namespaces\/engines\/([a-z]+)(?:\/([^/]+))?(?:\/(log|proxy.*))?$/

export async function startClusterServer({ machines }: { machines: number }): Promise<ClusterServer> {
  const store = new ClusterStore()
  const nodes = new ClusterNodes(store, machines)
  const requests: string[] = []
  const watches = new Set<ServerResponse>()
  let refusals: { refusal: Refusal; left: number }[] = []

  const server = createServer((incoming, response) => {
    void answer(incoming, response).catch((error: unknown) => sendError(response, error))
  })

  async function answer(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(Buffer.from(chunk))
    const text = Buffer.concat(chunks).toString()
    const url = new URL(incoming.url ?? '', 'http://cluster')
    const line = `${incoming.method} ${url.pathname}${url.searchParams.has('watch') ? '?watch' : ''}`
    requests.push(line)
    const refused = refusals.find(({ refusal, left }) => left > 0 && refusal.matching.test(line))
    if (refused !== undefined) {
      refused.left -= 1
      const { status, reason, retryAfter } = refused.refusal
      if (retryAfter !== undefined) response.setHeader('retry-after', retryAfter)
      throw new StoreError(status, reason, 'refused by the test')
    }
    const [, collection = '', name = null, part] = PATH.exec(url.pathname) ?? []
    if (part?.startsWith('proxy')) return sendEngine(response, name ?? '', text)
    if (incoming.headers.authorization !== `Bearer ${TOKEN}`)
      throw new StoreError(401, 'Unauthorized', 'Unauthorized')
    if (collection === '') throw new StoreError(403, 'Forbidden', `no right to ${url.pathname}`)
    if (part === 'log') return sendLog(response, name ?? '', url.searchParams)
    if (incoming.method === 'PATCH') return sendApplied(incoming, response, { collection, name, url, text })
    if (incoming.method === 'DELETE') {
      if (!store.delete(collection, name ?? '')) throw missing(collection, name)
      return send(response, { kind: 'Status', status: 'Success' })
    }
    if (url.searchParams.get('watch') === 'true') return watch(response, collection, url.searchParams)
    if (name === null) return sendList(response, collection, url.searchParams)
    const found = store.get(collection, name)
    if (found === null) throw missing(collection, name)
    send(response, found)
  }

  function sendApplied(
    { headers }: IncomingMessage,
    response: ServerResponse,
    given: { collection: string; name: string | null; url: URL; text: string },
  ): void {
    const manager = given.url.searchParams.get('fieldManager')
    if (headers['content-type'] !== 'application/apply-patch+yaml' || !manager)
      throw new StoreError(415, 'UnsupportedMediaType', 'only server-side apply is known here')
    const isForced = given.url.searchParams.get('force') === 'true'
    const path = { collection: given.collection, name: given.name ?? '' }
    send(response, store.apply(path, JSON.parse(given.text), { manager, isForced }))
  }

  /** Sends one page of the requested size. */
  function sendList(response: ServerResponse, collection: string, query: URLSearchParams): void {
    const all = store.list(collection).filter((object) => matches(object, query.get('labelSelector') ?? ''))
    const from = Number(query.get('continue') ?? 0)
    const limit = Number(query.get('limit') ?? all.length)
    const next = from + limit < all.length ? { continue: String(from + limit) } : {}
    const metadata = { resourceVersion: String(store.version), ...next }
    send(response, { kind: 'List', metadata, items: all.slice(from, from + limit) })
  }

  function watch(response: ServerResponse, collection: string, query: URLSearchParams): void {
    const selector = query.get('labelSelector') ?? ''
    const past = store.since(collection, Number(query.get('resourceVersion')))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.flushHeaders()
    const tell = (type: string, object: Json) => {
      if (matches(object, selector)) response.write(`${JSON.stringify({ type, object })}\n`)
    }
    for (const { type, object } of past) tell(type, object)
    const stop = store.listen((event) => {
      if (event.collection === collection) tell(event.type, event.object)
    })
    watches.add(response)
    response.on('close', () => {
      stop()
      watches.delete(response)
    })
  }

  function sendLog(response: ServerResponse, pod: string, query: URLSearchParams): void {
    if (store.get('pods', pod) === null) throw missing('pods', pod)
    const status = read(store.get('pods', pod), 'status', 'containerStatuses')
    if (status === undefined) throw new StoreError(400, 'BadRequest', 'container is waiting to start')
    const lines = nodes.logs.get(pod) ?? []
    response.end(lines.slice(-Number(query.get('tailLines') ?? lines.length)).join('\n'))
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    store,
    nodes,
    token: TOKEN,
    requests,
    refuse: (refusal) => {
      refusals = [...refusals, { refusal, left: refusal.times }]
    },
    cutWatches: () => {
      for (const response of watches) response.destroy()
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers a chat request to the service proxy with the name of the service. Like `kubectl proxy`, it needs no credentials. */
function sendEngine(response: ServerResponse, service: string, text: string): void {
  const { model } = JSON.parse(text)
  const message = { role: 'assistant', content: `${model} of ${service.slice(0, 8)} says hello` }
  const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
  const choices = [{ index: 0, message, finish_reason: 'stop' }]
  send(response, { id: 'chat-1', object: 'chat.completion', created: 1, model, choices, usage })
}

function send(response: ServerResponse, value: object): void {
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify(value))
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  const known = error instanceof StoreError ? error : new StoreError(500, 'InternalError', String(error))
  response.statusCode = known.code
  send(response, {
    kind: 'Status',
    status: 'Failure',
    reason: known.reason,
    message: known.message,
    code: known.code,
  })
}

function missing(collection: string, name: string | null): StoreError {
  return new StoreError(404, 'NotFound', `${collection} "${name}" not found`)
}

function matches(object: Json, selector: string): boolean {
  return selector
    .split(',')
    .filter((part) => part !== '')
    .every((part) => {
      const [label = '', value] = part.split('=')
      return read(object, 'metadata', 'labels', label) === value
    })
}
