import { array, assert, asyncProperty, integer, stringMatching, tuple, uint8Array } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { deriveSecrets, openAnswer, sealAnswer } from './seal-answer.ts'

const source = {
  place: { accountId: 'a', projectId: null as string | null },
  key: 'k',
  method: 'POST',
  url: '/v1/x',
  body: '{}',
}
const { sealingKey } = await deriveSecrets(source)
const answer = {
  status: 200,
  headers: ['content-type', 'application/json'],
  body: Buffer.from('{"ok":true}'),
}

describe('a sealed answer', () => {
  test('is unchanged when it is opened with the same key', async () => {
    const word = stringMatching(/^[!-~]{0,40}$/)
    await assert(
      asyncProperty(
        integer({ min: 200, max: 599 }),
        array(tuple(word, word), { maxLength: 8 }),
        uint8Array({ maxLength: 4_000 }),
        async (status, pairs, bytes) => {
          const kept = { status, headers: pairs.flat(), body: Buffer.from(bytes) }
          expect(await openAnswer(await sealAnswer(kept, sealingKey), sealingKey)).toEqual(kept)
        },
      ),
      { numRuns: 50 },
    )
  })

  test('cannot be opened with the key of another request', async () => {
    const sealed = await sealAnswer(answer, sealingKey)
    const other = await deriveSecrets({ ...source, body: '{ }' })
    await expect(openAnswer(sealed, other.sealingKey)).rejects.toThrow()
  })

  test('cannot be changed', async () => {
    const sealed = await sealAnswer(answer, sealingKey)
    for (let index = 0; index < sealed.length; index += 7) {
      const changed = Buffer.from(sealed)
      changed.writeUInt8(changed.readUInt8(index) ^ 1, index)
      await expect(openAnswer(changed, sealingKey)).rejects.toThrow()
    }
  })

  test('is always different', async () => {
    const [one, other] = [await sealAnswer(answer, sealingKey), await sealAnswer(answer, sealingKey)]
    expect(one.equals(other)).toBe(false)
  })
})

test('the hashes of a request without a project are those that the release before stored', async () => {
  const { keyHash, fingerprint } = await deriveSecrets(source)
  expect(keyHash.toString('hex').slice(0, 16)).toBe('a319f4b905e19269')
  expect(fingerprint.toString('hex').slice(0, 16)).toBe('b7169390d6b2b820')
})

test('every part of a request changes the key, and the key is not stored', async () => {
  const others = [
    { ...source, place: { accountId: 'b', projectId: null } },
    { ...source, place: { accountId: 'a', projectId: 'a' } },
    { ...source, place: { accountId: 'a', projectId: 'b' } },
    { ...source, key: 'l' },
    { ...source, method: 'PUT' },
    { ...source, url: '/v1/y' },
    { ...source, body: '[]' },
  ]
  const all = await Promise.all([source, ...others].map(deriveSecrets))
  const texts = all.flatMap((secrets) =>
    [secrets.fingerprint, secrets.sealingKey].map((key) => key.toString('hex')),
  )
  expect(new Set(texts).size).toBe(texts.length)
})
