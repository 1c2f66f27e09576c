import { AppError } from '../../../kernel/app-error.ts'
import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { CatalogModel } from '../../catalog/catalog.ts'
import type { Candidate } from '../../inference/inference.ts'
import { isSpokenAnswerAsked, audioParts } from './audio-parts.ts'

/**
 * Keeps the candidates that may be asked for audio. Vendors price audio separately, so a model without an audio price is only
 * sent to upstreams that bill nothing: the operator's own servers and the sandbox.
 */
export function filterByAudio(
  model: CatalogModel,
  body: ChatRequest,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const { price } = model
  if (price.unit !== 'token') return candidates
  const problem =
    (price.audioInputNanoUsdPer1m === undefined ? findAudio(model, body) : null) ??
    (price.audioOutputNanoUsdPer1m === undefined ? findSpokenAnswer(model, body) : null)
  if (problem === null) return candidates
  const unbilled = candidates.filter(({ provider }) => provider.onDisconnect === 'stops')
  if (unbilled.length === 0) throw problem
  return unbilled
}

/**
 * Returns the members that ask for a spoken answer, if the model has a price for audio output and only text and audio are
 * requested.
 */
export function pricedAudioMembers({ price }: CatalogModel, body: ChatRequest): ReadonlySet<string> {
  if (price.unit !== 'token' || price.audioOutputNanoUsdPer1m === undefined) return NONE
  const modalities: unknown = Reflect.get(body, 'modalities')
  const isKnown = Array.isArray(modalities) && modalities.every((one) => one === 'text' || one === 'audio')
  return isKnown ? SOUND_MEMBERS : NONE
}

const NONE: ReadonlySet<string> = new Set()
const SOUND_MEMBERS: ReadonlySet<string> = new Set(['modalities', 'audio'])

function findAudio(model: CatalogModel, body: ChatRequest): AppError | null {
  // Fast path: nearly every prompt is text.
  if (!body.messages.some(({ content }) => typeof content === 'object' && content !== null)) return null
  for (const { place } of audioParts(body))
    return unpriced(`'${model.id}' has no price for sound in a prompt`, place)
  return null
}

function findSpokenAnswer(model: CatalogModel, body: ChatRequest): AppError | null {
  if (!isSpokenAnswerAsked(body)) return null
  return unpriced(`'${model.id}' has no price for spoken answers`, 'modalities')
}

function unpriced(what: string, param: string): AppError {
  const message = `${what}, so it is not taken here. The operator can add one to the catalog.`
  return new AppError('unsupported_parameter', message, { param })
}
