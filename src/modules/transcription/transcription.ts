import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { AudioFile, Transcript } from '../../providers/audio-operations.ts'
import { priceUnits, unitRate, type CatalogModel } from '../catalog/catalog.ts'
import {
  lingerAfter,
  type Candidate,
  type Inference,
  type InferenceRecord,
  type InferenceRequest,
  type Linger,
} from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { FinishedTranscript } from './finished-transcript.ts'
import { DURATION_SECONDS_MAX, openAudio, type GivenAudio } from './open-audio.ts'

export { AUDIO_BYTES_MAX } from './open-audio.ts'
export { formatTranscript, TRANSCRIPT_FORMATS } from './format-transcript.ts'
export { transcriptEvents } from './transcript-events.ts'

/** What was said in a file, priced by how long the file is. */
export interface Transcription {
  transcribe(order: TranscriptionOrder): Promise<FinishedTranscript>
}

interface TranscriptionOrder {
  readonly caller: Caller
  readonly requestId: string
  readonly record: InferenceRecord
  readonly cancellation: Cancellation
  readonly model: string
  readonly audio: GivenAudio
  readonly language: string | null
  readonly prompt: string | null
  readonly temperature: number | null
  readonly withWords: boolean
  /** Into English. */
  readonly isTranslation: boolean
}

interface TranscriptionOptions {
  readonly inference: Inference
  readonly ledger: Pick<Ledger, 'hold'>
  readonly clock: Clock
}

export function createTranscription({ inference, ledger, clock }: TranscriptionOptions): Transcription {
  const selector = inference.selectorFor(['stt'], ({ transcription }) => transcription !== undefined)

  return {
    async transcribe(order) {
      const { caller, record, cancellation } = order
      const startedMs = clock.nowMs()
      const model = selector.resolveModel(caller, order.model)
      record.model = model.id
      const candidates = selector.select(caller, model, order.model)
      const audio = await openAudio(order.audio)
      const priceNanoUsd = priceAudio(model, audio.durationSeconds)
      const hold = await ledger.hold(caller, {
        wantedNanoUsd: priceNanoUsd,
        leastNanoUsd: priceNanoUsd,
        atMs: startedMs,
        cancellation,
      })
      // A recording that an upstream has is paid for, whether the client waits or not.
      const linger = lingerAfter(cancellation, caller.accountId, inference.drains)
      const request = toInferenceRequest(order, linger.cancellation)
      const bill = inference.openBill(hold, request, startedMs)
      try {
        const transcript = await inference.answer(candidates, request, (candidate, work) =>
          ask(candidate, order, audio, { work, linger }),
        )
        const durationSeconds = heardSeconds(audio, transcript)
        // Nothing told and nothing heard costs nothing.
        const isSilent = transcript.text.trim() === '' && transcript.durationSeconds === null
        bill.charge(isSilent ? 0n : priceAudio(model, durationSeconds))
        record.outcome = cancellation.isCancelled ? 'disconnected' : 'completed'
        await bill.settle({ isDelivered: cancellation.isCancelled })
        const { isTranslation } = order
        const costNanoUsd = record.costNanoUsd ?? 0n
        const language = transcript.language ?? (isTranslation ? null : order.language)
        return { ...transcript, language, isTranslation, durationSeconds, costNanoUsd }
      } catch (error) {
        record.outcome = cancellation.isCancelled ? 'disconnected' : 'failed'
        if (linger.isAbandoned) {
          bill.charge(priceNanoUsd)
          await bill.settle({ isDelivered: true }).catch(() => {})
        }
        bill.release()
        throw error
      } finally {
        linger.release()
      }
    },
  }
}

/** As measured, or as the upstream says where that is more: it bills what it decodes. */
function heardSeconds(
  { durationSeconds }: AudioFile,
  { durationSeconds: told, segments }: Transcript,
): number {
  const heard = told ?? Math.max(0, ...segments.map(({ endSeconds }) => endSeconds))
  return Math.min(Math.max(durationSeconds, heard), DURATION_SECONDS_MAX)
}

async function ask(
  { provider, upstreamModel, timeouts }: Candidate,
  order: TranscriptionOrder,
  audio: AudioFile,
  { work: cancellation, linger }: { work: Cancellation; linger: Linger },
): Promise<Transcript> {
  // Nobody is asked for a client that has left.
  order.cancellation.throwIfCancelled()
  if (!provider.transcription) {
    const message = `'${order.model}' cannot transcribe here.`
    throw new AppError('unsupported_parameter', message, { param: 'model' })
  }
  const { language, prompt, temperature, withWords, isTranslation, requestId } = order
  linger.noteAsked(provider)
  try {
    return await provider.transcription({
      audio,
      language,
      prompt,
      temperature,
      withWords,
      isTranslation,
      upstreamModel,
      requestId,
      timeouts,
      cancellation,
    })
  } catch (error) {
    linger.noteRefused()
    throw error
  }
}

function priceAudio({ id, price }: CatalogModel, durationSeconds: number): NanoUsd {
  if (price.unit === 'token') throw new Error(`'${id}' is priced by the token, which audio has none of`)
  return priceUnits(unitRate(price), price.unit === 'second' ? durationSeconds : 1)
}

function toInferenceRequest(
  { caller, requestId, record, audio }: TranscriptionOrder,
  cancellation: Cancellation,
): InferenceRequest<undefined> {
  return { caller, body: undefined, text: '', bytes: audio.bytes, requestId, record, cancellation }
}
