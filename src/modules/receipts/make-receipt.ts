import { createHash } from 'node:crypto'
import { toTimestamp } from '../../kernel/clock.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import { idsOf, leafOf, LEAF_BYTES } from './leaf.ts'
import { MerkleTree } from './merkle-tree.ts'
import type { SigningKey } from './signing-key.ts'
import { walkRecords, type WrittenRecord } from './walk-records.ts'

/** Of one row: 64 KiB. */
const PART_LEAVES = 2_048

export const DAY_MS = 86_400_000

export interface MakeReceipt {
  readonly database: Database
  readonly accountId: string
  /** The beginning of a day of UTC. */
  readonly dayMs: number
  readonly key: SigningKey
  readonly nowMs: number
  /** Called between reads with how long the last one took. Throws if the work is to end. */
  readonly rest: (workedMs: number) => Promise<void>
}

/** Another process made a receipt of this account at the same time. */
class ReceiptTaken extends Error {
  override readonly name = 'ReceiptTaken'
}

/**
 * Makes a receipt of the records of a day that have none. Returns how many it is about. Whoever is killed leaves a receipt without a
 * statement, which nobody sees and the next one deletes. The number is given once, so that two processes cannot both make one.
 */
export async function makeReceipt(order: MakeReceipt): Promise<number> {
  const { database, accountId, dayMs, key, nowMs, rest } = order
  const before = await findLast(database, accountId)
  const number = (before?.number ?? 0) + 1
  const day = dayOf(dayMs)
  const claimed = await database.query(
    `INSERT INTO receipts (account_id, number, day, created_at) VALUES ($1, $2, $3::date, $4)
     ON CONFLICT DO NOTHING RETURNING number`,
    [accountId, number, day, new Date(nowMs)],
  )
  if (claimed.length === 0) throw new ReceiptTaken(`receipt ${number} is made by another process`)

  const tree = new MerkleTree()
  const parts = new LeafParts(database, accountId, number)
  let costNanoUsd = 0n
  let startedMs = performance.now()
  for await (const records of walkRecords(database, accountId, { fromMs: dayMs, toMs: dayMs + DAY_MS })) {
    const known = await findReceipted(database, accountId, day, records)
    for (const { id, line, costNanoUsd: cost } of records) {
      if (known.has(id.replaceAll('-', ''))) continue
      const leaf = leafOf(id, line)
      tree.add(leaf)
      costNanoUsd += cost
      await parts.add(id, leaf)
    }
    await rest(performance.now() - startedMs)
    startedMs = performance.now()
  }
  await parts.flush()
  if (tree.leaves === 0) {
    await database.query('DELETE FROM receipts WHERE account_id = $1 AND number = $2 AND statement IS NULL', [
      accountId,
      number,
    ])
    return 0
  }
  const statement = JSON.stringify({
    version: 1,
    account_id: accountId,
    number,
    day,
    records: tree.leaves,
    cost_nano_usd: String(costNanoUsd),
    root: tree.root(),
    previous: before === null ? null : createHash('sha256').update(before.statement).digest('hex'),
    key_id: key.id,
    issued_at: toTimestamp(nowMs),
  })
  const done = await database.query(
    `UPDATE receipts SET records = $3, statement = $4, signature = $5
     WHERE account_id = $1 AND number = $2 AND statement IS NULL RETURNING number`,
    [accountId, number, tree.leaves, statement, key.sign(statement)],
  )
  if (done.length === 0) throw new ReceiptTaken(`receipt ${number} was taken over by another process`)
  return tree.leaves
}

/** Returns the last receipt of an account. Deletes what a process that was killed left behind it. */
async function findLast(
  queryable: Queryable,
  accountId: string,
): Promise<{ readonly number: number; readonly statement: string } | null> {
  await queryable.query('DELETE FROM receipts WHERE account_id = $1 AND statement IS NULL', [accountId])
  const [row] = await queryable.query<{ number: number; statement: string }>(
    `SELECT number, statement FROM receipts WHERE account_id = $1 AND statement IS NOT NULL
     ORDER BY number DESC LIMIT 1`,
    [accountId],
  )
  return row ?? null
}

/** The digits of those ids that an earlier receipt of the day has. */
async function findReceipted(
  queryable: Queryable,
  accountId: string,
  day: string,
  records: readonly WrittenRecord[],
): Promise<ReadonlySet<string>> {
  const rows = await queryable.query<{ leaves: Buffer }>(
    `SELECT leaves FROM receipts JOIN receipt_leaves USING (account_id, number)
     WHERE account_id = $1 AND day = $2::date AND statement IS NOT NULL AND first_id <= $4 AND last_id >= $3`,
    [accountId, day, records.at(0)?.id, records.at(-1)?.id],
  )
  return new Set(rows.flatMap(({ leaves }) => idsOf(leaves)))
}

/** Writes leaves in rows of bounded size. */
class LeafParts {
  readonly #database: Database
  readonly #accountId: string
  readonly #number: number
  #leaves: Buffer[] = []
  #firstId = ''
  #lastId = ''
  #part = 0

  constructor(database: Database, accountId: string, number: number) {
    this.#database = database
    this.#accountId = accountId
    this.#number = number
  }

  async add(id: string, leaf: Buffer): Promise<void> {
    if (this.#leaves.length === 0) this.#firstId = id
    this.#lastId = id
    this.#leaves.push(leaf)
    if (this.#leaves.length >= PART_LEAVES) await this.flush()
  }

  async flush(): Promise<void> {
    if (this.#leaves.length === 0) return
    const leaves = Buffer.concat(this.#leaves, this.#leaves.length * LEAF_BYTES)
    this.#leaves = []
    this.#part += 1
    await this.#database.query(
      `INSERT INTO receipt_leaves (account_id, number, part, first_id, last_id, leaves) VALUES ($1, $2, $3, $4, $5, $6)`,
      [this.#accountId, this.#number, this.#part, this.#firstId, this.#lastId, leaves],
    )
  }
}

/** `2026-10-31` */
export function dayOf(epochMs: number): string {
  return new Date(epochMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}
