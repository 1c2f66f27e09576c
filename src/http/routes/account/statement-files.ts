import { formatUsd, type NanoUsd } from '../../../kernel/money.ts'
import {
  CHARGE_DIMENSIONS,
  MOVEMENT_KINDS,
  numberText,
  type ChargeDimension,
  type MovementKind,
  type Statement,
  type StatementRow,
} from '../../../modules/statements/statements.ts'
import { csvRow } from '../../answers/csv-row.ts'
import type { PrintedDocument, PrintedTable } from '../../printed/printed-document.ts'

/** `statement-2026-10-ST-000042.pdf` */
export function fileNameOf(
  { month, number, project }: Statement,
  ending: 'pdf' | 'csv' | 'focus.csv',
): string {
  const parts = ['statement', month.name, ...(number === null ? [] : [numberText(number)])]
  return `${[...parts, ...(project === null ? [] : [`project-${project.id}`])].join('-')}.${ending}`
}

const CSV_COLUMNS = [
  'at',
  'kind',
  'description',
  'project_id',
  'project',
  'key_id',
  'key',
  'model',
  'requests',
  'amount_usd',
]

/** The amounts of all lines but the balances add up to the closing balance less the opening one. */
export async function* writeStatementCsv(
  { month, balance, charges }: Statement,
  rows: AsyncIterable<readonly StatementRow[]>,
  { seesMovements }: { seesMovements: boolean },
): AsyncGenerator<string> {
  const line = (at: string, kind: string, description: string | null, amount: NanoUsd): string =>
    csvRow([at, kind, description, null, null, null, null, null, null, { nanoUsd: amount }])
  yield csvRow(CSV_COLUMNS)
  const [begins, ends] = [new Date(month.fromMs).toISOString(), new Date(month.toMs).toISOString()]
  if (balance !== null) yield line(begins, 'opening_balance', null, balance.openingNanoUsd)
  if (balance !== null && !seesMovements)
    for (const kind of MOVEMENT_KINDS)
      if (kind !== 'charges' && balance.sums[kind] !== 0n) yield line(begins, kind, null, balance.sums[kind])
  for await (const part of rows) {
    const seen = seesMovements ? part : part.filter(({ kind }) => kind === 'charges')
    yield seen.map(rowToCsv).join('')
  }
  if (balance !== null) yield line(ends, 'closing_balance', null, balance.closingNanoUsd)
  else yield line(ends, 'total', null, -charges.totalNanoUsd)
}

function rowToCsv({ at, kind, amountNanoUsd, reason, charge }: StatementRow): string {
  return csvRow([
    at,
    kind,
    reason,
    charge?.projectId,
    charge?.projectName,
    charge?.keyId,
    charge?.keyName,
    charge?.model,
    charge?.requests,
    { nanoUsd: amountNanoUsd },
  ])
}

const KIND_NAMES: Readonly<Record<MovementKind, string>> = {
  top_ups: 'Top-ups',
  promotional_credit: 'Promotional credit',
  charges: 'Charges for requests',
  costs_owed: 'Costs above the balance',
  refunds: 'Refunds',
  adjustments: 'Adjustments by the operator',
  expired_credit: 'Expired credit',
}

const DIMENSION_NAMES: Readonly<Record<ChargeDimension, string>> = {
  model: 'Model',
  project: 'Project',
  key: 'Key',
  day: 'Day (UTC)',
}

/** Of each list. The CSV has all of them. */
const PRINTED_LINES_MAX = 100

export function printedStatement(
  statement: Statement,
  { seesMovements }: { seesMovements: boolean },
): PrintedDocument {
  const { month, account, project, number, isClosed, operator, charges, balance } = statement
  const movements = seesMovements ? (balance?.movements ?? []) : []
  return {
    language: 'en',
    title: `Statement ${month.name}`,
    subtitles: [
      number === null
        ? isClosed
          ? 'Closed'
          : 'Not closed yet: amounts may change'
        : `Number ${numberText(number)}`,
      `Account: ${account.name} (${account.id})`,
      ...(project === null ? [] : [`Project: ${project.name} (${project.id})`]),
      `From ${dayOf(month.fromMs)} to ${dayOf(month.toMs - 1)}, days of UTC`,
      'All amounts are in US dollars.',
    ],
    issuer: [
      ...(operator.name === null ? [] : [operator.name]),
      ...(operator.address?.split('|').map((line) => line.trim()) ?? []),
      ...(operator.taxId === null ? [] : [`Tax id: ${operator.taxId}`]),
    ],
    tables: [
      summaryTable(statement),
      ...CHARGE_DIMENSIONS.map((dimension) => chargesTable(dimension, charges)),
      ...(movements.length === 0 ? [] : [movementsTable(movements)]),
    ],
    notes: [
      ...(operator.taxLine === null ? [] : [operator.taxLine]),
      'A charge belongs to the month in which the ledger entered it, which is when its request or task ended.',
    ],
  }
}

function dayOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 'YYYY-MM-DD'.length)
}

const AMOUNT_COLUMN = { title: 'USD', share: 0.25, isRight: true }

function summaryTable({ balance, charges }: Statement): PrintedTable {
  const columns = [{ title: '', share: 0.75 }, AMOUNT_COLUMN]
  if (balance === null)
    return {
      title: 'Summary',
      columns,
      rows: [[KIND_NAMES.charges, formatUsd(charges.totalNanoUsd)]],
      boldRows: [0],
    }
  const kinds = MOVEMENT_KINDS.filter((kind) => kind === 'charges' || balance.sums[kind] !== 0n)
  return {
    title: 'Summary',
    columns,
    rows: [
      ['Opening balance', formatUsd(balance.openingNanoUsd)],
      ...kinds.map((kind) => [KIND_NAMES[kind], formatUsd(balance.sums[kind])]),
      ['Closing balance', formatUsd(balance.closingNanoUsd)],
    ],
    boldRows: [0, kinds.length + 1],
  }
}

function chargesTable(
  dimension: ChargeDimension,
  { lines, totalNanoUsd }: Statement['charges'],
): PrintedTable {
  const all = lines[dimension]
  const shown = all.slice(0, PRINTED_LINES_MAX)
  const others = all.slice(PRINTED_LINES_MAX)
  const rows = shown.map(({ name, requests, amountNanoUsd }) => [
    name,
    String(requests),
    formatUsd(amountNanoUsd),
  ])
  if (others.length > 0) {
    const requests = others.reduce((sum, line) => sum + line.requests, 0)
    const amount = others.reduce((sum, line) => sum + line.amountNanoUsd, 0n)
    rows.push([`${others.length} others`, String(requests), formatUsd(amount)])
  }
  return {
    title: `Charges by ${dimension}`,
    columns: [
      { title: DIMENSION_NAMES[dimension], share: 0.55 },
      { title: 'Requests', share: 0.2, isRight: true },
      AMOUNT_COLUMN,
    ],
    rows: [...rows, ['Total', '', formatUsd(totalNanoUsd)]],
    boldRows: [rows.length],
  }
}

function movementsTable(movements: NonNullable<Statement['balance']>['movements']): PrintedTable {
  return {
    title: movements.length > PRINTED_LINES_MAX ? `The first ${PRINTED_LINES_MAX} movements` : 'Movements',
    columns: [
      { title: 'Time (UTC)', share: 0.22 },
      { title: 'What', share: 0.25 },
      { title: 'Why', share: 0.33 },
      { title: 'USD', share: 0.2, isRight: true },
    ],
    rows: movements
      .slice(0, PRINTED_LINES_MAX)
      .map(({ atMs, kind, amountNanoUsd, reason }) => [
        new Date(atMs).toISOString().slice(0, 'YYYY-MM-DDTHH:MM:SS'.length).replace('T', ' '),
        KIND_NAMES[kind],
        reason ?? '',
        formatUsd(amountNanoUsd),
      ]),
  }
}
