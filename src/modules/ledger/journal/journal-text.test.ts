import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { recordUsage } from '../books/record-usage.ts'
import { COST_VERSION } from './charge-details.ts'
import { toJournalText } from './journal-text.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterAll(() => stage.close())

interface Written {
  readonly cacheWriteTokens: number | undefined
  readonly uncoveredNanoUsd: bigint
  readonly model: string
}

const charge = ({ cacheWriteTokens, uncoveredNanoUsd, model }: Written, accountId: string) => {
  const record = usageOf({ accountId, keyId: createId(), limitNanoUsd: null })
  return {
    record: { ...record, model, ...(cacheWriteTokens === undefined ? {} : { cacheWriteTokens }) },
    costNanoUsd: 0n,
    promotionalNanoUsd: 0n,
    uncoveredNanoUsd,
  }
}

const written: fc.Arbitrary<Written> = fc.record({
  cacheWriteTokens: fc.option(fc.integer({ min: 0, max: 1_000_000 }), { nil: undefined }),
  uncoveredNanoUsd: fc.bigInt({ min: 0n, max: 3n }),
  model: fc.constantFrom('one', 'other'),
})

test('what was written to caches is posted with each request and in the sums, beside requests that wrote nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(written, { minLength: 1, maxLength: 6 }), async (requests) => {
      const accountId = createId()
      await recordUsage(stage.database, {
        writer: 1,
        charges: requests.map((request) => charge(request, accountId)),
      })
      const sumOf = async (table: string) => {
        const [row] = await stage.database.query<{ sum: bigint }>(
          `SELECT sum(cache_write_tokens)::bigint AS sum FROM ${table} WHERE account_id = $1`,
          [accountId],
        )
        return Number(row?.sum)
      }
      const expected = requests.reduce((sum, { cacheWriteTokens = 0 }) => sum + cacheWriteTokens, 0)
      expect([await sumOf('usage_records'), await sumOf('usage_rollups')]).toEqual([expected, expected])
    }),
    { numRuns: 20 },
  )
})

test('costs of vendors are posted with each request and in the sums of its hour and of each label, and those that are unknown are counted nowhere', async () => {
  const cost = fc.option(fc.bigInt({ min: 0n, max: 9n }), { nil: undefined })
  await fc.assert(
    fc.asyncProperty(fc.array(cost, { minLength: 1, maxLength: 6 }), async (costs) => {
      const accountId = createId()
      const plain = { cacheWriteTokens: undefined, uncoveredNanoUsd: 0n, model: 'one' }
      const charges = costs.map((nanoUsd, index) => {
        const one = charge(plain, accountId)
        const labels = index % 2 === 0 ? ['tag:team=a', 'group:1'] : ['tag:team=b']
        const vendorCost = nanoUsd === undefined ? undefined : { nanoUsd, version: 'file-1' }
        return { ...one, costNanoUsd: 100n, record: { ...one.record, priceVersion: '1', vendorCost, labels } }
      })
      await recordUsage(stage.database, { writer: 1, charges })
      const rows = await stage.database.query<{ cost: bigint | null; version: string | null }>(
        `SELECT vendor_cost_nano_usd AS cost, ${COST_VERSION} AS version FROM usage_records WHERE account_id = $1 ORDER BY id`,
        [accountId],
      )
      const ordered = charges.toSorted((a, b) => (a.record.id < b.record.id ? -1 : 1))
      expect(rows).toEqual(
        ordered.map(({ record: { vendorCost } }) => ({
          cost: vendorCost?.nanoUsd ?? null,
          version: vendorCost?.version ?? null,
        })),
      )
      const known = costs.filter((one) => one !== undefined)
      const sums = await stage.database.query(
        `SELECT sum(requests)::bigint AS requests, sum(costed_requests)::bigint AS costed, sum(vendor_cost_nano_usd)::bigint AS cost,
           sum(costed_revenue_nano_usd)::bigint AS revenue
         FROM usage_rollups WHERE account_id = $1`,
        [accountId],
      )
      expect(sums).toEqual([
        {
          requests: BigInt(costs.length),
          costed: BigInt(known.length),
          cost: known.reduce((sum, one) => sum + one, 0n),
          revenue: BigInt(known.length) * 100n,
        },
      ])
      const byLabel = await stage.database.query(
        `SELECT label, sum(costed_requests)::bigint AS costed, sum(vendor_cost_nano_usd)::bigint AS cost,
           sum(costed_revenue_nano_usd)::bigint AS revenue
         FROM usage_by_label WHERE account_id = $1 GROUP BY label ORDER BY label`,
        [accountId],
      )
      const sumOf = (label: string, isEven: boolean) => {
        const labelled = costs.filter((_, index) => (index % 2 === 0) === isEven)
        const counted = labelled.filter((one) => one !== undefined)
        const cost = counted.reduce((sum, one) => sum + one, 0n)
        const costed = BigInt(counted.length)
        return labelled.length === 0 ? [] : [{ label, costed, cost, revenue: costed * 100n }]
      }
      expect(byLabel).toEqual([
        ...sumOf('group:1', true),
        ...sumOf('tag:team=a', true),
        ...sumOf('tag:team=b', false),
      ])
    }),
    { numRuns: 20 },
  )
})

test('a text without cache writes is as a process of the release before reads and writes it', () => {
  const plain = { uncoveredNanoUsd: 0n, model: 'one' }
  const text = (request: Written) => toJournalText([{ ...charge(request, createId()), parts: [] }])
  const arraysOf = (request: Written) => text(request).split('\u001F').length
  expect(arraysOf({ ...plain, cacheWriteTokens: undefined })).toBe(6)
  expect(arraysOf({ ...plain, cacheWriteTokens: 0 })).toBe(6)
  expect(arraysOf({ ...plain, cacheWriteTokens: 0, uncoveredNanoUsd: 1n })).toBe(7)
  expect(arraysOf({ ...plain, cacheWriteTokens: 5 })).toBe(9)
})

test('details are posted with their request, whatever they contain, beside requests without any', async () => {
  const details = fc.option(
    fc.oneof(fc.constant('1;s;;;;++0+251'), fc.string({ unit: 'binary', minLength: 1 })),
    {
      nil: undefined,
    },
  )
  await fc.assert(
    fc.asyncProperty(fc.array(details, { minLength: 1, maxLength: 6 }), async (texts) => {
      const accountId = createId()
      const ids = texts.map(() => createId())
      const charges = texts.map((text, index) => {
        const plain = charge({ cacheWriteTokens: 0, uncoveredNanoUsd: 0n, model: 'one' }, accountId)
        const id = ids[index] ?? ''
        return { ...plain, record: { ...plain.record, id, ...(text === undefined ? {} : { details: text }) } }
      })
      await recordUsage(stage.database, { writer: 1, charges })
      const rows = await stage.database.query<{ id: string; details: string | null }>(
        'SELECT id, details FROM usage_records WHERE account_id = $1',
        [accountId],
      )
      const found = new Map(rows.map((row) => [row.id, row.details]))
      const fit = (text: string | undefined) =>
        text?.toWellFormed().replaceAll('\u001F', '\uFFFD').replaceAll('\0', '\uFFFD') ?? null
      expect(ids.map((id) => found.get(id))).toEqual(texts.map(fit))
    }),
    { numRuns: 20 },
  )
})
