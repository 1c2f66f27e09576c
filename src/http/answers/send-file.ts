import type { ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseByteRange, type ByteRange } from '../parameters/parse-byte-range.ts'
import type { RouteRequest } from '../route.ts'

/** A stored file that is sent. */
interface SentFile {
  /** Names its content, which never changes. */
  readonly id: string
  readonly contentType: string
  readonly bytes: number
  /** The caller must read it to the end or destroy it. */
  open(range?: ByteRange): Promise<Readable>
}

type FileRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'reply' | 'exchange'>

// Browsers may show a file but never run it.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

/** A client that reads nothing for this long is disconnected. */
const IDLE_MS_MAX = 120_000

/**
 * Sends a file or the `Range` of it that is asked for, with these headers. Returns the error that broke the transfer, or null. The
 * response has ended by then.
 */
export async function sendFile(
  file: SentFile,
  request: FileRequest,
  fileHeaders: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { headers, reply, exchange } = request
  const tag = `"${file.id}"`
  const isKnown = hasTag(headers['if-none-match'], tag)
  const range = chooseRange(headers, file, tag)
  const isRead = !isKnown && range !== 'unsatisfiable' && exchange.incoming.method !== 'HEAD'
  // Opened first, so that an error does not get the headers of a file, which caches would keep.
  const source = isRead ? await file.open(range ?? undefined) : null
  reply
    .headers(fileHeaders)
    .header('etag', tag)
    .header('accept-ranges', 'bytes')
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
  if (isKnown) return sendHead(request, 304)
  if (range === 'unsatisfiable') {
    reply.header('content-range', `bytes */${file.bytes}`)
    return sendHead(request, 416)
  }
  const { start, end } = range ?? { start: 0, end: file.bytes - 1 }
  if (range) reply.header('content-range', `bytes ${start}-${end}/${file.bytes}`)
  reply.type(file.contentType).header('content-length', end - start + 1)
  const status = range ? 206 : 200
  if (source === null) return sendHead(request, status)
  const response = takeOver(request, status)
  response.setTimeout(IDLE_MS_MAX, () => response.destroy())
  // The pipeline closes both ends on an error, reads the file at the client's pace, and ends where the right to read it ends.
  return pipeline(source, response, { signal: exchange.cancellation.signal }).then(
    () => null,
    (error: unknown) => error,
  )
}

function sendHead(request: FileRequest, status: number): null {
  takeOver(request, status).end()
  return null
}

// For HEAD the framework would read the whole file to count its bytes.
function takeOver({ reply }: FileRequest, status: number): ServerResponse {
  const response = reply.hijack().raw
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) response.setHeader(name, value)
  return response.writeHead(status)
}

/** Returns the requested range, or null if the file has changed since the client read its first part. */
function chooseRange(
  headers: FileRequest['headers'],
  { bytes }: SentFile,
  tag: string,
): ByteRange | 'unsatisfiable' | null {
  const condition = headers['if-range']
  if (condition !== undefined && condition !== tag) return null
  return parseByteRange(headers['range']?.toString(), bytes)
}

function hasTag(header: string | string[] | undefined, tag: string): boolean {
  const tags = header?.toString().split(',') ?? []
  return tags.map((given) => given.trim().replace(/^W\//, '')).some((given) => given === tag || given === '*')
}
