import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { Caller } from '../../keys/keys.ts'
import { createMessageBatch } from './create-message-batch.ts'

test('the body is closed although nothing of it is read, so that it does not stay on the disk', async () => {
  const body = Readable.from([Buffer.from('{"requests":[]}')])
  const files = { store: () => Promise.reject(new Error('no room')), delete: () => Promise.resolve() }
  const caller = { accountId: 'a', projectId: null, keyId: 'k' } as unknown as Caller
  const making = createMessageBatch(files, { caller, body }, () => Promise.reject(new Error('not reached')))
  await expect(making).rejects.toThrow('no room')
  expect(body.destroyed).toBe(true)
})
