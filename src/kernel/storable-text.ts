import { stringifyJson } from './json/stringify-json.ts'

/** Returns whether PostgreSQL can store the text. It cannot store U+0000 or unpaired surrogates. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed()
}

/**
 * Replaces characters that the database cannot store by U+FFFD. For text from upstreams and models, which cannot be refused any
 * more.
 */
export function toStorable(text: string): string {
  return isStorable(text) ? text : text.replaceAll('\0', REPLACEMENT).toWellFormed()
}

/** Serialises a value to JSON in which all strings are storable. */
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
    // JSON.stringify escapes only unpaired surrogates, not pairs.
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
 * Returns whether all strings in a well-formed JSON text are storable. Only escapes can contain such characters, because JSON
 * does not allow a raw U+0000.
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

/** Length of an escape such as `\u0000`. */
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
