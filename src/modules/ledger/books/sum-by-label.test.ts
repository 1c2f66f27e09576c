import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { HOUR_MS, toJournalText } from '../journal/journal-text.ts'
import { postCharges } from '../journal/post-charges.ts'
import { createLedgerStage, usageOf, type LedgerStage } from '../testing/ledger-stage.ts'
import { recordUsage } from './record-usage.ts'

let stage: LedgerStage

beforeAll(async () => {
  stage = await createLedgerStage()
})

afterAll(() => stage.close())

interface Asked {
  readonly labels: readonly string[]
  readonly costNanoUsd: bigint
  readonly hour: number
  readonly model: string
}

const DAY_START_MS = Date.UTC(2030, 0, 31, 12)

/** Over a day, a month and an hour. */
const asked: fc.Arbitrary<Asked> = fc.record({
  labels: fc
    .uniqueArray(fc.constantFrom('group:0198', 'tag:feature="x"\\', 'tag:team=a', 'tag:team=b ä'), {
      maxLength: 3,
    })
    .map((labels) => labels.toSorted()),
  costNanoUsd: fc.bigInt({ min: 0n, max: 10n ** 15n }),
  hour: fc.nat({ max: 23 }),
  model: fc.constantFrom('one', 'other'),
})

const chargeOf = ({ labels, costNanoUsd, hour, model }: Asked, accountId: string) => ({
  record: usageOf(
    { accountId, keyId: accountId, limitNanoUsd: null },
    { createdAtMs: DAY_START_MS + hour * HOUR_MS, model, ...(labels.length > 0 && { labels }) },
  ),
  costNanoUsd,
  promotionalNanoUsd: 0n,
  parts: [],
})

interface Sum {
  readonly label: string
  readonly requests: bigint
  readonly cost: bigint
}

const readSums = (accountId: string): Promise<Sum[]> =>
  stage.database.query<Sum & Record<string, unknown>>(
    `SELECT label, sum(requests)::bigint AS requests, sum(cost_nano_usd)::bigint AS cost FROM usage_by_label
     WHERE account_id = $1 GROUP BY label ORDER BY label`,
    [accountId],
  )

function addUp(charges: readonly Asked[]): Sum[] {
  const sums = new Map<string, Sum>()
  for (const { labels, costNanoUsd } of charges)
    for (const label of labels) {
      const { requests, cost } = sums.get(label) ?? { requests: 0n, cost: 0n }
      sums.set(label, { label, requests: requests + 1n, cost: cost + costNanoUsd })
    }
  return [...sums.values()].toSorted((a, b) => (a.label < b.label ? -1 : 1))
}

/** Writes a commit of a borrower that does not live any more. Its charges are not paid by leases. */
const journal = (charges: readonly Asked[], accountId: string) =>
  stage.database.query('INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ($1, 1, $2)', [
    createId(),
    toJournalText(charges.map((charge) => chargeOf(charge, accountId))),
  ])

test('the sums of each label are those of its charges, however they are recorded', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(asked, { maxLength: 12 }),
      fc.array(asked, { maxLength: 4 }),
      async (some, more) => {
        const accountId = createId()
        if (some.length > 0) await journal(some, accountId)
        expect(await postCharges(stage.database)).toEqual([])
        const charges = more.map((charge) => chargeOf(charge, accountId))
        await recordUsage(stage.database, { writer: 3, charges })
        expect(await readSums(accountId)).toEqual(addUp([...some, ...more]))
        const records = await stage.database.query<{ labels: string[] | null; cost: bigint }>(
          'SELECT labels, cost_nano_usd AS cost FROM usage_records WHERE account_id = $1',
          [accountId],
        )
        const listed = (charge: { labels: readonly string[] | null; cost: bigint }) =>
          `${charge.labels?.join('|') ?? ''} ${charge.cost}`
        expect(records.map(listed).toSorted()).toEqual(
          [...some, ...more].map(({ labels, costNanoUsd: cost }) => listed({ labels, cost })).toSorted(),
        )
      },
    ),
    { numRuns: 25 },
  )
})

test('charges that are posted one by one keep their labels', async () => {
  const accountId = createId()
  const charge = { labels: ['tag:team=a'], costNanoUsd: 5n, hour: 0, model: 'one' }
  const text = toJournalText([chargeOf(charge, accountId)])
  for (const borrowerId of [createId(), createId()])
    await stage.database.query(
      'INSERT INTO charge_journal (borrower_id, sequence, charges) VALUES ($1, 1, $2)',
      [borrowerId, text],
    )
  expect(await postCharges(stage.database)).toEqual([])
  expect(await readSums(accountId)).toEqual([{ label: 'tag:team=a', requests: 1n, cost: 5n }])
})

test('a text without labels is as a process of the release before writes it', () => {
  const charge = { labels: [], costNanoUsd: 5n, hour: 0, model: 'one' }
  const arraysOf = (text: string) => text.split('\u001F').length
  expect(arraysOf(toJournalText([chargeOf(charge, createId())]))).toBe(6)
  expect(arraysOf(toJournalText([chargeOf({ ...charge, labels: ['tag:a=b'] }, createId())]))).toBe(12)
})

test('a tag with a new value for each request has a limited number of sums a day, which add up to all of them', async () => {
  const accountId = createId()
  const charges = Array.from({ length: 1_300 }, (_, index) => ({
    labels: [`group:${index}`, `tag:id=${String(index).padStart(5, '0')}`],
    costNanoUsd: 1n,
    hour: 0,
    model: 'one',
  }))
  for (const part of [charges.slice(0, 900), charges.slice(900, 1_200), charges.slice(1_200)])
    await journal(part, accountId).then(() => postCharges(stage.database))
  const sums = await readSums(accountId)
  const ofTags = sums.filter(({ label }) => label.startsWith('tag:'))
  expect(ofTags).toHaveLength(1_001)
  expect(ofTags.find(({ label }) => label === 'tag:id=~other')).toMatchObject({ requests: 300n, cost: 300n })
  expect(ofTags.reduce((sum, { cost }) => sum + cost, 0n)).toBe(1_300n)
  expect(sums.filter(({ label }) => label.startsWith('group:'))).toHaveLength(1_300)

  const names = Array.from({ length: 50 }, (_, index) => ({
    labels: [`tag:n${index}=1`, `tag:o${index}=1`],
    costNanoUsd: 1n,
    hour: 1,
    model: 'one',
  }))
  await journal(names, accountId).then(() => postCharges(stage.database))
  const other = (await readSums(accountId)).filter(({ label }) => label.startsWith('tag:'))
  expect(other).toHaveLength(1_002)
  expect(other.find(({ label }) => label === 'tag:~other')).toMatchObject({ requests: 50n })

  await journal([{ labels: ['tag:id=new'], costNanoUsd: 1n, hour: 30, model: 'one' }], accountId)
  await postCharges(stage.database)
  expect((await readSums(accountId)).find(({ label }) => label === 'tag:id=new')).toMatchObject({ cost: 1n })
})
