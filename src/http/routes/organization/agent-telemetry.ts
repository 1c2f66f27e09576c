import { Type } from 'typebox'
import type { ExportCounts, PersonExports } from '../../../modules/agent-telemetry/agent-telemetry.ts'
import { orNull } from '../../../wires/nullable.ts'
import { wireId } from '../../../wires/organization-ids.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inAccount } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import {
  listOf,
  organizationList,
  OrganizationListQuery,
  readPage,
  unixSeconds,
} from './organization-list.ts'

const DAYS_USUAL = 30
const DAYS_MAX = 90

const Count = (description: string) => Type.Integer({ description })

const PersonAnswer = Type.Object(
  {
    object: objectName('organization.agent_telemetry'),
    id: Type.String({ description: 'The person: `user-…`.' }),
    email: Type.String({ description: 'The e-mail address of the person.' }),
    name: orNull(Type.String(), 'As the person is called in this account.'),
    active_days: Count('Days of UTC with an export.'),
    metrics: Count('Exports of metrics.'),
    logs: Count('Exports of logs.'),
    traces: Count('Exports of traces.'),
    refused: Count('Exports that were too large or could not be read.'),
    bytes: Count('Bytes of all exports, as they were sent.'),
    last_export_at: Count('When the last one came, in seconds.'),
  },
  { title: 'AgentTelemetry' },
)

const Query = Type.Object({
  ...OrganizationListQuery.properties,
  days: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: DAYS_MAX,
      description: `How many days of UTC, with today; ${DAYS_USUAL} unless told.`,
    }),
  ),
})

export const agentTelemetryRoutes = ({
  exportCounts,
}: {
  exportCounts: Pick<ExportCounts, 'list'>
}): Route[] => [
  defineRoute({
    tag: 'Organization',
    method: 'GET',
    path: '/v1/organization/agent_telemetry',
    access: inAccount('usage.read'),
    summary: 'List what the agents of people exported',
    query: Query,
    responses: {
      200: {
        description: 'The people whose agents exported something.',
        schema: organizationList('AgentTelemetryList', PersonAnswer),
      },
    },
    handle: async ({ caller, query }) => {
      const page = { ...readPage('user', query), days: query.days ?? DAYS_USUAL }
      return listOf(await exportCounts.list(caller.accountId, page), personToWire)
    },
  }),
]

function personToWire({ userId, email, name, activeDays, lastAtMs, ...counts }: PersonExports) {
  return {
    object: 'organization.agent_telemetry',
    id: wireId('user', userId),
    email,
    name,
    active_days: activeDays,
    metrics: Number(counts.metrics),
    logs: Number(counts.logs),
    traces: Number(counts.traces),
    refused: Number(counts.refused),
    bytes: Number(counts.bytes),
    last_export_at: unixSeconds(lastAtMs),
  }
}
