import { Http1Error } from './http1-error.ts'
import type { AnswerHeaders } from './post-dispatcher.ts'

/** What the head of an answer says, and what follows from it for the body and the connection. */
export interface AnswerHead {
  readonly status: number
  /** Those that somebody reads. The others are checked and forgotten, since making them is most of the work. */
  readonly headers: AnswerHeaders
  /** How long the body is; `UNTIL_CLOSE` or `CHUNKED` where that is not known beforehand. */
  readonly bodyBytes: number
  /** How long the connection may be kept for another request: 0 not at all, Infinity as long as one likes. */
  readonly keepAliveMs: number
}

export const UNTIL_CLOSE = -1
export const CHUNKED = -2

const NO_HTTP = 'its answer does not begin as HTTP/1 does'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/
/** The server counts from another moment than we do. */
const KEEP_ALIVE_MARGIN_MS = 1000

/**
 * Reads a head up to the end of its last line; the empty line stands behind that. Strict: what two readers could understand
 * differently is refused.
 */
export function readAnswerHead(bytes: Buffer, from: number, end: number): AnswerHead {
  const lineEnd = endOfText(bytes, from, NO_HTTP)
  const statusLine = STATUS_LINE.exec(bytes.toString('latin1', from, lineEnd))
  if (statusLine === null) throw invalidAnswer(NO_HTTP)
  const status = Number(statusLine[2])
  const fields = readFields(bytes, lineEnd + 2, end)
  return {
    status,
    headers: fields,
    bodyBytes: measureBody(status, fields),
    keepAliveMs: statusLine[1] === '1' ? readKeepAlive(fields) : 0,
  }
}

/** Reads the lines of a head behind its first, or those of a trailer. */
export function readFields(bytes: Buffer, from: number, end: number): NotedFields {
  const fields = new NotedFields()
  for (let at = from; at < end;) {
    const nameEnd = endOfName(bytes, at)
    const lineEnd = endOfText(bytes, nameEnd + 1, 'a header has a control character')
    if (IS_NOTED_LENGTH[nameEnd - at] === 1) {
      const name = bytes.toString('latin1', at, nameEnd).toLowerCase()
      if (isNoted(name)) fields[name] = join(fields[name], readValue(bytes, nameEnd + 1, lineEnd))
    }
    at = lineEnd + 2
  }
  return fields
}

/** Of one shape, whatever the upstream says. */
class NotedFields {
  'content-type': string | string[] | undefined = undefined
  'retry-after': string | string[] | undefined = undefined
  'content-length': string | string[] | undefined = undefined
  'transfer-encoding': string | string[] | undefined = undefined
  'connection': string | string[] | undefined = undefined
  'keep-alive': string | string[] | undefined = undefined
}

const NOTED_NAMES: ReadonlySet<string> = new Set(Object.keys(new NotedFields()))
const IS_NOTED_LENGTH = new Uint8Array(64)
for (const { length } of NOTED_NAMES) IS_NOTED_LENGTH[length] = 1

function isNoted(name: string): name is keyof NotedFields {
  return NOTED_NAMES.has(name)
}

function join(earlier: string | string[] | undefined, value: string): string | string[] {
  return earlier === undefined ? value : [earlier, value].flat()
}

/** Where the colon is. No space stands before it, and no line continues the one above. */
function endOfName(bytes: Buffer, from: number): number {
  let at = from
  while (IS_TOKEN[bytes[at] ?? 0] === 1) at += 1
  if (at === from || bytes[at] !== COLON) throw invalidAnswer('a line of its head is no header')
  return at
}

/** Where the line ends, in which no control character stands and no half of a line's end. */
function endOfText(bytes: Buffer, from: number, problem: string): number {
  let at = from
  while (IS_TEXT[bytes[at] ?? 0] === 1) at += 1
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw invalidAnswer(problem)
  return at
}

/**
 * Whether a line ends in one half of CRLF; a CR at the very end may still get the other. Such a head would be waited for until the
 * time is up, because its end never comes.
 */
export function hasHalfLineEnd(text: string, from: number): boolean {
  for (let at = text.indexOf('\n', from); at !== -1; at = text.indexOf('\n', at + 1))
    if (text[at - 1] !== '\r') return true
  for (let at = text.indexOf('\r', from); at !== -1; at = text.indexOf('\r', at + 1))
    if (at + 1 < text.length && text[at + 1] !== '\n') return true
  return false
}

function readValue(bytes: Buffer, from: number, lineEnd: number): string {
  let start = from
  let end = lineEnd
  while (start < end && isBlank(bytes[start])) start += 1
  while (end > start && isBlank(bytes[end - 1])) end -= 1
  return bytes.toString('latin1', start, end)
}

function measureBody(status: number, fields: NotedFields): number {
  const codings = fields['transfer-encoding']
  const length = fields['content-length']
  if (codings !== undefined && length !== undefined)
    throw invalidAnswer('its answer has both a length and a transfer encoding')
  if (codings !== undefined && (typeof codings !== 'string' || codings.toLowerCase() !== 'chunked'))
    throw invalidAnswer('its answer has an unknown transfer encoding')
  // Fifteen digits are an exact number.
  if (length !== undefined && (typeof length !== 'string' || !/^\d{1,15}$/.test(length)))
    throw invalidAnswer('the length of its answer is no number')
  if (status < 200 || status === 204 || status === 304) return 0
  if (codings !== undefined) return CHUNKED
  return length === undefined ? UNTIL_CLOSE : Number(length)
}

function readKeepAlive(fields: NotedFields): number {
  const connection = fields['connection']
  if (connection !== undefined && /(?:^|[,\s])close(?:$|[,\s])/i.test(String(connection))) return 0
  const hint = fields['keep-alive']
  if (hint === undefined) return Infinity
  const seconds = /(?:^|[,\s])timeout\s*=\s*(\d{1,9})/i.exec(String(hint))?.[1]
  return seconds === undefined ? Infinity : Math.max(0, Number(seconds) * 1000 - KEEP_ALIVE_MARGIN_MS)
}

const CR = 0x0d
const LF = 0x0a
const COLON = 0x3a

/** By code. A table is read faster than a string, and much faster than it is searched. */
const IS_TOKEN = tableOf(/[!#$%&'*+.^_`|~\w-]/)
export const IS_TEXT = tableOf(/[\t\x20-\x7e\x80-\xff]/)

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0))
}

function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09
}

/** A digit; -1 where it is none. */
export function hexadecimal(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

export function invalidAnswer(message: string): Http1Error {
  return new Http1Error('invalid_answer', message)
}
