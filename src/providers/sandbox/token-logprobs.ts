import type { TokenPiece } from './split-tokens.ts'
import { WORDS } from './words.ts'

interface TokenLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

export interface ContentLogprobs {
  readonly content: readonly (TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] })[]
  readonly refusal: null
}

/** Plausible numbers in OpenAI's shape: the token itself is always the likeliest. */
export function writeLogprobs(pieces: readonly TokenPiece[], topCount: number): ContentLogprobs {
  return {
    content: pieces.map(({ text }) => {
      const spread = text.charCodeAt(0) % 10
      const own = describeToken(text, -(0.01 + spread / 100))
      return { ...own, top_logprobs: listAlternatives(own, topCount) }
    }),
    refusal: null,
  }
}

function listAlternatives(own: TokenLogprob, topCount: number): TokenLogprob[] {
  if (topCount === 0) return []
  const others = WORDS.map((word) => ` ${word}`).filter((word) => word !== own.token)
  const start = own.bytes.length % WORDS.length
  const alternatives = Array.from({ length: topCount - 1 }, (_, index) =>
    describeToken(others[(start + index) % others.length] ?? ' ', own.logprob - 2 - index / 2),
  )
  return [own, ...alternatives]
}

function describeToken(token: string, logprob: number): TokenLogprob {
  return { token, logprob, bytes: [...Buffer.from(token)] }
}
