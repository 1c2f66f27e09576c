import { openAsBlob } from 'node:fs'
import { FormData } from 'undici'
import { isRecord } from '../../kernel/is-record.ts'
import type { Transcript, TranscriptionCall, TranscriptionOperation } from '../media/audio-operations.ts'
import { toLanguageCode } from '../media/language-code.ts'
import { UpstreamError, invalidAnswer } from '../failures/upstream-error.ts'
import { readJsonBody } from './read-answer.ts'
import type { WireClient } from './wire-client.ts'

type AnswerFormat = 'verbose_json' | 'json'

const PLAIN_MODELS_MAX = 1000

/** Serves OpenAI's `/audio/transcriptions` and `/audio/translations`. The file is streamed from disk. */
export function createTranscription(client: WireClient): TranscriptionOperation {
  /** Models that refused `verbose_json`, the format with timestamps. */
  const plainModels = new Set<string>()

  const ask = async (call: TranscriptionCall, format: AnswerFormat): Promise<Transcript> => {
    const path = call.isTranslation ? '/audio/translations' : '/audio/transcriptions'
    const response = await client.post(path, await writeForm(call, format), call)
    return readTranscript(client.provider, await readJsonBody(client.provider, response))
  }

  return async (call) => {
    const model = call.upstreamModel
    if (isPlainModel(model) || plainModels.has(model)) return ask(call, 'json')
    try {
      return await ask(call, 'verbose_json')
    } catch (error) {
      if (!isFormatRefused(error)) throw error
      if (plainModels.size < PLAIN_MODELS_MAX) plainModels.add(model)
      return ask(call, 'json')
    }
  }
}

/** OpenAI's models after Whisper return text without timestamps. */
function isPlainModel(model: string): boolean {
  return /^gpt-.*-transcribe/.test(model)
}

// Servers phrase this error differently, but all name the parameter or its value.
function isFormatRefused(error: unknown): boolean {
  if (!(error instanceof UpstreamError) || !error.isRequestAtFault) return false
  const { upstreamParam = '', upstreamMessage = '' } = error.details
  return upstreamParam.includes('response_format') || /response_format|verbose_json/.test(upstreamMessage)
}

async function writeForm(call: TranscriptionCall, format: AnswerFormat): Promise<FormData> {
  const { audio, upstreamModel, language, prompt, temperature, withWords, isTranslation } = call
  const form = new FormData()
  form.append('model', upstreamModel)
  form.append('response_format', format)
  if (language !== null && !isTranslation) form.append('language', language)
  if (prompt !== null) form.append('prompt', prompt)
  if (temperature !== null) form.append('temperature', String(temperature))
  if (withWords && format === 'verbose_json' && !isTranslation) {
    form.append('timestamp_granularities[]', 'word')
    form.append('timestamp_granularities[]', 'segment')
  }
  // After the other fields, so that a server that parses the form as a stream already knows the options.
  form.append('file', await openAsBlob(audio.path, { type: audio.contentType }), audio.filename)
  return form
}

function readTranscript(provider: string, answer: unknown): Transcript {
  if (!isRecord(answer) || typeof answer['text'] !== 'string')
    throw invalidAnswer(provider, 'its answer has no text')
  const { text, language, segments, words, duration, usage } = answer
  return {
    text: text.trim(),
    language: typeof language === 'string' ? toLanguageCode(language) : null,
    segments: readSpans(segments, 'text').map(({ what, ...times }) => ({ ...times, text: what.trim() })),
    words: readSpans(words, 'word').map(({ what, ...times }) => ({ ...times, word: what.trim() })),
    durationSeconds: readSeconds(duration) ?? wholeSecondsOf(usage),
  }
}

/** OpenAI used to send the duration as a string. */
function readSeconds(value: unknown): number | null {
  const seconds = typeof value === 'string' ? Number(value) : value
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds > 0 ? seconds : null
}

/**
 * Returns a lower bound of the duration: the reported seconds are rounded up, so the recording is longer than one second less.
 */
function wholeSecondsOf(usage: unknown): number | null {
  const seconds = readSeconds(isRecord(usage) ? usage['seconds'] : null)
  return seconds === null ? null : Math.max(seconds - 1, 0.001)
}

interface Span {
  readonly startSeconds: number
  readonly endSeconds: number
  readonly what: string
}

function readSpans(spans: unknown, member: 'text' | 'word'): Span[] {
  if (!Array.isArray(spans)) return []
  return spans.flatMap((span: unknown) => {
    const { start, end, [member]: what } = isRecord(span) ? span : {}
    if (typeof start !== 'number' || typeof end !== 'number' || typeof what !== 'string') return []
    return [{ startSeconds: start, endSeconds: end, what }]
  })
}
