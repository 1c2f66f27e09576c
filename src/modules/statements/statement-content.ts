import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'
import type { NanoUsd } from '../../kernel/money.ts'
import { MOVEMENT_KINDS, type StatementSums } from './statement-sums.ts'
import type { ChargeLine, Statement } from './statement.ts'

const Amount = Type.String({ pattern: '^-?\\d+$' })
const Text = Type.Union([Type.String(), Type.Null()])
const Lines = Type.Array(Type.Tuple([Text, Type.String(), Type.Integer(), Amount]))

/** What is stored of a closed statement. Members are only added, and then optional: older rows are never written again. */
const Content = Type.Object({
  account_name: Type.String(),
  operator: Type.Object({ name: Text, address: Text, tax_id: Text, tax_line: Text }),
  charged: Amount,
  lines: Type.Object({ model: Lines, project: Lines, key: Lines, day: Lines }),
  sums: Type.Record(Type.String(), Amount),
  movements: Type.Array(
    Type.Object({ at_ms: Type.Number(), kind: Type.Enum([...MOVEMENT_KINDS]), amount: Amount, reason: Text }),
  ),
  has_more_movements: Type.Boolean(),
})

/** A statement of an account as one JSON text. */
export function contentOf({ account, operator, charges, balance }: Statement): string {
  if (balance === null) throw new TypeError('a statement of a project is not stored')
  const { model, project, key, day } = charges.lines
  const content: Static<typeof Content> = {
    account_name: account.name,
    operator: {
      name: operator.name,
      address: operator.address,
      tax_id: operator.taxId,
      tax_line: operator.taxLine,
    },
    charged: String(charges.totalNanoUsd),
    lines: {
      model: model.map(lineToContent),
      project: project.map(lineToContent),
      key: key.map(lineToContent),
      day: day.map(lineToContent),
    },
    sums: Object.fromEntries(MOVEMENT_KINDS.map((kind) => [kind, String(balance.sums[kind])])),
    movements: balance.movements.map(({ atMs, kind, amountNanoUsd, reason }) => ({
      at_ms: atMs,
      kind,
      amount: String(amountNanoUsd),
      reason,
    })),
    has_more_movements: balance.hasMoreMovements,
  }
  return JSON.stringify(content)
}

export interface StoredStatement {
  readonly account_id: string
  readonly number: bigint
  readonly opening_nano_usd: bigint
  readonly closing_nano_usd: bigint
  readonly content: unknown
  readonly closed_at: Date
}

/** Reads a closed statement of an account back. */
export function statementFromContent(row: StoredStatement, month: Statement['month']): Statement {
  const content = Value.Parse(Content, row.content)
  const { operator, lines } = content
  return {
    month,
    account: { id: row.account_id, name: content.account_name },
    project: null,
    number: Number(row.number),
    closedAtMs: row.closed_at.getTime(),
    isClosed: true,
    operator: {
      name: operator.name,
      address: operator.address,
      taxId: operator.tax_id,
      taxLine: operator.tax_line,
    },
    charges: {
      totalNanoUsd: BigInt(content.charged),
      lines: {
        model: lines.model.map(lineFromContent),
        project: lines.project.map(lineFromContent),
        key: lines.key.map(lineFromContent),
        day: lines.day.map(lineFromContent),
      },
    },
    balance: {
      openingNanoUsd: row.opening_nano_usd,
      sums: sumsFromContent(content.sums),
      closingNanoUsd: row.closing_nano_usd,
      movements: content.movements.map(({ at_ms: atMs, kind, amount, reason }) => ({
        atMs,
        kind,
        amountNanoUsd: BigInt(amount),
        reason,
      })),
      hasMoreMovements: content.has_more_movements,
    },
  }
}

function sumsFromContent(sums: Readonly<Record<string, string>>): StatementSums {
  const of = (kind: (typeof MOVEMENT_KINDS)[number]): NanoUsd => BigInt(sums[kind] ?? 0)
  return {
    top_ups: of('top_ups'),
    promotional_credit: of('promotional_credit'),
    charges: of('charges'),
    costs_owed: of('costs_owed'),
    refunds: of('refunds'),
    adjustments: of('adjustments'),
    expired_credit: of('expired_credit'),
  }
}

type Line = Static<typeof Lines>[number]

function lineToContent({ id, name, requests, amountNanoUsd }: ChargeLine): Line {
  return [id, name, requests, String(amountNanoUsd)]
}

function lineFromContent([id, name, requests, amount]: Line): ChargeLine {
  return { id, name, requests, amountNanoUsd: BigInt(amount) }
}
