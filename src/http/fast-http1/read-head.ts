import type { IncomingHttpHeaders } from 'node:http'
import { isHost } from '../connections/check-host.ts'

/** The head of a simple request. */
export interface RequestHead {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly bodyBytes: number
}

const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Characters that HTTP parsers may treat differently: folded lines, bare line ends and everything that is not ASCII. */
const UNUSUAL = /[^\t -~]/
const LENGTH = /^(?:0|[1-9]\d{0,8})$/
const KEEP_ALIVE = /^keep-alive$/i
/** Requests with more headers go to Node's server. */
const FIELDS_MAX = 100
export const LINE_END = '\r\n'

/** Headers that announce another kind of body, connection or protocol. */
const SPECIAL_FIELDS: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'content-encoding',
  'proxy-connection',
])

/**
 * Reads a POST with a body of known length on a persistent connection. Returns null for anything else and for ambiguous input,
 * which Node's complete parser reads instead.
 *
 * @param text the bytes before the empty line, as Latin-1
 */
export function readHead(text: string): RequestHead | null {
  let end = text.indexOf(LINE_END)
  if (end === -1) return null
  const url = REQUEST_LINE.exec(text.slice(0, end))?.[1]
  if (url === undefined) return null
  const headers: IncomingHttpHeaders = {}
  let fields = 0
  while (end !== text.length) {
    const start = end + LINE_END.length
    end = text.indexOf(LINE_END, start)
    if (end === -1) end = text.length
    const colon = text.indexOf(':', start)
    if (colon === -1 || colon > end) return null
    fields += 1
    const name = text.slice(start, colon).toLowerCase()
    const value = readValue(text.slice(colon + 1, end))
    if (value === null || fields > FIELDS_MAX || !NAME.test(name)) return null
    // Repeated headers have special rules, which Node's parser implements.
    if (SPECIAL_FIELDS.has(name) || Object.hasOwn(headers, name)) return null
    headers[name] = value
  }
  return toHead(url, headers)
}

/** Reads a header value. Returns null if it is ambiguous. */
export function readValue(text: string): string | null {
  // Only spaces and tabs can be trimmed here.
  return UNUSUAL.test(text) ? null : text.trim()
}

/** Returns null if the body's length is unknown or the headers request anything unusual. */
export function toHead(url: string, headers: IncomingHttpHeaders): RequestHead | null {
  const { 'content-length': length, host, connection } = headers
  if (length === undefined || !LENGTH.test(length) || host === undefined || !isHost(host)) return null
  if (connection !== undefined && !KEEP_ALIVE.test(connection)) return null
  return { url, headers, bodyBytes: Number(length) }
}
