import type { IncomingHttpHeaders } from 'node:http'

/** The head of a request that says nothing unusual. */
export interface RequestHead {
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly bodyBytes: number
}

const REQUEST_LINE = /^POST (\/[!-~]*) HTTP\/1\.1$/
const NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
/** Only what every HTTP parser reads the same way: no folded lines, no bare line ends, only ASCII. */
const UNUSUAL = /[^\t -~]/
const LENGTH = /^(?:0|[1-9]\d{0,8})$/
const KEEP_ALIVE = /^keep-alive$/i
/** A head with more is left to Node. */
const FIELDS_MAX = 100
export const LINE_END = '\r\n'

/** Headers that mean another kind of body, connection or protocol. */
const SPECIAL_FIELDS: ReadonlySet<string> = new Set([
  'transfer-encoding',
  'expect',
  'upgrade',
  'trailer',
  'content-encoding',
  'proxy-connection',
])

/**
 * Reads a POST with a body of known length on a connection that stays open. Null for anything else, and for whatever
 * could be read in more than one way: that is for Node's own parser, which knows all of HTTP.
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

/** Of what stands behind the colon. Null where it could be read in more than one way. */
export function readValue(text: string): string | null {
  // Of all that is trimmed, only spaces and tabs are left here.
  return UNUSUAL.test(text) ? null : text.trim()
}

/** Null where the fields do not say how long the body is, or want something unusual. */
export function toHead(url: string, headers: IncomingHttpHeaders): RequestHead | null {
  const { 'content-length': length, host, connection } = headers
  if (length === undefined || !LENGTH.test(length) || host === undefined) return null
  if (connection !== undefined && !KEEP_ALIVE.test(connection)) return null
  return { url, headers, bodyBytes: Number(length) }
}
