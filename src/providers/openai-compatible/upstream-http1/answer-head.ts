import { Http1Error } from './http1-error.ts'
import type { AnswerHeaders } from './post-dispatcher.ts'

/** The parsed head of an answer, with the resulting body length and connection lifetime. */
export interface AnswerHead {
  readonly status: number
  /**
   * Only the headers that the gateway reads. The others are validated but not stored, because storing them is most of the cost.
   */
  readonly headers: AnswerHeaders
  /** Length of the body, or `UNTIL_CLOSE` or `CHUNKED` if it is not known in advance. */
  readonly bodyBytes: number
  /** How long the connection may stay idle for reuse: 0 forbids reuse, Infinity sets no limit. */
  readonly keepAliveMs: number
}

export const UNTIL_CLOSE = -1
export const CHUNKED = -2

const NO_HTTP = 'its answer does not begin as HTTP/1 does'
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: .*)?$/
/** Safety margin: the server's keep-alive timer does not start at the same moment as ours. */
const KEEP_ALIVE_MARGIN_MS = 1000

/**
 * Parses a head up to the end of its last line, which the empty line follows. Refuses anything that two parsers could understand
 * differently.
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

/** Parses the header lines of a head, or the lines of a trailer. */
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

/** Always has the same properties, so that all instances have the same hidden class. */
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

/** Returns the position of the colon. Throws for a space before the colon and for a continuation line. */
function endOfName(bytes: Buffer, from: number): number {
  let at = from
  while (IS_TOKEN[bytes[at] ?? 0] === 1) at += 1
  if (at === from || bytes[at] !== COLON) throw invalidAnswer('a line of its head is no header')
  return at
}

/** Returns the position of CRLF. Throws for control characters and for a lone CR or LF. */
function endOfText(bytes: Buffer, from: number, problem: string): number {
  let at = from
  while (IS_TEXT[bytes[at] ?? 0] === 1) at += 1
  if (bytes[at] !== CR || bytes[at + 1] !== LF) throw invalidAnswer(problem)
  return at
}

/**
 * Returns whether the text has a lone LF or CR. A CR at the very end is allowed, because its LF may still arrive. Without this
 * check, the reader would wait for the end of such a head until the timeout.
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
  // Numbers of up to fifteen digits are exact.
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

/** Lookup tables by character code, which are faster than searching a string. */
const IS_TOKEN = tableOf(/[!#$%&'*+.^_`|~\w-]/)
export const IS_TEXT = tableOf(/[\t\x20-\x7e\x80-\xff]/)

function tableOf(characters: RegExp): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) => (characters.test(String.fromCharCode(code)) ? 1 : 0))
}

function isBlank(code: number | undefined): boolean {
  return code === 0x20 || code === 0x09
}

/** Returns the value of a hexadecimal digit, or -1 for other characters. */
export function hexadecimal(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const letter = code | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1
}

export function invalidAnswer(message: string): Http1Error {
  return new Http1Error('invalid_answer', message)
}
