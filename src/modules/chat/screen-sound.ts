import { AppError } from '../../kernel/app-error.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { CatalogModel } from '../catalog/catalog.ts'
import type { Candidate } from '../inference/inference.ts'
import { isSpokenAnswerAsked, soundParts } from './sound-parts.ts'

/**
 * Keeps the candidates that may be asked for sound. Vendors bill it by prices of its own, so that a model without such a price
 * is asked only where nobody bills: of the operator's own servers and the sandbox.
 */
export function screenSound(
  model: CatalogModel,
  body: ChatRequest,
  candidates: readonly Candidate[],
): readonly Candidate[] {
  const { price } = model
  if (price.unit !== 'token') return candidates
  const problem =
    (price.audioInputNanoUsdPer1m === undefined ? findSound(model, body) : null) ??
    (price.audioOutputNanoUsdPer1m === undefined ? findSpokenAnswer(model, body) : null)
  if (problem === null) return candidates
  const unbilled = candidates.filter(({ provider }) => provider.whenLeft === 'stops')
  if (unbilled.length === 0) throw problem
  return unbilled
}

/** The members that ask for a spoken answer, where the model has a price for one and nothing else is asked for. */
export function pricedSoundMembers({ price }: CatalogModel, body: ChatRequest): ReadonlySet<string> {
  if (price.unit !== 'token' || price.audioOutputNanoUsdPer1m === undefined) return NONE
  const modalities: unknown = Reflect.get(body, 'modalities')
  const isKnown = Array.isArray(modalities) && modalities.every((one) => one === 'text' || one === 'audio')
  return isKnown ? SOUND_MEMBERS : NONE
}

const NONE: ReadonlySet<string> = new Set()
const SOUND_MEMBERS: ReadonlySet<string> = new Set(['modalities', 'audio'])

function findSound(model: CatalogModel, body: ChatRequest): AppError | null {
  // Nearly every prompt is text.
  if (!body.messages.some(({ content }) => typeof content === 'object' && content !== null)) return null
  for (const { place } of soundParts(body))
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
