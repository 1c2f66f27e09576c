import { expect, test } from 'vitest'
import { toLanguageCode } from './language-code.ts'

test.each([
  ['en', 'en'],
  ['eng', 'en'],
  ['en-US', 'en'],
  ['pt_BR', 'pt'],
  ['English', 'en'],
  ['turkish', 'tr'],
  ['Mandarin', 'zh'],
  ['german', 'de'],
  ['norwegian', 'no'],
  ['haw', 'haw'],
  ['not a language', null],
  ['', null],
])('%j is %j', (language, code) => {
  expect(toLanguageCode(language)).toBe(code)
})
