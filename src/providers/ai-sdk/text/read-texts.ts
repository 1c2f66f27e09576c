import { decodeTokens } from '../../../kernel/decode-tokens.ts'
import type { EmbeddingRequest } from '../../embedding-wire.ts'
import { toUpstreamError } from '../to-upstream-error.ts'
import { UntranslatableRequest } from '../untranslatable-request.ts'

/** The texts of `input`, for vendors that take nothing else. */
export function readTexts(provider: string, input: EmbeddingRequest['input']): string[] {
  if (typeof input === 'string') return [input]
  if (isTokens(input)) return [decode(provider, input)]
  return input.map((entry) => (typeof entry === 'string' ? entry : decode(provider, entry)))
}

function isTokens(input: string[] | number[] | number[][]): input is number[] {
  return typeof input[0] === 'number'
}

// Clients that send tokens made them for OpenAI's embedding models, which have the older encoding.
function decode(provider: string, tokens: readonly number[]): string {
  const text = decodeTokens(tokens, 'cl100k')
  if (text !== null) return text
  const refusal = new UntranslatableRequest('input', 'It has a token that is not one of cl100k_base.')
  throw toUpstreamError(provider, refusal, { wasRequestSent: false, nowMs: 0 })
}
