import { Type, type Static } from 'typebox'
import { toTimestamp } from '../../../kernel/clock.ts'
import type { Audit, AuditEntry } from '../../../modules/audit/audit.ts'
import { AccountId, CreatedAt, UuidId, objectName } from '../../../wires/usual-members.ts'
import { listAnswer, ListQuery, listSchema, parsePageRequest } from '../../answers/list-page.ts'
import { ofGateway } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'

const AuditQuery = Type.Object({
  ...ListQuery.properties,
  target_id: Type.Optional(Type.String({ maxLength: 100, description: 'Only what was done to this.' })),
})

const AuditAnswer = Type.Object({
  id: UuidId,
  object: objectName('audit_entry'),
  actor: Type.Object(
    {
      account_id: AccountId,
      key_id: Type.String({ format: 'uuid', description: 'The id of the API key.' }),
    },
    { description: 'Who did it: the account and the key.' },
  ),
  action: Type.String({ description: 'Noun and verb: `account.suspend`.' }),
  target: Type.Object(
    {
      kind: Type.Union([Type.String(), Type.Null()], { description: 'What kind of thing it is.' }),
      id: Type.Union([Type.String(), Type.Null()], { description: 'The id of this object.' }),
    },
    { description: 'What it was done to.' },
  ),
  details: Type.Record(Type.String(), Type.Unknown(), { description: 'What was asked for. Never a secret.' }),
  outcome: Type.Enum(['done', 'failed', 'unknown'], {
    description: '`unknown` while it runs, and when the process died on it.',
  }),
  created_at: CreatedAt,
})

export const adminAuditRoutes = ({ audit }: { audit: Audit }): Route[] => [
  defineRoute({
    method: 'GET',
    path: '/v1/admin/audit',
    summary: 'List what operators did',
    tag: 'Operator',
    access: ofGateway('gateway.read'),
    query: AuditQuery,
    responses: {
      200: {
        description: 'Every action of an operator, newest first.',
        schema: listSchema('entries', AuditAnswer),
      },
    },
    handle: async ({ query }) =>
      listAnswer(
        'entries',
        await audit.list(parsePageRequest(query), { targetId: query.target_id ?? null }),
        entryToWire,
      ),
  }),
]

function entryToWire(entry: AuditEntry): Static<typeof AuditAnswer> {
  return {
    id: entry.id,
    object: 'audit_entry',
    actor: { account_id: entry.actorAccountId, key_id: entry.actorKeyId },
    action: entry.action,
    target: { kind: entry.targetKind, id: entry.targetId },
    details: entry.details,
    outcome: entry.outcome,
    created_at: toTimestamp(entry.createdAtMs),
  }
}
