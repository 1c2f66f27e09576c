import { LeanHttpError } from './lean-http-error.ts'
import type { AnswerHeaders } from './post-dispatcher.ts'

/** What the head of an answer says, and what follows from it for the body and the connection. */
export interface AnswerHead {
  readonly status: number
  readonly headers: AnswerHeaders
  /** How long the body is; `UNTIL_CLOSE` or `CHUNKED` where that is not known beforehand. */
  readonly bodyBytes: number
  /** How long the connection may be kept for another request: 0 not at all, Infinity as long as one likes. */
  readonly keepAliveMs: number
}

export const UNTIL_CLOSE = -1
export const CHUNKED = -2

/** No status line is longer; no answer that we can do something with has a higher status. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
/** The server counts from another moment than we do. */
const KEEP_ALIVE_MARGIN_MS = 1000

/** Reads a head without its last, empty line. Strict: what two readers could understand differently is refused. */
export function readAnswerHead(text: string): AnswerHead {
  const lineEnd = endOfLine(text, 0)
  const statusLine = STATUS_LINE.exec(text.slice(0, lineEnd))
  if (statusLine === null) throw garbage('its answer does not begin as HTTP/1 does')
  const status = Number(statusLine[2])
  const headers = readFields(text, lineEnd + 2)
  return {
    status,
    headers,
    bodyBytes: measureBody(status, headers),
    keepAliveMs: statusLine[1] === '1' ? readKeepAlive(headers) : 0,
  }
}

/** Reads the lines of a head behind its first, or those of a trailer. */
export function readFields(text: string, from: number): AnswerHeaders {
  // Without a prototype, so that no header's name means anything.
  const headers: Record<string, string | string[] | undefined> = Object.create(null)
  for (let at = from; at < text.length;) {
    const lineEnd = endOfLine(text, at)
    const nameEnd = endOfName(text, at, lineEnd)
    const name = text.slice(at, nameEnd).toLowerCase()
    const value = readValue(text, nameEnd + 1, lineEnd)
    const earlier = headers[name]
    if (earlier === undefined) headers[name] = value
    else if (typeof earlier === 'string') headers[name] = [earlier, value]
    else earlier.push(value)
    at = lineEnd + 2
  }
  return headers
}

function endOfLine(text: string, from: number): number {
  const end = text.indexOf('\r\n', from)
  return end === -1 ? text.length : end
}

/** Where the colon is. No space stands before it, and no line continues the one above. */
function endOfName(text: string, from: number, lineEnd: number): number {
  let at = from
  while (at < lineEnd && IS_TOKEN[text.charCodeAt(at)] === 1) at += 1
  if (at === from || at === lineEnd || text.charCodeAt(at) !== COLON)
    throw garbage('a line of its head is no header')
  return at
}

function readValue(text: string, from: number, lineEnd: number): string {
  let start = from
  let end = lineEnd
  while (start < end && isBlank(text.charCodeAt(start))) start += 1
  while (end > start && isBlank(text.charCodeAt(end - 1))) end -= 1
  for (let at = start; at < end; at += 1) {
    if (isControl(text.charCodeAt(at))) throw garbage('a header has a control character')
  }
  return text.slice(start, end)
}

function measureBody(status: number, headers: AnswerHeaders): number {
  const codings = headers['transfer-encoding']
  const length = headers['content-length']
  if (codings !== undefined && length !== undefined)
    throw garbage('its answer has both a length and a transfer encoding')
  if (codings !== undefined && (typeof codings !== 'string' || codings.toLowerCase() !== 'chunked'))
    throw garbage('its answer has an unknown transfer encoding')
  // Fifteen digits are an exact number.
  if (length !== undefined && (typeof length !== 'string' || !/^\d{1,15}$/.test(length)))
    throw garbage('the length of its answer is no number')
  if (status < 200 || status === 204 || status === 304) return 0
  if (codings !== undefined) return CHUNKED
  return length === undefined ? UNTIL_CLOSE : Number(length)
}

function readKeepAlive(headers: AnswerHeaders): number {
  const connection = headers['connection']
  if (connection !== undefined && /(?:^|[,\s])close(?:$|[,\s])/i.test(String(connection))) return 0
  const hint = headers['keep-alive']
  if (hint === undefined) return Infinity
  const seconds = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i.exec(String(hint))?.[1]
  return seconds === undefined ? Infinity : Math.max(0, Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS)
}

const COLON = 0x3a
const IS_TOKEN = Uint8Array.from({ length: 256 }, (_, code) =>
  /[!#$%&'*+.^_`|~\w-]/.test(String.fromCharCode(code)) ? 1 : 0,
)

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

export function isControl(code: number): boolean {
  return (code < 0x20 && code !== 0x09) || code === 0x7f
}

function garbage(message: string): LeanHttpError {
  return new LeanHttpError('garbage', message)
}
