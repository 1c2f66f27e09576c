import { usdFromNanoUsd } from '../../kernel/money.ts'
import type { TranscriptSegment } from '../../providers/media/audio-operations.ts'
import type { FinishedTranscript } from './finished-transcript.ts'

export const TRANSCRIPT_FORMATS = ['json', 'text', 'srt', 'verbose_json', 'vtt'] as const
type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number]

interface FormattedTranscript {
  readonly contentType: string
  readonly body: string
}

interface FormatOptions {
  readonly format: TranscriptFormat
  /** Which timestamps `verbose_json` includes. */
  readonly withSegments: boolean
  readonly withWords: boolean
  readonly temperature: number
}

/** Formats a transcript in one of the response formats of OpenAI's API. */
export function formatTranscript(
  transcript: FinishedTranscript,
  options: FormatOptions,
): FormattedTranscript {
  switch (options.format) {
    case 'json':
      return asJson(describe(transcript))
    case 'verbose_json':
      return asJson(describeVerbosely(transcript, options))
    case 'text':
      return asText('text/plain', `${transcript.text}\n`)
    case 'srt':
      return asText('application/x-subrip', writeSrt(segmentsOf(transcript)))
    case 'vtt':
      return asText('text/vtt', writeVtt(segmentsOf(transcript)))
  }
}

export function describeUsage({ durationSeconds, costNanoUsd }: FinishedTranscript): Record<string, unknown> {
  return { type: 'duration', seconds: Math.ceil(durationSeconds), cost_usd: usdFromNanoUsd(costNanoUsd) }
}

function describe(transcript: FinishedTranscript): Record<string, unknown> {
  const { text, language, durationSeconds } = transcript
  return {
    text,
    ...(language === null ? {} : { language }),
    duration: toHundredths(durationSeconds),
    usage: describeUsage(transcript),
  }
}

function describeVerbosely(transcript: FinishedTranscript, options: FormatOptions): Record<string, unknown> {
  const { text, language, durationSeconds, words, isTranslation } = transcript
  return {
    task: isTranslation ? 'translate' : 'transcribe',
    language: (isTranslation ? 'en' : language) ?? 'und',
    duration: toHundredths(durationSeconds),
    text,
    ...(options.withSegments
      ? { segments: segmentsOf(transcript).map((segment, id) => describeSegment(segment, id, options)) }
      : {}),
    ...(options.withWords
      ? {
          words: words.map(({ word, startSeconds, endSeconds }) => ({
            word,
            start: toHundredths(startSeconds),
            end: toHundredths(endSeconds),
          })),
        }
      : {}),
    usage: describeUsage(transcript),
  }
}

/** Only Whisper reports all members of a segment. The others get neutral values. */
function describeSegment(
  { startSeconds, endSeconds, text }: TranscriptSegment,
  id: number,
  { temperature }: FormatOptions,
): Record<string, unknown> {
  return {
    id,
    seek: 0,
    start: toHundredths(startSeconds),
    end: toHundredths(endSeconds),
    text,
    tokens: [],
    temperature,
    avg_logprob: 0,
    compression_ratio: 1,
    no_speech_prob: 0,
  }
}

/** If the upstream reports no times, returns one segment for the whole file. */
function segmentsOf({ segments, text, durationSeconds }: FinishedTranscript): readonly TranscriptSegment[] {
  if (segments.length > 0 || text === '') return segments
  return [{ startSeconds: 0, endSeconds: durationSeconds, text }]
}

function writeSrt(segments: readonly TranscriptSegment[]): string {
  return segments
    .map(({ startSeconds, endSeconds, text }, index) =>
      [
        index + 1,
        `${formatTime(startSeconds, ',')} --> ${formatTime(endSeconds, ',')}`,
        `${withoutBlankLines(text)}\n\n`,
      ].join('\n'),
    )
    .join('')
}

function writeVtt(segments: readonly TranscriptSegment[]): string {
  const cues = segments.map(
    ({ startSeconds, endSeconds, text }) =>
      `${formatTime(startSeconds, '.')} --> ${formatTime(endSeconds, '.')}\n${withoutArrows(withoutBlankLines(text))}\n\n`,
  )
  return `WEBVTT\n\n${cues.join('')}`
}

// A blank line would end the cue.
function withoutBlankLines(text: string): string {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '').join('\n')
}

// An arrow would begin the next cue.
function withoutArrows(text: string): string {
  return text.replaceAll('-->', '->')
}

/** `00:01:02,345`. */
function formatTime(seconds: number, separator: string): string {
  const milliseconds = Math.max(0, Math.round(seconds * 1000))
  const pad = (value: number, length: number): string => String(Math.floor(value)).padStart(length, '0')
  const clock = [milliseconds / 3_600_000, (milliseconds / 60_000) % 60, (milliseconds / 1000) % 60]
  return `${clock.map((part) => pad(part, 2)).join(':')}${separator}${pad(milliseconds % 1000, 3)}`
}

function toHundredths(seconds: number): number {
  return Math.round(seconds * 100) / 100
}

function asJson(value: unknown): FormattedTranscript {
  return { contentType: 'application/json; charset=utf-8', body: JSON.stringify(value) }
}

function asText(contentType: string, body: string): FormattedTranscript {
  return { contentType: `${contentType}; charset=utf-8`, body }
}
