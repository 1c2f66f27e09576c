import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A repository of the test hub: its metadata and its files. */
export interface HubRepository {
  readonly info?: Readonly<Record<string, unknown>>
  /** A Buffer is a large file behind a redirect. Any other object is a small JSON file. */
  readonly files: Readonly<Record<string, Buffer | object>>
  /** If set, files can be read only with this token. */
  readonly token?: string
  /** Wrong values in the list of files, by path. */
  readonly lies?: Readonly<Record<string, { size?: number; sha256?: string; path?: string }>>
}

/** A fault in one response with a large file. */
interface HubFault {
  readonly status?: number
  readonly retryAfter?: string
  /** Closes the connection after this many bytes. */
  readonly cutAfter?: number
  /** Sends this many bytes, then nothing until `release`. */
  readonly holdAfter?: number
  /** Ignores the requested range and sends the whole file. */
  readonly ignoresRange?: boolean
  /** Sends a range that starts one byte too late. */
  readonly shiftsRange?: boolean
  /** Sends these bytes instead. */
  readonly body?: Buffer
}

export interface HubServer {
  readonly url: string
  /** Host of the server that large files are redirected to. */
  readonly cdnHost: string
  /** The requests so far, with range and authorization. */
  readonly requests: HubCall[]
  readonly repositories: Map<string, HubRepository>
  /** Answers the next `times` requests with this status. */
  failNext(status: number, times: number): void
  /** Faults for the next responses with large files, one per response. */
  readonly faults: HubFault[]
  /** Continues the responses that `holdAfter` has stopped. */
  release(): void
  /** Sets the server that large files are redirected to. Null restores the second server of this hub. */
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
/** Files on one page of the list. */
const PAGE_FILES = 3

/** Starts a test hub with small models: API, files behind a redirect, ranges, gated models, pagination and failures. */
export async function startHub(repositories: Record<string, HubRepository>): Promise<HubServer> {
  const known = new Map(Object.entries(repositories))
  const requests: HubCall[] = []
  const faults: HubFault[] = []
  const held: (() => void)[] = []
  let failures = { status: 500, left: 0 }
  let target: string | null = null

  const note = (request: IncomingMessage, bytes: number): void => {
    const { host = '', range = null, authorization = null } = request.headers
    requests.push({ host, path: request.url ?? '', range, authorization, bytes })
  }
  const sendJson = (request: IncomingMessage, response: ServerResponse, status: number, body: object) => {
    const bytes = Buffer.from(JSON.stringify(body))
    note(request, bytes.length)
    response
      .writeHead(status, { 'content-type': 'application/json', 'content-length': bytes.length })
      .end(bytes)
  }
  const sendFile = (request: IncomingMessage, response: ServerResponse, file: Buffer): void => {
    const fault = request.headers.host === cdnHost ? (faults.shift() ?? {}) : {}
    const content = fault.body ?? file
    const asked = /^bytes=(\d+)-(\d*)$/.exec(request.headers.range ?? '')
    const isRange = asked !== null && fault.ignoresRange !== true
    const from = isRange ? Number(asked[1]) + (fault.shiftsRange === true ? 1 : 0) : 0
    const to = isRange && asked[2] !== '' ? Math.min(Number(asked[2]) + 1, content.length) : content.length
    const part = content.subarray(from, to)
    note(request, part.length)
    if (fault.status !== undefined) {
      const headers = fault.retryAfter === undefined ? {} : { 'retry-after': fault.retryAfter }
      response.writeHead(fault.status, headers).end()
      return
    }
    response.writeHead(isRange ? 206 : 200, {
      'content-length': part.length,
      ...(isRange ? { 'content-range': `bytes ${from}-${to - 1}/${content.length}` } : {}),
    })
    const stopAt = fault.cutAfter ?? fault.holdAfter
    if (stopAt === undefined) return void response.end(part)
    response.write(part.subarray(0, stopAt), () => {
      if (fault.cutAfter !== undefined) response.destroy()
    })
    if (fault.holdAfter !== undefined) held.push(() => response.end(part.subarray(stopAt)))
  }

  const answer = (request: IncomingMessage, response: ServerResponse, isCdn: boolean): void => {
    if (failures.left > 0) {
      failures = { ...failures, left: failures.left - 1 }
      return sendJson(request, response, failures.status, {})
    }
    const url = new URL(request.url ?? '', 'http://hub')
    const path = decodeURIComponent(url.pathname)
    const api = /^\/api\/models\/(.+)\/(revision|tree)\/([^/]+)$/.exec(path)
    const file = /^\/(.+?)\/resolve\/([^/]+)\/(.+)$/.exec(path)
    const repository = known.get(api?.[1] ?? file?.[1] ?? '')
    if (repository === undefined) return sendJson(request, response, 404, { error: 'Repository not found' })
    if (api?.[2] === 'revision')
      return sendJson(request, response, 200, { sha: COMMIT, gated: false, ...repository.info })
    if (api?.[2] === 'tree') {
      const from = Number(url.searchParams.get('cursor') ?? 0)
      const all = listTree(repository)
      if (from + PAGE_FILES < all.length)
        response.setHeader(
          'link',
          `<http://${hostOf(hub)}${url.pathname}?cursor=${from + PAGE_FILES}>; rel="next"`,
        )
      return sendJson(request, response, 200, all.slice(from, from + PAGE_FILES))
    }
    const isAllowed =
      isCdn ||
      repository.token === undefined ||
      request.headers.authorization === `Bearer ${repository.token}`
    if (!isAllowed) return sendJson(request, response, 401, { error: 'Access to this model is restricted' })
    const content = repository.files[file?.[3] ?? '']
    if (content === undefined || file?.[2] !== COMMIT) return sendJson(request, response, 404, {})
    if (!Buffer.isBuffer(content)) return sendFile(request, response, bytesOf(content))
    if (isCdn) return sendFile(request, response, content)
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
    faults,
    failNext: (status, times) => {
      failures = { status, left: times }
    },
    release: () => {
      for (const goOn of held.splice(0)) goOn()
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

/** Returns the list of files: large files with the SHA-256 of their content, all files with a git blob id. */
function listTree({ files, lies = {} }: HubRepository): object[] {
  return Object.entries(files).map(([path, content]) => {
    const bytes = bytesOf(content)
    const { size = bytes.length, sha256, path: shown = path } = lies[path] ?? {}
    const oid = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
    const sum = sha256 ?? createHash('sha256').update(bytes).digest('hex')
    const lfs = Buffer.isBuffer(content) ? { lfs: { oid: sum, size, pointerSize: 134 } } : {}
    return { type: 'file', oid, size, path: shown, ...lfs }
  })
}

function bytesOf(content: Buffer | object): Buffer {
  return Buffer.isBuffer(content) ? content : Buffer.from(JSON.stringify(content))
}

async function listen(handle: (request: IncomingMessage, response: ServerResponse) => void): Promise<Server> {
  const server = createServer(handle)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function hostOf(server: Server): string {
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** Creates a safetensors file: its header and 1,024 zero bytes, whatever the size of the tensors. */
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
