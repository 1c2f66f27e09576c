import { isRecord } from '../../kernel/is-record.ts'
import { parseJson } from '../../kernel/parse-json.ts'

/**
 * What a model thought, for the next turn, in `encrypted_content`: the text with the signature of a vendor that checks it, in a
 * form that clients carry and do not read.
 */
export interface SealedThoughts {
  readonly text: string
  readonly details: readonly object[]
}

const START = 'parkway.1.'

export function sealThoughts(thoughts: SealedThoughts): string {
  return START + Buffer.from(JSON.stringify(thoughts)).toString('base64url')
}

/** Whether this gateway made it of the answer of a translated provider. */
export function isSealedHere(sealed: string): boolean {
  return sealed.startsWith(START)
}

/** Null for what another gateway or vendor sealed. */
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
