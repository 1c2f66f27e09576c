import { createHash } from 'node:crypto'
import { SANDBOX_SIGNATURE } from '../../../wires/sandbox-signature.ts'

/** The form of signed reasoning that clients return unchanged. */
const SIGNED_FORMAT = 'anthropic-claude-v1'

/** Signs reasoning like the vendors do, so that clients can be tested with it. The same text gets the same signature. */
export function signThoughts(text: string): string {
  return SANDBOX_SIGNATURE + createHash('sha256').update(text).digest('base64')
}

/** Returns the member of a message or delta. A stream has sent the text before, so it adds only the signature. */
export function writeSignedThoughts(signature: string, text?: string): Record<string, unknown> {
  const said = text === undefined ? {} : { text }
  return { reasoning_details: [{ type: 'reasoning.text', ...said, signature, format: SIGNED_FORMAT }] }
}
