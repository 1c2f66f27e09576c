import { AppError } from '../../../kernel/app-error.ts'
import { countTokens } from '../../../kernel/tokens/count-tokens.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { CompletionRequest } from '../../../wires/openai-completions/completion-request.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import { estimateProfileOf } from './estimate-profile.ts'
import { leastTokens } from './least-tokens.ts'

/**
 * Refuses messages whose text alone is certainly longer than the model's context. The upstream decides whether images, tools and
 * the tokens of other vendors make a prompt too long, so that no request is refused that would fit.
 */
export function checkChatContext(model: CatalogModel, body: ChatRequest): void {
  if (isShortened(body)) return
  const texts: string[] = []
  for (const { content } of body.messages) {
    if (typeof content === 'string') texts.push(content)
    else for (const part of content ?? []) if (part.type === 'text') texts.push(part.text)
  }
  checkTexts(model, texts, { asked: body.model, param: 'messages' })
}

/** Checks each prompt together with its suffix. */
export function checkCompletionContext(model: CatalogModel, body: CompletionRequest): void {
  const { prompt, suffix, model: asked } = body
  if (isShortened(body)) return
  if (typeof prompt === 'string') return checkTexts(model, [prompt, suffix ?? ''], { asked, param: 'prompt' })
  if (typeof prompt[0] === 'number') return checkTokens(model, prompt.length, { asked, param: 'prompt' })
  for (const [index, entry] of prompt.entries()) {
    const place = { asked, param: `prompt.${index}` }
    if (typeof entry === 'string') checkTexts(model, [entry, suffix ?? ''], place)
    else if (Array.isArray(entry)) checkTokens(model, entry.length, place)
  }
}

interface Place {
  /** The model name that the client sent. */
  readonly asked: string
  readonly param: string
}

/** One UTF-16 unit takes up to three bytes in UTF-8, and a token has at least one byte. */
const TOKENS_PER_UNIT_MAX = 3

function checkTexts(model: CatalogModel, texts: readonly string[], place: Place): void {
  let units = 0
  for (const text of texts) units += text.length
  if (units * TOKENS_PER_UNIT_MAX <= (model.contextTokens ?? Infinity)) return
  const { encoding } = estimateProfileOf(model)
  checkTokens(
    model,
    leastTokens(texts, (text) => countTokens(text, encoding)),
    place,
  )
}

/** Lower bound of a model's token count relative to OpenAI's encoding, for OpenAI's models and for others. */
const LEAST_SHARE_OF_OPENAI = 0.98
const LEAST_SHARE_OF_OTHERS = 0.7

function checkTokens(model: CatalogModel, encodedTokens: number, { asked, param }: Place): void {
  const { contextTokens } = model
  if (contextTokens === null) return
  const isOpenAi = estimateProfileOf(model).family.tokensPerEncodedToken === 1
  const least = encodedTokens * (isOpenAi ? LEAST_SHARE_OF_OPENAI : LEAST_SHARE_OF_OTHERS)
  if (least <= contextTokens) return
  const message = `'${asked}' has a context of ${contextTokens} tokens; '${param}' has about ${Math.round(encodedTokens)}.`
  throw new AppError('context_length_exceeded', message, { param })
}

/** Members that ask an upstream to truncate a prompt that is too long. */
const SHORTENING_MEMBERS = [
  'transforms',
  'truncation',
  'truncate_prompt_tokens',
  'context_length_exceeded_behavior',
]

function isShortened(body: object): boolean {
  return SHORTENING_MEMBERS.some((name) => name in body)
}
