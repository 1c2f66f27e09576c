import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Logger } from '../../../kernel/logger.ts'
import type { Audit, AuditEntry, EntryFilter } from '../../../modules/audit/audit.ts'
import { parseWireId, wireId } from '../../../wires/organization-ids.ts'
import { orNull } from '../../../wires/nullable.ts'
import { AccountId, CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { csvRow } from '../../answers/csv-row.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { sendCsv } from '../../answers/send-csv.ts'
import { ofGateway } from '../../access.ts'
import { parseTimestamp } from '../../parameters/parse-timestamp.ts'
import { defineRoute, type Route } from '../../route.ts'
import { parseAccountId } from '../account/request-log-query.ts'
import { Text } from '../account/usage-query.ts'

const Time = (description: string) => Type.Optional(Type.String({ maxLength: 64, description }))

const AuditQuery = Type.Object({
  ...ListQuery.properties,
  target_id: Type.Optional(Text('Only what was done to this.')),
  account_id: Type.Optional(
    Text('The id of an account: only what was done to it, to its keys and to its payments.'),
  ),
  actor: Type.Optional(
    Text('Only what this person, API key or account did: an id, or the e-mail address of a person.'),
  ),
  action: Type.Optional(
    Type.String({
      maxLength: 100,
      pattern: '^[a-z_]+(\\.[a-z_]+)?$',
      description: 'Only this action, such as `account.suspend`, or all of one noun: `account`.',
    }),
  ),
  outcome: Type.Optional(
    Type.Enum(['done', 'failed', 'unknown'], { description: 'Only actions that ended this way.' }),
  ),
  since: Time('Only entries of this time and later, RFC 3339.'),
  until: Time('Only entries before this time, RFC 3339.'),
  search: Type.Optional(Text('Only entries with this in their action, names or details, in any case.')),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], {
      default: 'json',
      description: 'A page as JSON, or all entries that match as a file (`csv`).',
    }),
  ),
})

const AuditAnswer = Type.Object({
  id: UuidId,
  object: objectName('audit_entry'),
  actor: Type.Object(
    {
      account_id: AccountId,
      account_name: orNull(Type.String(), 'The name of that account now.'),
      key_id: Type.String({ format: 'uuid', description: 'The id of the API key.' }),
      name: orNull(
        Type.String(),
        'The e-mail address of the person, or the name of the service account or the key.',
      ),
      user_id: orNull(Type.String(), 'The id of the person. Null for keys that are not of a person.'),
    },
    { description: 'Who did it: the account and the key.' },
  ),
  action: Type.String({ description: 'Noun and verb: `account.suspend`.' }),
  target: Type.Object(
    {
      kind: Type.Union([Type.String(), Type.Null()], { description: 'What kind of thing it is.' }),
      id: Type.Union([Type.String(), Type.Null()], { description: 'The id of this object.' }),
      name: orNull(Type.String(), 'Its name now. Null if it has none, or does not exist any more.'),
    },
    { description: 'What it was done to.' },
  ),
  account_id: orNull(
    Type.String(),
    'The account that it is about. Null for what is about no account, or about one that does not exist any more.',
  ),
  account_name: orNull(Type.String(), 'The name of that account now.'),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What was asked for. Never a secret.' }),
  changes: Type.Array(
    Type.Object({
      member: Type.String({ description: 'What was changed.' }),
      from: Type.Unknown({ description: 'Its value before. Null if there was none.' }),
      to: Type.Unknown({ description: 'Its value after. Null if there is none.' }),
    }),
    { description: 'What is different since. Empty where it was not recorded.' },
  ),
  outcome: Type.Enum(['done', 'failed', 'unknown'], {
    description: '`unknown` while it runs, and when the process died on it.',
  }),
  created_at: CreatedAt,
})

interface AdminAuditParts {
  readonly audit: Audit
  readonly logger: Logger
}

export const adminAuditRoutes = ({ audit, logger }: AdminAuditParts): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/admin/audit',
    summary: 'List what operators did',
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    query: AuditQuery,
    otherErrors: [404],
    responses: {
      200: {
        description: 'Every action of an operator, newest first.',
        schema: listSchema('entries', AuditAnswer),
        otherTypes: { 'text/csv': Type.String({ description: 'One row an entry.' }) },
      },
    },
    handle: async ({ query, reply, exchange: { cancellation } }) => {
      const filter = parseFilter(query)
      if (query.format !== 'csv')
        return listAnswer('entries', await audit.list(parsePageRequest(query), filter), entryToWire)
      const pieces = writeCsv(audit.export(filter))
      return sendCsv(reply, { name: 'audit.csv', pieces, logger, cancellation })
    },
  }),
]

function parseFilter(query: Static<typeof AuditQuery>): EntryFilter {
  const { actor, action, outcome, target_id: targetId, account_id: accountId, since, until, search } = query
  const sinceMs = since === undefined ? null : parseTimestamp('since', since)
  const untilMs = until === undefined ? null : parseTimestamp('until', until)
  if (sinceMs !== null && untilMs !== null && sinceMs >= untilMs)
    throw invalidValue('since', 'since must be earlier than until.')
  return {
    actor: actor === undefined ? null : (parseWireId('user', actor) ?? actor),
    action: action ?? null,
    outcome: outcome ?? null,
    accountId: accountId === undefined ? null : parseAccountId(accountId),
    targetId: targetId ?? null,
    sinceMs,
    untilMs,
    text: search ?? null,
  }
}

function entryToWire(entry: AuditEntry): Static<typeof AuditAnswer> {
  const { actor, target, account } = entry
  return {
    id: entry.id,
    object: 'audit_entry',
    actor: {
      account_id: actor.accountId,
      account_name: actor.accountName,
      key_id: actor.keyId,
      name: actor.name,
      user_id: actor.userId && wireId('user', actor.userId),
    },
    action: entry.action,
    target: { ...target },
    account_id: account?.id ?? null,
    account_name: account?.name ?? null,
    details: entry.details,
    changes: entry.changes.map((change) => ({ ...change })),
    outcome: entry.outcome,
    created_at: toTimestamp(entry.createdAtMs),
  }
}

const CSV_COLUMNS = [
  'time',
  'id',
  'action',
  'outcome',
  'actor',
  'actor_account_id',
  'actor_account',
  'actor_key_id',
  'target_kind',
  'target_id',
  'target',
  'account_id',
  'account',
  'changes',
  'details',
]

async function* writeCsv(parts: AsyncIterable<readonly AuditEntry[]>): AsyncGenerator<string> {
  yield csvRow(CSV_COLUMNS)
  for await (const entries of parts) yield entries.map(entryToCsv).join('')
}

function entryToCsv(entry: AuditEntry): string {
  const { actor, target, account } = entry
  return csvRow([
    toTimestamp(entry.createdAtMs),
    entry.id,
    entry.action,
    entry.outcome,
    actor.name,
    actor.accountId,
    actor.accountName,
    actor.keyId,
    target.kind,
    target.id,
    target.name,
    account?.id,
    account?.name,
    JSON.stringify(entry.changes),
    JSON.stringify(entry.details),
  ])
}
