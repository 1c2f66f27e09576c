import { expect, test } from 'vitest'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import type { Queryable } from '../../../storage/database.ts'
import { KeyAuthenticator } from './authenticate-key.ts'
import { createKeyToken } from '../key-form.ts'
import { createAuthenticatorStage, keyRow, START_MS } from '../testing/authenticator-stage.ts'

test('many keys due for a refresh are read together, and no request waits for it', async () => {
  const tokens = Array.from({ length: 50 }, () => createKeyToken('dev'))
  const asked: number[] = []
  let gate = Promise.resolve()
  const query = async (_sql: string, [hashes]: readonly unknown[] = []) => {
    if (!Array.isArray(hashes)) throw new Error('hashes are asked for')
    asked.push(hashes.length)
    await gate
    return hashes.map((hash: Buffer) => keyRow({ key_hash: hash, name: hash.toString('hex') }))
  }
  let nowMs = START_MS
  const authenticator = new KeyAuthenticator({
    database: { query: query as Queryable['query'] },
    clock: fakeClock(() => nowMs),
    messageBus: createAuthenticatorStage().bus,
    noteUse: () => {},
  })
  for (const token of tokens) await authenticator.authenticate(token)
  expect(asked).toEqual(tokens.map(() => 1))

  asked.length = 0
  nowMs += 31_000
  const reading = Promise.withResolvers<void>()
  gate = reading.promise
  for (const token of tokens) expect(authenticator.authenticate(token)).not.toBeInstanceOf(Promise)
  expect(asked).toEqual([1])
  reading.resolve()
  await expect.poll(() => asked).toEqual([1, 49])
  nowMs += 6_000
  for (const token of tokens) expect(authenticator.authenticate(token)).not.toBeInstanceOf(Promise)
  await new Promise(setImmediate)
  expect(asked).toEqual([1, 49])
})
