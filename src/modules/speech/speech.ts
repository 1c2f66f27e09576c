import { invalidValue } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { SpeechWork } from '../../providers/media/media-work.ts'
import type { UpstreamTimeouts } from '../../providers/provider.ts'
import { keepReadInstructions } from '../../providers/requests/keep-read-instructions.ts'
import { countSpeechCharacters } from '../../providers/media/speech-instructions.ts'
import { countUnits, priceUnits, unitRate, type Catalog, type CatalogModel } from '../catalog/catalog.ts'
import {
  attemptRoutes,
  continueAfterDisconnect,
  type Candidate,
  type Inference,
  type PaidOperation,
  type PricedCount,
} from '../inference/inference.ts'
import { labelsOf, type Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import { listVoices, type ListedVoice, type VoiceFilter } from './list-voices.ts'
import { openSpeech, type SpeechPlan, type SpokenAudio } from './open-speech.ts'
import type { SpeechOrder } from './speech-order.ts'
import { createVoiceCache, isKnownEverywhere, type VoiceCache } from './voice-cache.ts'

export type { ListedVoice } from './list-voices.ts'

/** Converts text to audio, priced by the character or by the request. */
export interface Speech {
  /** Resolves with the first byte. The charge is durable before the last byte is sent. */
  speak(order: SpeechOrder): Promise<SpokenAudio>
  /** Returns the voices that the caller can use. */
  voices(caller: Caller, filter: VoiceFilter, cancellation: Cancellation): Promise<readonly ListedVoice[]>
}

interface SpeechOptions {
  readonly inference: Inference
  readonly catalog: Pick<Catalog, 'list'>
  readonly ledger: Pick<Ledger, 'hold'>
  readonly clock: Clock
  /** For requests for the voices of upstreams. */
  readonly timeouts: UpstreamTimeouts
}

export function createSpeech({ inference, catalog, ledger, clock, timeouts }: SpeechOptions): Speech {
  const selector = inference.selectorFor(['tts'], ({ speech }) => speech !== undefined)
  const voiceCache = createVoiceCache({ clock, timeouts })

  const operation: PaidOperation<SpeechOrder, SpeechPlan, SpokenAudio> = {
    selector,
    prepare: async ({ asked, model, routes, startedMs }) => {
      const { caller, cancellation } = asked
      const work = keepReadInstructions(asked.body.work, model.routes)
      const candidates = await keepThoseWithVoice(routes, { work, cancellation }, voiceCache)
      const priced = priceSpeech(model, work)
      const { priceNanoUsd } = priced
      asked.record.units = countSpeechCharacters(work)
      const hold = await ledger.hold(caller, {
        wantedNanoUsd: priceNanoUsd,
        leastNanoUsd: priceNanoUsd,
        model: model.id,
        labels: labelsOf(caller),
        atMs: startedMs,
        cancellation,
      })
      // The upstream bills the text once it has it, even if the client disconnects before the first byte.
      const continuedWork = continueAfterDisconnect(cancellation, caller.accountId, inference.drains)
      const request = { ...asked, cancellation: continuedWork.cancellation }
      return { hold, continuedWork, request, candidates, plan: { work, priced, continuedWork } }
    },
    perform: async (call) => {
      const { cancellation, caller, body } = call.request
      const spoken = await attemptRoutes({
        candidates: call.candidates,
        accountId: caller.accountId,
        attempt: (candidate) => openSpeech(candidate, call, inference),
        cancellation,
      })
      if (body.cancellation.isCancelled) await leaveUnread(spoken)
      return spoken
    },
    isOpen: () => true,
    chargeUnread: ({ bill, plan }) => bill.charge(plan.priced.priceNanoUsd, plan.priced.counted),
  }

  return {
    speak: async (order) => {
      const { caller, requestId, record, cancellation } = order
      const request = { caller, requestId, record, cancellation, body: order, text: '', bytes: 0 }
      return inference.pay(operation, request)
    },

    voices: (caller, filter, cancellation) =>
      listVoices({ selector, catalog, voiceCache }, caller, filter, cancellation),
  }
}

/** Charges for audio after the client has disconnected. */
async function leaveUnread({ batches }: SpokenAudio): Promise<void> {
  const reading = batches[Symbol.asyncIterator]()
  await reading.next().catch(() => {})
  await reading.return?.()
}

/** Keeps the candidates that have the voice. If none has it, throws an error for the request. */
async function keepThoseWithVoice(
  candidates: readonly Candidate[],
  { work: { voice }, cancellation }: Pick<SpeechOrder, 'work' | 'cancellation'>,
  voiceCache: VoiceCache,
): Promise<readonly Candidate[]> {
  if (isKnownEverywhere(voice)) return candidates
  const answers = await Promise.all(
    candidates.map(async ({ provider: { id, speech } }) =>
      speech ? voiceCache.mayHave(id, speech, voice, cancellation) : true,
    ),
  )
  const kept = candidates.filter((_candidate, index) => answers[index])
  if (kept.length > 0) return kept
  const message = `There is no voice '${voice.slice(0, 100)}' for this model. GET /v1/audio/voices lists those there are.`
  throw invalidValue('voice', message)
}

function priceSpeech({ id, price }: CatalogModel, work: SpeechWork): PricedCount {
  if (price.unit !== 'character' && price.unit !== 'request')
    throw new Error(`'${id}' is priced by the ${price.unit}, which is not known before it is spoken`)
  const units = price.unit === 'character' ? countSpeechCharacters(work) : 1
  return { priceNanoUsd: priceUnits(unitRate(price), units), counted: countUnits(units) }
}
