import { afterEach, expect, test, vi } from 'vitest'
import { silentLogger } from '../../../kernel/logger.ts'
import { UNSURE, type BatchApi, type SoughtBatch } from '../../../providers/batch/batch-api.ts'
import type { Database } from '../../../storage/database.ts'
import { ResultRoom } from '../lines/result-room.ts'
import { waitsOf } from './handing.ts'
import type { PartRow } from './part-rows.ts'
import { VendorPart, type PartOptions } from './vendor-part.ts'

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

function createPart(
  api: Partial<BatchApi>,
  members: Partial<PartRow> = {},
  options: Partial<PartOptions> = {},
): VendorPart {
  return new VendorPart(
    { ...row, ...members },
    {
      database: database as unknown as Database,
      claim: { batchId: 'b', workerId: 'w', number: 1 },
      findBatchApi: () => api as BatchApi,
      waits: waitsOf({ pollMs: 1 }),
      logger: silentLogger,
      onRefused: () => {},
      caller: { mayKeepAnswers: async () => true },
      results: () => new ResultRoom(0),
      ...options,
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

afterEach(() => {
  vi.restoreAllMocks()
})

test('answers that the batch has no room for are not given to their lines, which are not charged', async () => {
  const part = createPart(
    {
      look: async (id) => ({ kind: 'ended', id, files: [] }),
      async *results() {
        yield { id: `${part.name}-1`, status: 200, body: Buffer.from('{}') }
      },
    },
    { vendorId: 'vendor-1' },
    { results: () => new ResultRoom(10, 10) },
  )
  const answer = part.lines.wait(1, '{}')
  answer.catch(() => part.lines.leave(1))
  await part.follow(false)
  await expect(answer).rejects.toThrow('no answer')
})

test('a process that was stopped after it noted a part as sent looks for it before it sends it', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  const slow = async (text: string) => {
    if (text.includes('sent_at')) nowMs += 60_000
    return query(text)
  }
  const asked: string[] = []
  const part = createPart(
    {
      submit: async ({ onCreate }) => {
        await onCreate()
        asked.push('sent')
        return 'vendor-2'
      },
      find: async () => {
        asked.push('find')
        return 'vendor-1'
      },
      look: async (id) => ({ kind: 'ended', id, files: [] }),
      async *results() {},
    },
    { isSent: false },
    {
      database: {
        query: slow,
        transaction: (work: (within: unknown) => unknown) => work({ query: slow }),
      } as never,
    },
  )
  const answer = part.lines.wait(1, '{}')
  answer.catch(() => part.lines.leave(1))
  await part.follow(true)
  await expect(answer).rejects.toThrow('no answer')
  expect(asked).toEqual(['find'])
})

test('a batch that the vendor made while its claim was lost is cancelled, unless it is the one that is followed now', async () => {
  for (const followed of ['vendor-2', 'vendor-1', null]) {
    const lost = async (text: string) => {
      if (text.startsWith('SELECT vendor_id')) return [{ vendor_id: followed }]
      return text.includes('vendor_id = $5') ? [] : query(text)
    }
    const cancelled: string[] = []
    const part = createPart(
      {
        submit: async ({ onCreate }) => {
          await onCreate()
          return 'vendor-1'
        },
        cancel: async (id) => {
          cancelled.push(id)
        },
      },
      { isSent: false },
      {
        database: {
          query: lost,
          transaction: (work: (within: unknown) => unknown) => work({ query: lost }),
        } as never,
      },
    )
    part.lines.wait(1, '{}').catch(() => {})
    await expect(part.follow(true)).rejects.toThrow('claim on a batch was lost')
    expect(cancelled).toEqual(followed === 'vendor-2' ? ['vendor-1'] : [])
  }
})
