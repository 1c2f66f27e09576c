import { expect, test } from 'vitest'
import type { TranscriptWord } from '../../media/audio-operations.ts'
import { groupWords } from './group-words.ts'

/** Returns consecutive words of half a second each. A number is a pause in seconds. */
function wordsOf(...entries: (string | number)[]): TranscriptWord[] {
  let startSeconds = 0
  return entries.flatMap((entry) => {
    if (typeof entry === 'number') {
      startSeconds += entry
      return []
    }
    startSeconds += 0.5
    return [{ word: entry, startSeconds: startSeconds - 0.5, endSeconds: startSeconds }]
  })
}

const textsOf = (words: TranscriptWord[], language: string | null = 'en') =>
  groupWords(words, language).map(({ text }) => text)

test('a sentence is a segment, and so are words between two pauses', () => {
  expect(textsOf(wordsOf('Is', 'it?', 'Yes', '"now."', 'well', 2, 'then'))).toEqual([
    'Is it?',
    'Yes "now."',
    'well',
    'then',
  ])
})

test('a segment lasts from its first word to its last, and no longer than a readable subtitle', () => {
  const segments = groupWords(wordsOf(...Array.from({ length: 100 }, () => 'on')), null)
  expect(segments[0]).toMatchObject({ startSeconds: 0, endSeconds: 15 })
  expect(segments).toHaveLength(4)
})

test('languages written without spaces get none', () => {
  expect(textsOf(wordsOf('你', '好。'), 'zh')).toEqual(['你好。'])
})

test('no words give no segments', () => {
  expect(groupWords([], 'en')).toEqual([])
})
