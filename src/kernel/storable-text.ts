import { stringifyJson } from './stringify-json.ts'

/** Whether the database can keep the text: it knows neither U+0000 nor half of a surrogate pair. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/** The text with U+FFFD for each character that the database cannot keep: of upstreams and models, which nobody can refuse any more. */
export function toStorable(text: string): string {
  return isStorable(text) ? text : text.replaceAll('\0', REPLACEMENT).toWellFormed()
}

/** The JSON text of a value, every string in it storable. */
export function toStorableJson(value: unknown): string {
  const text = stringifyJson(value)
  if (isStorableJson(text)) return text
  const pieces: string[] = []
  let written = 0
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    if (text[at + 1] !== 'u') {
      at += 2
      continue
    }
    // A pair is written as it is; what is escaped of the two kinds stands alone.
    const code = readEscape(text, at)
    if (code === 0 || isLowSurrogate(code) || isHighSurrogate(code)) {
      pieces.push(text.slice(written, at), REPLACEMENT)
      written = at + ESCAPE_LENGTH
    }
    at += ESCAPE_LENGTH
  }
  return pieces.join('') + text.slice(written)
}

const REPLACEMENT = '\ufffd'

/**
 * The same of every string in a JSON text, which must be well-formed itself. Only an escape can bring one of the two in: a bare
 * U+0000 is no JSON.
 */
export function isStorableJson(text: string): boolean {
  for (let at = text.indexOf('\\'); at !== -1; at = text.indexOf('\\', at)) {
    if (text[at + 1] !== 'u') {
      at += 2
      continue
    }
    const code = readEscape(text, at)
    if (code === 0 || isLowSurrogate(code)) return false
    at += ESCAPE_LENGTH
    if (!isHighSurrogate(code)) continue
    if (!text.startsWith('\\u', at) || !isLowSurrogate(readEscape(text, at))) return false
    at += ESCAPE_LENGTH
  }
  return true
}

/** Of `\u0000`. */
const ESCAPE_LENGTH = 6

function readEscape(text: string, at: number): number {
  return Number.parseInt(text.slice(at + 2, at + ESCAPE_LENGTH), 16)
}

function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}

function isLowSurrogate(code: number): boolean {
  return code >= 0xdc00 && code <= 0xdfff
}
