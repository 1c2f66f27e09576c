import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A repository of the hub: what its card says, and its files. */
export interface HubRepository {
  readonly info?: Readonly<Record<string, unknown>>
  readonly files: Readonly<Record<string, Buffer | object>>
  /** Read only with this token. */
  readonly token?: string
}

export interface HubServer {
  readonly url: string
  /** Of the server that files are redirected to. */
  readonly cdnHost: string
  /** What was asked for, with the range and the authorization. */
  readonly requests: HubCall[]
  readonly repositories: Map<string, HubRepository>
  /** Answers so many requests with this status first. */
  failNext(status: number, times: number): void
  /** Where files are redirected to; the server's own second address unless told. */
  redirectTo(url: string | null): void
  close(): Promise<void>
}

interface HubCall {
  readonly host: string
  readonly path: string
  readonly range: string | null
  readonly authorization: string | null
  readonly bytes: number
}

export const COMMIT = 'a'.repeat(40)

/** A hub with small models in it: its API, its files behind a redirect, ranges, gates and failures. */
export async function startHub(repositories: Record<string, HubRepository>): Promise<HubServer> {
  const known = new Map(Object.entries(repositories))
  const requests: HubCall[] = []
  let failures = { status: 500, left: 0 }
  let target: string | null = null

  const send = (
    request: IncomingMessage,
    response: ServerResponse,
    status: number,
    body: Buffer | object,
  ): void => {
    const bytes = Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    const range = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '')
    const part = range === null ? bytes : bytes.subarray(Number(range[1]), Number(range[2]) + 1)
    requests.push({
      host: request.headers.host ?? '',
      path: request.url ?? '',
      range: request.headers.range ?? null,
      authorization: request.headers.authorization ?? null,
      bytes: part.length,
    })
    response.writeHead(range === null ? status : 206, { 'content-length': part.length }).end(part)
  }

  const answer = (request: IncomingMessage, response: ServerResponse, isCdn: boolean): void => {
    if (failures.left > 0) {
      failures = { ...failures, left: failures.left - 1 }
      return send(request, response, failures.status, {})
    }
    const path = decodeURIComponent(request.url ?? '')
    const api = /^\/api\/models\/(.+)\/revision\/(.+)$/.exec(path)
    const file = /^\/(.+?)\/resolve\/([^/]+)\/(.+)$/.exec(path)
    const repository = known.get(api?.[1] ?? file?.[1] ?? '')
    if (repository === undefined) return send(request, response, 404, { error: 'Repository not found' })
    if (api !== null) {
      const siblings = Object.keys(repository.files).map((rfilename) => ({ rfilename }))
      return send(request, response, 200, { sha: COMMIT, gated: false, siblings, ...repository.info })
    }
    const isAllowed =
      isCdn ||
      repository.token === undefined ||
      request.headers.authorization === `Bearer ${repository.token}`
    if (!isAllowed) return send(request, response, 401, { error: 'Access to this model is restricted' })
    const content = repository.files[file?.[3] ?? '']
    if (content === undefined || file?.[2] !== COMMIT) return send(request, response, 404, {})
    if (isCdn || !Buffer.isBuffer(content)) return send(request, response, 200, content)
    response.writeHead(302, { location: `${target ?? `http://${cdnHost}`}${request.url}` }).end()
  }

  const hub = await listen((request, response) => answer(request, response, false))
  const cdn = await listen((request, response) => answer(request, response, true))
  const cdnHost = hostOf(cdn)
  return {
    url: `http://${hostOf(hub)}`,
    cdnHost,
    requests,
    repositories: known,
    failNext: (status, times) => {
      failures = { status, left: times }
    },
    redirectTo: (url) => {
      target = url
    },
    close: async () => {
      for (const server of [hub, cdn]) {
        server.closeAllConnections()
        await new Promise((resolve) => server.close(resolve))
      }
    },
  }
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** A file of weights: its header, and zeros for as many bytes as the tensors have, or fewer. */
export function safetensorsFile(
  tensors: Readonly<Record<string, { dtype: string; shape: readonly number[] }>>,
  options: { padding?: number } = {},
): Buffer {
  const entries = Object.entries(tensors).map(
    ([name, tensor]) => [name, { ...tensor, data_offsets: [0, 0] }] as const,
  )
  const metadata = { format: 'pt', padding: 'x'.repeat(options.padding ?? 0) }
  const header = Buffer.from(JSON.stringify({ __metadata__: metadata, ...Object.fromEntries(entries) }))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header, Buffer.alloc(1024)])
}
