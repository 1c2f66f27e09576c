import type { TokenPiece } from './split-tokens.ts'
import { WORDS } from './words.ts'

const OTHER_TOKENS = WORDS.map((word) => ` ${word}`)

/**
 * Writes plausible log probabilities in OpenAI's form, as JSON. The token itself always has the highest. Returns text, because
 * twenty alternatives for each of many tokens would be too many objects to serialise at once.
 */
export function writeTokenLogprobs({ text }: TokenPiece, topCount: number): string {
  const bytes = Buffer.from(text)
  const own = describeToken(text, bytes, -(0.01 + (text.charCodeAt(0) % 10) / 100))
  return `{${own},"top_logprobs":[${listAlternatives(text, bytes, own, topCount).join(',')}]}`
}

function listAlternatives(text: string, bytes: Buffer, own: string, topCount: number): string[] {
  if (topCount === 0) return []
  const alternatives = [`{${own}}`]
  for (let index = bytes.length; alternatives.length < topCount; index += 1) {
    const other = OTHER_TOKENS[index % OTHER_TOKENS.length] ?? ' '
    if (other === text) continue
    alternatives.push(`{${describeToken(other, Buffer.from(other), -2 - alternatives.length / 2)}}`)
  }
  return alternatives
}

function describeToken(token: string, bytes: Buffer, logprob: number): string {
  return `"token":${JSON.stringify(token)},"logprob":${logprob},"bytes":[${bytes.join(',')}]`
}
