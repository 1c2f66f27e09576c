import { createRandomFromText } from '../../../../kernel/seeded-random.ts'
import { WORDS } from '../../answer/words.ts'

const WORDS_PER_SECOND = 2.4
const WORDS_MAX = 5000

const OPENINGS = ['The', 'A', 'Every', 'One', 'Another'] as const
const VERBS = ['crossed', 'followed', 'reached', 'remembered', 'watched', 'kept', 'found', 'passed'] as const
const LINKS = ['beside the', 'behind the', 'near the', 'under the', 'across the', 'without a'] as const

/** Composes plain English sentences, about as many as can be spoken in the given time. Empty for a duration of zero. */
export function composeTranscript(durationSeconds: number, seedText: string): string {
  const random = createRandomFromText(seedText)
  const wordCount = Math.min(WORDS_MAX, Math.round(durationSeconds * WORDS_PER_SECOND))
  const sentences: string[] = []
  let written = 0
  while (written < wordCount) {
    const words = [
      random.pick(OPENINGS),
      random.pick(WORDS),
      random.pick(VERBS),
      'the',
      random.pick(WORDS),
      ...random.pick(LINKS).split(' '),
      random.pick(WORDS),
    ].slice(0, Math.max(2, wordCount - written))
    sentences.push(`${words.join(' ')}.`)
    written += words.length
  }
  return sentences.join(' ')
}

const SIGNS: readonly (readonly [RegExp, string])[] = [
  [/[\p{Script=Hiragana}\p{Script=Katakana}]/u, 'ja'],
  [/\p{Script=Hangul}/u, 'ko'],
  [/\p{Script=Han}/u, 'zh'],
  [/\p{Script=Cyrillic}/u, 'ru'],
  [/\p{Script=Arabic}/u, 'ar'],
  [/\p{Script=Greek}/u, 'el'],
  [/[ğşıİ]/, 'tr'],
  [/[äöüß]|\b(?:und|nicht|ist|der|das)\b/i, 'de'],
  [/[¿¡ñ]|\b(?:el|los|una|está|hola)\b/i, 'es'],
  [/[çêœ]|\b(?:le|les|une|est|bonjour)\b/i, 'fr'],
]

/** Guesses the language from its letters and a few common words. The default is English. */
export function guessLanguage(text: string): string {
  const bounded = text.slice(0, 2000)
  return SIGNS.find(([pattern]) => pattern.test(bounded))?.[1] ?? 'en'
}
