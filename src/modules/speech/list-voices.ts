import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Voice } from '../../providers/media/audio-operations.ts'
import type { Provider } from '../../providers/provider.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import type { Catalog, CatalogModel } from '../catalog/catalog.ts'
import { explainFailure, type CandidateSelector } from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { VoiceCache } from './voice-cache.ts'

export interface ListedVoice extends Voice {
  readonly provider: string
}

export interface VoiceFilter {
  /** Only the voices of providers that serve this model. */
  readonly model?: string | undefined
  /** Multilingual voices match every language. */
  readonly language?: string | undefined
}

interface ListOptions {
  readonly selector: CandidateSelector
  readonly catalog: Pick<Catalog, 'list'>
  readonly voiceCache: VoiceCache
}

/** Returns the voices of all providers that would serve the caller, in the order of the catalog. */
export async function listVoices(
  { selector, catalog, voiceCache }: ListOptions,
  caller: Caller,
  { model, language }: VoiceFilter,
  cancellation: Cancellation,
): Promise<readonly ListedVoice[]> {
  const models =
    model === undefined ? catalog.list({ category: 'tts' }) : [selector.resolveModel(caller, model)]
  const providers = new Set(models.flatMap((one) => providersOf(selector, caller, one, model !== undefined)))
  const lists = await Promise.all(
    [...providers].map((provider) => readVoices(provider, voiceCache, cancellation)),
  )
  // If one provider fails, the voices of the others are returned. If all fail, throws the error.
  const voices = lists.flatMap((list) => (list instanceof Error ? [] : list))
  const failure = lists.find((list) => list instanceof Error)
  if (failure && voices.length === 0)
    throw failure instanceof UpstreamError ? explainFailure(failure) : failure
  return voices.filter((voice) => speaks(voice, language))
}

function providersOf(
  selector: CandidateSelector,
  caller: Caller,
  model: CatalogModel,
  isAskedFor: boolean,
): Provider[] {
  try {
    return selector.select(caller, model).map(({ provider }) => provider)
  } catch (error) {
    if (isAskedFor || !(error instanceof AppError) || error.code !== 'provider_not_configured') throw error
    return []
  }
}

async function readVoices(
  { id, speech }: Provider,
  voiceCache: VoiceCache,
  cancellation: Cancellation,
): Promise<ListedVoice[] | Error> {
  if (!speech) return []
  try {
    const voices = await voiceCache.read(id, speech, cancellation)
    return voices.map((voice) => ({ ...voice, provider: id }))
  } catch (error) {
    return error instanceof Error ? error : new Error('voices could not be read', { cause: error })
  }
}

function speaks(voice: Voice, language: string | undefined): boolean {
  if (language === undefined || voice.language === 'multi') return true
  return voice.language.toLowerCase() === language.toLowerCase().split('-')[0]
}
