import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { ENVIRONMENTS } from './authenticate/caller.ts'
import { createKeyToken, environmentOfKey, hashKey, isKeyForm, shownPrefixOfKey } from './key-form.ts'

test('a new key names its environment and has 256 bits in letters and digits', () => {
  for (const environment of ENVIRONMENTS) {
    const token = createKeyToken(environment)
    expect(token).toMatch(new RegExp(`^pk-${environment}-[A-Za-z0-9]{43}$`))
    expect(environmentOfKey(token)).toBe(environment)
  }
})

test('new keys are unique', () => {
  const tokens = new Set(Array.from({ length: 2000 }, () => createKeyToken('dev')))
  expect(tokens.size).toBe(2000)
})

test('the shown prefix reveals four characters of the secret and no more', () => {
  const token = createKeyToken('staging')
  expect(shownPrefixOfKey(token)).toBe(`${token.slice(0, 'pk-staging-'.length + 4)}…`)
})

test('only text in the form of a key is accepted as a key', () => {
  const secret = 'A'.repeat(27)
  for (const token of [
    '',
    'pk-dev-',
    `pk-dev-${secret.slice(1)}`,
    `pk-qa-${secret}`,
    `sk-dev-${secret}`,
    `pk-dev-${secret}\n`,
    ` pk-dev-${secret}`,
    `pk-dev-${secret}é`,
    `pk-dev-${'A'.repeat(201)}`,
  ]) {
    expect(isKeyForm(token), JSON.stringify(token)).toBe(false)
    expect(environmentOfKey(token)).toBe(null)
  }
  expect(isKeyForm(`pk-prod-a_b-${secret}`)).toBe(true)
})

test('any text is a key exactly if it names an environment', () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.string().map((text) => `pk-dev-${text}`),
      ),
      (text) => {
        expect(environmentOfKey(text) !== null).toBe(isKeyForm(text))
      },
    ),
  )
})

test('the hash of a key is SHA-256 of its whole text', () => {
  expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad')
})
