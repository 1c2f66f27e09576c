import { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { AudioFile, Transcript } from '../../providers/media/audio-operations.ts'
import { COUNTED_NOTHING, countUnits, priceUnits, unitRate, type CatalogModel } from '../catalog/catalog.ts'
import {
  continueAfterDisconnect,
  type Candidate,
  type Inference,
  type InferenceRecord,
  type ContinuedWork,
  type PaidOperation,
  type PricedCount,
  type UpstreamCall,
} from '../inference/inference.ts'
import { labelsOf, type Caller } from '../keys/keys.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { FinishedTranscript } from './finished-transcript.ts'
import { DURATION_SECONDS_MAX, openAudio, type GivenAudio } from './open-audio.ts'
import { describeUsage } from './format-transcript.ts'

export { AUDIO_BYTES_MAX } from './open-audio.ts'
export { formatTranscript, TRANSCRIPT_FORMATS } from './format-transcript.ts'

/** Transcribes audio files. The price depends on the duration of the file. */
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
  /** Whether to translate into English. */
  readonly isTranslation: boolean
}

interface TranscriptionOptions {
  readonly inference: Inference
  readonly ledger: Pick<Ledger, 'hold'>
}

interface TranscriptionPlan {
  readonly audio: AudioFile
  readonly priced: PricedCount
  readonly continuedWork: ContinuedWork
}

interface HeardAudio {
  readonly transcript: Transcript
  readonly durationSeconds: number
}

export function createTranscription({ inference, ledger }: TranscriptionOptions): Transcription {
  const operation: PaidOperation<TranscriptionOrder, TranscriptionPlan, HeardAudio> = {
    selector: inference.selectorFor(['stt'], ({ transcription }) => transcription !== undefined),
    prepare: async ({ asked, model, routes, startedMs }) => {
      const { caller, cancellation, body } = asked
      const audio = await openAudio(body.audio)
      const priced = priceAudio(model, audio.durationSeconds)
      const { priceNanoUsd } = priced
      const hold = await ledger.hold(caller, {
        wantedNanoUsd: priceNanoUsd,
        leastNanoUsd: priceNanoUsd,
        model: model.id,
        labels: labelsOf(caller),
        atMs: startedMs,
        cancellation,
      })
      // The provider bills a recording once it has it, even if the client disconnects.
      const continuedWork = continueAfterDisconnect(cancellation, caller.accountId, inference.drains)
      const request = { ...asked, cancellation: continuedWork.cancellation }
      return {
        hold,
        continuedWork,
        request,
        candidates: routes,
        plan: { audio, priced, continuedWork },
      }
    },
    perform: async ({ model, request, candidates, bill, plan }) => {
      const transcript = await inference.answer(candidates, request, (candidate, upstream) =>
        ask(candidate, request.body, plan, upstream),
      )
      const durationSeconds = heardSeconds(plan.audio, transcript)
      request.record.units = Math.round(durationSeconds)
      // An empty transcript without a duration costs nothing.
      const isSilent = transcript.text.trim() === '' && transcript.durationSeconds === null
      const { priceNanoUsd, counted } = isSilent
        ? { priceNanoUsd: 0n, counted: COUNTED_NOTHING }
        : priceAudio(model, durationSeconds)
      bill.charge(priceNanoUsd, counted)
      return { transcript, durationSeconds }
    },
    chargeUnread: ({ bill, plan }) => bill.charge(plan.priced.priceNanoUsd, plan.priced.counted),
  }

  return {
    async transcribe(order) {
      const { caller, requestId, record, cancellation, isTranslation } = order
      const bytes = order.audio.bytes
      const request = { caller, requestId, record, cancellation, body: order, text: '', bytes }
      const { transcript, durationSeconds } = await inference.pay(operation, request)
      const costNanoUsd = record.costNanoUsd ?? 0n
      const language = transcript.language ?? (isTranslation ? null : order.language)
      return { ...transcript, language, isTranslation, durationSeconds, costNanoUsd }
    },
  }
}

/** Returns the measured duration, or the upstream's if it is longer, because the upstream bills what it decodes. */
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
  { audio, continuedWork }: TranscriptionPlan,
  { cancellation, onKey }: UpstreamCall,
): Promise<Transcript> {
  // Do not call the upstream for a client that has disconnected.
  order.cancellation.throwIfCancelled()
  if (!provider.transcription) {
    const message = `'${order.model}' cannot transcribe here.`
    throw new AppError('unsupported_parameter', message, { param: 'model' })
  }
  const { language, prompt, temperature, withWords, isTranslation, requestId } = order
  continuedWork.noteAsked(provider)
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
      onKey,
    })
  } catch (error) {
    continuedWork.noteRefused()
    throw error
  }
}

function priceAudio({ id, price }: CatalogModel, durationSeconds: number): PricedCount {
  if (price.unit === 'token') throw new Error(`'${id}' is priced by the token, which audio has none of`)
  const units = price.unit === 'second' ? durationSeconds : 1
  return { priceNanoUsd: priceUnits(unitRate(price), units), counted: countUnits(units) }
}

const WORDS_PER_BATCH = 64

/** Yields a transcript as events of OpenAI's API: text deltas, then the complete text with its usage. */
export async function* transcriptEvents(transcript: FinishedTranscript): AsyncGenerator<readonly Buffer[]> {
  const pieces = splitWords(transcript.text)
  for (let start = 0; start < pieces.length; start += WORDS_PER_BATCH) {
    yield pieces
      .slice(start, start + WORDS_PER_BATCH)
      .map((delta) => toPayload({ type: 'transcript.text.delta', delta }))
  }
  const { text } = transcript
  yield [toPayload({ type: 'transcript.text.done', text, usage: describeUsage(transcript) })]
}

/** Splits after each word. Each piece includes the space before it, and the last also the space after it. */
function splitWords(text: string): string[] {
  const ends = [...text.trimEnd().matchAll(/\S+/g)].map(({ index, 0: word }) => index + word.length)
  return ends.map((end, index) =>
    text.slice(ends[index - 1] ?? 0, index === ends.length - 1 ? undefined : end),
  )
}

function toPayload(event: unknown): Buffer {
  return Buffer.from(JSON.stringify(event))
}
