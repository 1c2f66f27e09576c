import type { TokenPiece } from './split-tokens.ts'
import { WORDS } from './words.ts'

const OTHER_TOKENS = WORDS.map((word) => ` ${word}`)

/**
 * Plausible numbers in OpenAI's shape, as JSON: the token itself is always the likeliest. As text, because twenty alternatives of each
 * of many tokens are too many objects to be written in one go.
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
