import { Type, type TProperties } from 'typebox'
import type { Clock } from '../../../kernel/clock.ts'
import { lookupTable } from '../../../kernel/lookup-table.ts'
import { readerOf } from '../../../modules/keys/keys.ts'
import type { BucketResult, BucketWidth, Grouping, Usage } from '../../../modules/usage/usage.ts'
import { objectName } from '../../../wires/usual-members.ts'
import { inProject } from '../../access.ts'
import { defineRoute, type Route } from '../../route.ts'
import { costsRoute } from './costs.ts'
import { bucketParameters, groupByParameter, parseBuckets, type SentBuckets } from './usage-buckets-query.ts'
import { answerBuckets, bucketPage, groupMembers, groupToWire } from './usage-page.ts'
import { USAGE_KINDS, type UsageKind } from './usage-kinds.ts'

/** How many buckets a page has, by their width. */
const LIMITS: Readonly<Record<BucketWidth, { readonly usual: number; readonly max: number }>> = {
  '1m': { usual: 60, max: 1_440 },
  '1h': { usual: 24, max: 168 },
  '1d': { usual: 7, max: 31 },
}

const usualGroupings = {
  project_id: 'project',
  user_id: 'owner',
  api_key_id: 'key',
  model: 'model',
} as const

interface UsageParts {
  readonly usage: Pick<Usage, 'readBuckets'>
  readonly clock: Clock
}

export const organizationUsageRoutes = (parts: UsageParts): Route[] => [
  costsRoute(parts),
  ...USAGE_KINDS.map((kind) => usageRoute(kind, parts)),
]

function usageRoute(kind: UsageKind, { usage, clock }: UsageParts): Route {
  const groupings = lookupTable<Grouping | null>({ ...usualGroupings, ...kind.groupings })
  const query = Type.Object({
    ...bucketParameters,
    bucket_width: Type.Optional(
      Type.Enum(['1m', '1h', '1d'], { description: 'Minutes, hours or days of UTC; days unless told.' }),
    ),
    limit: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: LIMITS['1m'].max,
        description:
          'How many buckets a page has: 60 minutes, 24 hours or 7 days unless told, at most 1,440, 168 or 31.',
      }),
    ),
    ...groupByParameter(Object.keys(groupings), 'What to group by, several together:'),
    ...kind.parameters,
  })
  return defineRoute({
    method: 'GET',
    path: `/v1/organization/usage/${kind.path}`,
    mayBeOld: true,
    tag: 'Organization',
    access: inProject('usage.read'),
    summary: kind.summary,
    query,
    otherErrors: [404],
    responses: {
      200: {
        description: 'Each bucket of the range.',
        schema: bucketPage(`${kind.title}UsagePage`, resultSchema(kind)),
      },
    },
    handle: async ({ caller, query: sent }) => {
      const asked: SentBuckets & { bucket_width?: BucketWidth } = sent
      const width = asked.bucket_width ?? '1d'
      const parsed = parseBuckets(asked, {
        reader: readerOf(caller, 'usage.read'),
        nowMs: clock.nowMs(),
        width,
        limit: LIMITS[width],
        groupings,
        operations: kind.operationsOf(asked),
      })
      return answerBuckets(usage, parsed, (result) => resultToWire(kind, result, parsed.groupBy))
    },
  })
}

function resultSchema(kind: UsageKind) {
  const members: TProperties = {
    object: objectName(`organization.usage.${kind.path}.result`),
    ...kind.members,
    num_model_requests: Type.Integer({ description: 'How many requests were charged.' }),
    ...groupMembers,
    ...kind.groupMembers,
  }
  return Type.Object(members)
}

function resultToWire(
  kind: UsageKind,
  result: BucketResult,
  groupBy: ReadonlySet<string>,
): Record<string, unknown> {
  return {
    object: `organization.usage.${kind.path}.result`,
    ...kind.toWire(result.totals),
    num_model_requests: result.totals.requests,
    ...groupToWire(result),
    ...kind.groupToWire?.(result, groupBy),
  }
}
