import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { countTokens } from '../../kernel/tokens/count-tokens.ts'
import type { EmbeddingRequest } from '../../wires/openai-embeddings/embedding-request.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import { TextTokens } from '../../kernel/tokens/text-tokens.ts'
import type { TextInput } from '../../wires/text-input.ts'
import { encodingOf } from './input-tokens.ts'

/** Throws if the model does not support the request, before an upstream is called. */
export function checkRequest(model: CatalogModel, { dimensions, input }: EmbeddingRequest): void {
  if (typeof dimensions === 'number') checkDimensions(model, dimensions)
  if (model.contextTokens !== null) checkLengths(model, model.contextTokens, input)
}

function checkDimensions({ id, dimensions: own, bounds }: CatalogModel, asked: number): void {
  const { dimensions: allowed } = bounds
  if (allowed !== null && !allowed.includes(asked)) {
    throw invalidValue('dimensions', `'dimensions' must be one of ${allowed.join(', ')} for '${id}'.`)
  }
  if (allowed === null && own !== null && asked > own)
    throw invalidValue('dimensions', `'dimensions' must be at most ${own} for '${id}'.`)
}

function checkLengths(model: CatalogModel, contextTokens: number, input: TextInput): void {
  if (typeof input === 'string') checkText(model, contextTokens, input, 'input')
  else if (typeof input[0] === 'number') checkIds(model, contextTokens, input.length, 'input')
  else {
    for (const [index, entry] of input.entries()) {
      if (typeof entry === 'string') checkText(model, contextTokens, entry, `input.${index}`)
      else if (typeof entry === 'object') checkIds(model, contextTokens, entry.length, `input.${index}`)
    }
  }
}

/** The usual density of prose. The upstream refuses denser texts that are too long. */
const CHARACTERS_PER_TOKEN = 4

// Counts only texts that are probably too long, and only with the model's own encoding. Other vendors truncate by themselves.
function checkText(model: CatalogModel, contextTokens: number, text: string, param: string): void {
  if (text.length <= contextTokens * CHARACTERS_PER_TOKEN) return
  const encoding = encodingOf(model)
  if (encoding === null) return
  const tokens = new TextTokens({
    count: (piece) => countTokens(piece, encoding),
    wholeTokensMax: contextTokens,
    sampleMargin: 1,
  })
  tokens.add(text)
  checkIds(model, contextTokens, tokens.tokens, param)
}

function checkIds({ id }: CatalogModel, contextTokens: number, tokens: number, param: string): void {
  if (tokens <= contextTokens) return
  const message = `'${id}' takes at most ${contextTokens} tokens; '${param}' has ${tokens}.`
  throw new AppError('context_length_exceeded', message, { param })
}
