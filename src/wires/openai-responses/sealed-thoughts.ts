import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/json/parse-json.ts'

/**
 * The reasoning of a model for the next turn, stored in `encrypted_content`: the text with the vendor's signature, encoded in a
 * form that clients only pass back.
 */
export interface SealedThoughts {
  readonly text: string
  readonly details: readonly object[]
}

const START = 'parkway.1.'

export function sealThoughts(thoughts: SealedThoughts): string {
  return START + Buffer.from(JSON.stringify(thoughts)).toString('base64url')
}

/** Whether this gateway created it from the answer of a translated provider. */
export function isSealedHere(sealed: string): boolean {
  return sealed.startsWith(START)
}

/** Returns null for content that another gateway or vendor created. */
export function unsealThoughts(sealed: unknown): SealedThoughts | null {
  if (typeof sealed !== 'string' || !isSealedHere(sealed)) return null
  try {
    const value: unknown = parseJson(Buffer.from(sealed.slice(START.length), 'base64url').toString())
    if (!isRecord(value) || typeof value['text'] !== 'string' || !Array.isArray(value['details'])) return null
    return { text: value['text'], details: value['details'].filter(isRecord) }
  } catch {
    return null
  }
}
