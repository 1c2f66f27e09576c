import { Readable } from 'node:stream'
import { expect, test } from 'vitest'
import type { StoredFile } from '../../files/files.ts'
import type { Caller } from '../../keys/keys.ts'
import type { Batch } from '../batch.ts'
import { retryBatch } from './retry-batch.ts'

test('the input file is closed although nothing of it is read', async () => {
  const opened: Readable[] = []
  const files = {
    store: () => Promise.reject(new Error('no room')),
    read: () => Promise.resolve({} as StoredFile),
    open: async () => {
      const source = Readable.from([Buffer.from('{"id":"batch_req_1"}\n')])
      opened.push(source)
      return source
    },
    delete: () => Promise.resolve(),
  }
  const batch = { id: 'b', status: 'completed', inputFileId: 'in', errorFileId: 'err' } as Batch
  const caller = { accountId: 'a', projectId: null, keyId: 'k' } as unknown as Caller
  const retrying = retryBatch(files, { caller, batch }, () => Promise.reject(new Error('not reached')))
  await expect(retrying).rejects.toThrow('no room')
  expect(opened.map(({ destroyed }) => destroyed)).toEqual([true, true])
})
