import { createHash } from 'node:crypto'
import { integerOf, type ArchivedRow, type ArchivedTable } from './archived-tables.ts'

/** What rows add up to, so that a file can be compared with what was written to it. */
export interface Totals {
  readonly rows: number
  /** Of the values of all rows, in their order. */
  readonly contentSha256: string
  readonly sums: Readonly<Record<string, bigint>>
}

export interface AccountSum {
  readonly rows: number
  readonly amountNanoUsd: bigint
}

/** Adds up rows as they pass. */
export class RowTotals {
  readonly #table: ArchivedTable
  readonly #content = createHash('sha256')
  readonly #sums: Record<string, bigint>
  readonly #accounts = new Map<string, AccountSum>()
  #rows = 0

  constructor(table: ArchivedTable) {
    this.#table = table
    this.#sums = Object.fromEntries(table.summed.map((column) => [column, 0n]))
  }

  add(rows: readonly ArchivedRow[]): void {
    const { columns, summed, amountOf } = this.#table
    for (const row of rows) {
      this.#content.update(`${JSON.stringify(columns.map(({ name }) => textOf(row[name] ?? null)))}\n`)
      for (const column of summed) this.#sums[column] = (this.#sums[column] ?? 0n) + integerOf(row, column)
      const accountId = row['account_id']
      if (typeof accountId === 'string') this.#addToAccount(accountId, amountOf(row))
    }
    this.#rows += rows.length
  }

  get accounts(): ReadonlyMap<string, AccountSum> {
    return this.#accounts
  }

  /** Called once, at the end. */
  finish(): Totals {
    return { rows: this.#rows, contentSha256: this.#content.digest('hex'), sums: this.#sums }
  }

  #addToAccount(accountId: string, amountNanoUsd: bigint): void {
    const known = this.#accounts.get(accountId)
    this.#accounts.set(accountId, {
      rows: (known?.rows ?? 0) + 1,
      amountNanoUsd: (known?.amountNanoUsd ?? 0n) + amountNanoUsd,
    })
  }
}

function textOf(value: string | bigint | null): string | null {
  return typeof value === 'bigint' ? String(value) : value
}
