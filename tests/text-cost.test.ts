import { describe, expect, test } from 'vitest'
import { parsePrefer } from '../src/http/parameters/prefer-header.ts'
import { formatTranscript } from '../src/modules/transcription/format-transcript.ts'
import { timeWords } from '../src/providers/sandbox/media/audio/time-words.ts'
import { scrubSecrets } from '../src/telemetry/scrub-secrets.ts'
import { leastCostMs } from './support/least-cost.ts'

const SMALL = 4_000
const FACTOR = 16

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
  ])('takes time in proportion to its length: %s', (_name, textOf, look) => {
    const [small, large] = [textOf(SMALL), textOf(SMALL * FACTOR)]
    leastCostMs(() => look(small), 50)
    const smallMs = Math.max(
      leastCostMs(() => look(small), 20),
      0.01,
    )
    // Linear work takes `FACTOR` times as long; quadratic work takes 16 times longer than that.
    expect(leastCostMs(() => look(large), 10)).toBeLessThan(smallMs * FACTOR * 5)
  })
})
