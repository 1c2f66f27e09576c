import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import { usdFromNanoUsd } from '../../../kernel/money.ts'
import type { PageRequest } from '../../../kernel/page.ts'
import {
  ENTRY_KINDS,
  type EntryCharge,
  type EntryFilter,
  type LedgerEntry,
} from '../../../modules/ledger/ledger.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { CreatedAt, Id, objectName } from '../../../wires/usual-members.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import type { ResponseDescription } from '../../route.ts'

export const LedgerQuery = Type.Object({
  ...ListQuery.properties,
  kind: Type.Optional(Type.Enum([...ENTRY_KINDS], { description: 'Only movements of this kind.' })),
  since: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only movements at this time or later, RFC 3339.' }),
  ),
  until: Type.Optional(
    Type.String({ maxLength: 64, description: 'Only movements before this time, RFC 3339.' }),
  ),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      default: 'json',
      description: 'A page as JSON, or all movements as a file (`csv`), without `limit` and `after`.',
    }),
  ),
})

const ChargeAnswer = Type.Object(
  {
    model: orNull(Type.String(), 'The model. `null`: all further models and keys together.'),
    key_id: orNull(Type.String(), 'The id of the key.'),
    key_name: orNull(Type.String(), 'The name of the key.'),
    project_id: orNull(Type.String(), 'The id of the project of the key.'),
    project_name: orNull(Type.String(), 'The name of that project.'),
    requests: Type.Integer({ description: 'How many requests it is for.' }),
    amount_usd: Type.Number({ description: 'What they cost.' }),
  },
  { title: 'LedgerCharge' },
)

const EntryAnswer = Type.Object(
  {
    id: Id,
    object: objectName('ledger_entry'),
    key: Type.String({ description: 'What happened, by the name that makes it happen once.' }),
    kind: Type.Enum([...ENTRY_KINDS], { description: 'What changed the balance.' }),
    amount_usd: Type.Number({ description: 'Negative when credit went.' }),
    balance_usd: Type.Number({ description: 'The balance after it, whatever the list is filtered by.' }),
    reason: Type.Union([Type.String(), Type.Null()], { description: 'Why, in words.' }),
    charges: orNull(
      Type.Array(ChargeAnswer),
      'What a charge is for, by model and key, the dearest first; it adds up to the amount. `null` for other movements, and for charges of an earlier release.',
    ),
    created_at: CreatedAt,
  },
  { title: 'LedgerEntry' },
)

export const LEDGER_RESPONSE: ResponseDescription = {
  description: 'Every movement, newest first.',
  schema: listSchema('entries', EntryAnswer, {
    total: Type.Integer({ description: 'How many entries the whole list has, counted up to 10,000.' }),
    total_is_exact: Type.Boolean({ description: 'Whether `total` is all of them.' }),
  }),
  otherTypes: {
    'text/csv': Type.String({
      description: 'One row a movement; a charge has one a model and key. All amounts add up to the balance.',
    }),
  },
}

const ENTRY_ID = /^\d{1,18}$/

/** Parses a page request whose cursor is the number of a ledger entry. Entries have no public id. */
export function parseEntryPage({ after, limit }: Static<typeof LedgerQuery>): PageRequest {
  if (after !== undefined && !ENTRY_ID.test(after)) {
    throw invalidValue('after', 'after must be a cursor from the next_cursor of an earlier page.')
  }
  return { ...parsePageRequest(limit === undefined ? {} : { limit }), afterId: after ?? null }
}

export function parseEntryFilter({ kind, since, until }: Static<typeof LedgerQuery>): EntryFilter {
  const sinceMs = since === undefined ? undefined : parseTimestamp('since', since)
  const untilMs = until === undefined ? undefined : parseTimestamp('until', until)
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs)
    throw invalidValue('since', 'since must be earlier than until.')
  return { kind, sinceMs, untilMs }
}

export function entryToWire(entry: LedgerEntry): Static<typeof EntryAnswer> {
  return {
    id: entry.id,
    object: 'ledger_entry',
    key: entry.key,
    kind: entry.kind,
    amount_usd: usdFromNanoUsd(entry.amountNanoUsd),
    balance_usd: usdFromNanoUsd(entry.balanceNanoUsd),
    reason: entry.reason,
    charges: entry.charges?.map(chargeToWire) ?? null,
    created_at: toTimestamp(entry.createdAtMs),
  }
}

function chargeToWire({ key, model, requests, amountNanoUsd }: EntryCharge): Static<typeof ChargeAnswer> {
  return {
    model,
    key_id: key?.id ?? null,
    key_name: key?.name ?? null,
    project_id: key === null ? null : wireId('project', key.projectId),
    project_name: key?.projectName ?? null,
    requests,
    amount_usd: usdFromNanoUsd(amountNanoUsd),
  }
}

const CSV_COLUMNS = [
  'at',
  'id',
  'kind',
  'description',
  'project_id',
  'project',
  'key_id',
  'key',
  'model',
  'requests',
  'amount_usd',
  'balance_usd',
]

/** Newest first, each row with the balance after it, also those of one charge. */
export async function* writeLedgerCsv(
  parts: AsyncIterable<readonly LedgerEntry[]>,
): AsyncGenerator<string, void> {
  yield csvRow(CSV_COLUMNS)
  for await (const entries of parts) yield entries.map(entryToCsv).join('')
}

function entryToCsv(entry: LedgerEntry): string {
  const { id, kind, reason } = entry
  const at = toTimestamp(entry.createdAtMs)
  if (entry.charges === null) {
    const amounts = [{ nanoUsd: entry.amountNanoUsd }, { nanoUsd: entry.balanceNanoUsd }]
    return csvRow([at, id, kind, reason, null, null, null, null, null, null, ...amounts])
  }
  let balance = entry.balanceNanoUsd
  const rows = entry.charges.map(({ key, model, requests, amountNanoUsd }) => {
    const projectId = key && wireId('project', key.projectId)
    const charged = [projectId, key?.projectName, key?.id, key?.name, model, requests]
    const row = csvRow([at, id, kind, reason, ...charged, { nanoUsd: -amountNanoUsd }, { nanoUsd: balance }])
    balance += amountNanoUsd
    return row
  })
  return rows.join('')
}
