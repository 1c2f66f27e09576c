import { describe, expect, test } from 'vitest'
import { parsePrefer } from '../src/http/parameters/prefer-header.ts'
import { formatTranscript } from '../src/modules/transcription/format-transcript.ts'
import { timeWords } from '../src/providers/sandbox/media/audio/time-words.ts'
import { scrubSecrets } from '../src/telemetry/scrub-secrets.ts'
import { LINEAR_MS_MAX, LONG_TEXT_LENGTH } from './support/linear-work.ts'

const transcriptOf = (text: string) => ({
  text,
  language: null,
  isTranslation: false,
  durationSeconds: 1,
  costNanoUsd: 0n,
  segments: [{ startSeconds: 0, endSeconds: 1, text }],
  words: [],
})

describe('external text that is matched with regular expressions', () => {
  test.each<[string, (length: number) => string, (text: string) => unknown]>([
    [
      'a transcript of spaces',
      (length) => `a${' '.repeat(length)}b`,
      (text) =>
        formatTranscript(transcriptOf(text), {
          format: 'vtt',
          withSegments: false,
          withWords: false,
          temperature: 0,
        }),
    ],
    [
      'a word of marks',
      (length) => `a${'!'.repeat(length)}b`,
      (text) => timeWords([{ startSeconds: 0, endSeconds: 1, text }]),
    ],
    ['a log line of lists that never end', (length) => '"secret":['.repeat(length / 10), scrubSecrets],
    [
      'a log line of spaces',
      (length) => `"secret"${' '.repeat(length)}Bearer${' '.repeat(length)}`,
      scrubSecrets,
    ],
    ['a preference of spaces', (length) => `wait${' '.repeat(length)}x`, parsePrefer],
  ])(
    'takes time in proportion to its length: %s',
    (_name, textOf, look) => {
      expect(() => look(textOf(LONG_TEXT_LENGTH))).not.toThrow()
    },
    LINEAR_MS_MAX,
  )
})
