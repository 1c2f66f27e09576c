import { Type, type Static } from 'typebox'
import {
  AUDIT_EVENT_TYPES,
  type Audit,
  type RecordedChange,
  type RecordedKey,
} from '../../../modules/audit/audit.ts'
import { parseWireId, wireId, type IdKind } from '../../../wires/organization-ids.ts'
import { orNull } from '../../../wires/nullable.ts'
import { Id } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  listOf,
  organizationList,
  OrganizationListQuery,
  readCursor,
  readPage,
  unixSeconds,
} from './organization-list.ts'
import { listFilter, readFilter } from './list-filter.ts'

const UNIX_SECONDS_MAX = 253_402_300_799
const SECOND_MS = 1000

const Time = (description: string) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum: UNIX_SECONDS_MAX, description }))

const Text = Type.String({ maxLength: 320 })
const OfProjects = listFilter(Text, 'Only what was done in these projects.')
const OfTypes = listFilter(Type.Enum([...AUDIT_EVENT_TYPES]), 'Only entries of these types.')
const ByActors = listFilter(Text, 'Only what these did: ids of people, service accounts and API keys.')
const ByEmails = listFilter(Text, 'Only what people with these e-mail addresses did.')
const OnResources = listFilter(Text, 'Only what was done to these, with ids as they are in the entries.')

const AuditQuery = Type.Object({
  ...OrganizationListQuery.properties,
  before: Type.Optional(
    Type.String({
      maxLength: 256,
      description: 'The id of an entry, usually `first_id`; the page right before it follows.',
    }),
  ),
  'effective_at[gt]': Time('Only entries after this second.'),
  'effective_at[gte]': Time('Only entries of this second and later.'),
  'effective_at[lt]': Time('Only entries before this second.'),
  'effective_at[lte]': Time('Only entries of this second and earlier.'),
  project_ids: OfProjects,
  'project_ids[]': OfProjects,
  event_types: OfTypes,
  'event_types[]': OfTypes,
  actor_ids: ByActors,
  'actor_ids[]': ByActors,
  actor_emails: ByEmails,
  'actor_emails[]': ByEmails,
  resource_ids: OnResources,
  'resource_ids[]': OnResources,
  tenant_only: Type.Optional(
    Type.Boolean({ description: 'Only entries above the account. There are none here.' }),
  ),
})

const ActorUser = Type.Object(
  { id: Id, email: Type.String({ description: 'The e-mail address at that time.' }) },
  { description: 'The person.' },
)

const IpAddress = orNull(Type.String(), 'The address that the request came from, if it is known.')
const UserAgent = orNull(Type.String(), 'The program that sent the request, as it names itself.')

const EntryAnswer = Type.Object(
  {
    id: Id,
    object: Type.Literal('organization.audit_log', { description: 'The kind of object.' }),
    type: Type.String({
      description: 'What happened: `project.created`. The details are in a member of this name.',
    }),
    effective_at: Type.Integer({ description: 'In seconds.' }),
    project: Type.Optional(
      Type.Object(
        {
          id: Id,
          name: Type.Union([Type.String(), Type.Null()], { description: 'The name that it has today.' }),
        },
        { description: 'The project that it was done in. Absent for what concerns the whole account.' },
      ),
    ),
    actor: Type.Union(
      [
        Type.Object({
          type: Type.Enum(['session', 'api_key', 'directory', 'operator'], {
            description:
              'In a browser, with a key, by a directory that the account is connected with, or by the operator of the gateway.',
          }),
          session: Type.Optional(
            Type.Object(
              {
                id: Type.String({ description: 'The id of the session.' }),
                user: Type.Optional(ActorUser),
                ip_address: IpAddress,
                user_agent: UserAgent,
              },
              { description: 'The session.' },
            ),
          ),
          api_key: Type.Optional(
            Type.Object(
              {
                id: Type.String({ description: 'The id of the API key.' }),
                type: Type.Optional(
                  Type.Enum(['user', 'service_account'], {
                    description: 'Whose key it is. Absent for a key of the account itself.',
                  }),
                ),
                user: Type.Optional(ActorUser),
                service_account: Type.Optional(
                  Type.Object({ id: Id }, { description: 'The service account.' }),
                ),
              },
              { description: 'The key.' },
            ),
          ),
          directory: Type.Optional(
            Type.Object(
              { name: Type.String({ description: 'How the account calls it.' }) },
              { description: 'The directory.' },
            ),
          ),
        }),
        Type.Null(),
      ],
      { description: 'Who did it. Null for a sign-in that failed.' },
    ),
    ip_address: IpAddress,
    user_agent: UserAgent,
  },
  { title: 'AuditLogEntry', additionalProperties: true },
)

export const auditLogRoutes = ({ audit }: { audit: Audit }): Route[] => [
  defineRoute({
    tag: 'Organization',
    access: inAccount('audit.read'),
    method: 'GET',
    path: '/v1/organization/audit_logs',
    summary: 'List the audit log',
    query: AuditQuery,
    responses: {
      200: {
        description: 'Who changed what in the account, newest first.',
        schema: organizationList('AuditLog', EntryAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const { accountId } = caller
      const page = {
        ...readPage('auditLog', query),
        beforeId: readCursor('auditLog', 'before', query.before),
      }
      if (query.tenant_only === true) return listOf({ items: [], hasMore: false }, entryToWire)
      return listOf(await audit.listChanges(accountId, page, parseFilter(query)), entryToWire)
    },
  }),
]

function parseFilter(query: Static<typeof AuditQuery>): Parameters<Audit['listChanges']>[2] {
  const types = readFilter(query.event_types, query['event_types[]'])
  return {
    ...parsePeriod(query),
    projectIds: idsOf(readFilter(query.project_ids, query['project_ids[]']), ['project']),
    types: types && AUDIT_EVENT_TYPES.filter((type) => types.includes(type)),
    actorIds: idsOf(readFilter(query.actor_ids, query['actor_ids[]']), ['user', 'serviceAccount']),
    actorEmails: readFilter(query.actor_emails, query['actor_emails[]']),
    resourceIds: readFilter(query.resource_ids, query['resource_ids[]']),
  }
}

/** Leaves out what is no id of these kinds: nothing has it. */
function idsOf(texts: readonly string[] | null, kinds: readonly IdKind[]): string[] | null {
  if (texts === null) return null
  return texts.flatMap((text) => {
    const id = kinds.map((kind) => parseWireId(kind, text)).find((parsed) => parsed !== null)
    return id === undefined ? [] : [id]
  })
}

/** Whole seconds: `gt` begins with the next one, and `lte` includes all of its own. */
function parsePeriod(query: Static<typeof AuditQuery>) {
  const { 'effective_at[gt]': gt, 'effective_at[gte]': gte } = query
  const { 'effective_at[lt]': lt, 'effective_at[lte]': lte } = query
  const from = Math.max(gt === undefined ? -1 : gt + 1, gte ?? -1)
  const until = Math.min(lt ?? Infinity, lte === undefined ? Infinity : lte + 1)
  return {
    fromMs: from < 0 ? null : from * SECOND_MS,
    untilMs: until === Infinity ? null : until * SECOND_MS,
  }
}

function entryToWire(change: RecordedChange): { id: string } & Record<string, unknown> {
  const { project } = change
  return {
    id: wireId('auditLog', change.id),
    object: 'organization.audit_log',
    type: change.type,
    effective_at: unixSeconds(change.createdAtMs),
    ...(project !== null && { project: { id: wireId('project', project.id), name: project.name } }),
    actor: actorToWire(change),
    ip_address: change.ipAddress,
    user_agent: change.userAgent,
    [change.type]: { id: change.resourceId, ...change.details },
  }
}

function actorToWire(change: RecordedChange): Static<typeof EntryAnswer>['actor'] {
  const { actor } = change
  if (actor.kind === 'unknown') return null
  if (actor.kind === 'operator') return { type: 'operator' }
  if (actor.kind === 'directory') return { type: 'directory', directory: { name: actor.name } }
  return keyToWire(actor, { ip_address: change.ipAddress, user_agent: change.userAgent })
}

function keyToWire(
  { keyId, sessionId, userId, email, serviceAccountId }: RecordedKey,
  origin: Pick<Static<typeof EntryAnswer>, 'ip_address' | 'user_agent'>,
): Static<typeof EntryAnswer>['actor'] {
  const user = userId === null ? null : { id: wireId('user', userId), email: email ?? '' }
  if (sessionId !== null)
    return { type: 'session', session: { id: sessionId, ...(user !== null && { user }), ...origin } }
  const owner =
    user !== null
      ? { type: 'user' as const, user }
      : serviceAccountId !== null
        ? {
            type: 'service_account' as const,
            service_account: { id: wireId('serviceAccount', serviceAccountId) },
          }
        : {}
  return { type: 'api_key', api_key: { id: keyId, ...owner } }
}
