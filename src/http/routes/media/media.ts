import type { ServerResponse } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { Type } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import type { Media, ServedFile } from '../../../modules/media/media.ts'
import { parseByteRange, type ByteRange } from '../../parameters/parse-byte-range.ts'
import { NO_KEY } from '../../access.ts'
import { defineRoute, type Route, type RouteRequest } from '../../route.ts'

const TokenParams = Type.Object({
  token: Type.String({ description: 'Which file, until when, and a signature.' }),
})

const File = { contentType: 'application/octet-stream', schema: Type.String({ format: 'binary' }) }

interface MediaRoutesOptions {
  readonly media: Media
  readonly clock: Clock
  /** Called when a file could not be read to its end. */
  readonly onBroken: (error: unknown, requestId: string) => void
}

/** A client that reads nothing for this long is disconnected. */
const IDLE_MS_MAX = 120_000

/** Serves the files of results. No key is needed, because the URL is secret. */
export const mediaRoutes = ({ media, clock, onBroken }: MediaRoutesOptions): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/media/:token',
    summary: 'Download a file',
    tag: 'Media',
    access: NO_KEY,
    otherErrors: [503],
    params: TokenParams,
    responses: {
      200: { description: 'The file, of its own type.', ...File },
      206: { description: 'The part that `Range` asked for.', ...File },
      304: { description: 'The client has it: `If-None-Match`.' },
      416: { description: 'Nothing of the file lies in the `Range`.' },
    },
    handle: async ({ params, headers, reply, exchange }) => {
      const file = await media.openAddress(params.token)
      const error = await sendFile(file, { headers, reply, exchange }, clock.nowMs())
      if (error !== null && !exchange.cancellation.isCancelled) onBroken(error, exchange.id)
    },
  }),
]

type FileRequest = Pick<RouteRequest<unknown, unknown, unknown>, 'headers' | 'reply' | 'exchange'>

// Browsers may show a file but never run it.
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; frame-ancestors 'none'; sandbox"

/** Returns the error that broke the transfer, or null. The response has ended by then. */
async function sendFile(file: ServedFile, request: FileRequest, nowMs: number): Promise<unknown> {
  const { headers, reply, exchange } = request
  const tag = `"${file.id}"`
  const isKnown = hasTag(headers['if-none-match'], tag)
  const range = chooseRange(headers, file, tag)
  const isRead = !isKnown && range !== 'unsatisfiable' && exchange.incoming.method !== 'HEAD'
  // Opened first, so that an error does not get the headers of a file, which caches would keep.
  const source = isRead ? await file.open(range ?? undefined) : null
  const ageSecondsMax = Math.max(0, Math.floor((file.expiresAt.getTime() - nowMs) / 1000))
  reply
    .header('etag', tag)
    .header('accept-ranges', 'bytes')
    .header('cache-control', `private, max-age=${ageSecondsMax}, immutable`)
    .header('content-disposition', 'inline')
    .header('content-security-policy', CONTENT_SECURITY_POLICY)
    .header('cross-origin-resource-policy', 'cross-origin')
    .header('referrer-policy', 'no-referrer')
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
  // The pipeline closes both ends on an error, and reads the file at the client's pace.
  return pipeline(source, response).then(
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
  { bytes }: ServedFile,
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
