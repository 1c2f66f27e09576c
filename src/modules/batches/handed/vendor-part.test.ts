import { expect, test } from 'vitest'
import { silentLogger } from '../../../kernel/logger.ts'
import { UNSURE, type BatchApi, type SoughtBatch } from '../../../providers/batch/batch-api.ts'
import type { Database } from '../../../storage/database.ts'
import { waitsOf } from './handing.ts'
import type { PartRow } from './part-rows.ts'
import { VendorPart } from './vendor-part.ts'

const row: PartRow = {
  id: '01a1f453-a9a9-711e-9615-a634c727deac',
  provider: 'vendor',
  keyMark: 'mark',
  path: '/messages',
  model: 'm',
  createdAtMs: 0,
  isSent: true,
  vendorId: null,
}

/** A database in which the claim stands, and in which the part has ten lines. */
const query = async (text: string) => (text.includes('count(*)') ? [{ count: 10n }] : [{ id: row.id }])
const database = { query, transaction: (work: (within: unknown) => unknown) => work({ query }) }

function createPart(api: Partial<BatchApi>, members: Partial<PartRow> = {}): VendorPart {
  return new VendorPart(
    { ...row, ...members },
    {
      database: database as unknown as Database,
      claim: { batchId: 'b', workerId: 'w', number: 1 },
      findBatchApi: () => api as BatchApi,
      waits: waitsOf({ pollMs: 1 }),
      logger: silentLogger,
      onRefused: () => {},
    },
  )
}

test('a part whose submission had no answer is looked for with all lines that were sent, not with those that wait', async () => {
  const sought: SoughtBatch[] = []
  const part = createPart({
    find: async (batch) => {
      sought.push(batch)
      return sought.length < 3 ? UNSURE : 'vendor-1'
    },
    look: async (id) => ({ kind: 'ended', id, files: [] }),
    async *results() {},
  })
  const answer = part.lines.wait(1, '{}')
  answer.catch(() => part.lines.leave(1))
  await part.follow(false)
  await expect(answer).rejects.toThrow('no answer')
  expect(sought.map(({ lineCount }) => lineCount)).toEqual([10, 10, 10])
})

test('a batch that nobody waits for is cancelled at the vendor, and not followed any more', async () => {
  const asked: string[] = []
  const part = createPart(
    {
      look: async () => {
        asked.push('look')
        part.end()
        return { kind: 'running' as const }
      },
      cancel: async (id) => {
        asked.push(`cancel ${id}`)
      },
    },
    { vendorId: 'vendor-1' },
  )
  await part.follow(false)
  expect(asked).toEqual(['look', 'cancel vendor-1', 'look'])
})
