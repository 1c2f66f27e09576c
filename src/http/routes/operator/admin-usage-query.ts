import { Type, type Static } from 'typebox'
import { invalidValue } from '../../../kernel/app-error.ts'
import {
  GATEWAY_DIMENSIONS,
  GROUP_ORDERS,
  type GatewayDimension,
  type GatewayQuery,
} from '../../../modules/usage/usage.ts'
import { parseAccountId } from '../account/request-log-query.ts'
import {
  filterFields,
  parseFilter,
  parseRange,
  rangeFields,
  refuseBesideTags,
  TimeseriesQuery,
} from '../account/usage-query.ts'

const GROUPS_USUAL = 20
const GROUPS_MAX = 100
const TAG = 'tag:'
const NAMES = GATEWAY_DIMENSIONS.filter((name) => name !== 'tag')
/** Also `tag:` and the name of a tag. */
const GROUP_PATTERN = `^(${NAMES.join('|')}|${TAG}[a-z0-9_.-]{1,64})$`

const fields = {
  ...rangeFields,
  account_id: Type.Optional(Type.String({ description: 'The id of an account: only its usage.' })),
  ...filterFields,
}

const byDescription = `${NAMES.map((name) => `\`${name}\``).join(', ')}, or \`tag:team\` for the values of a tag. A region is where the provider promises to work.`

export const GatewayUsageQuery = Type.Object({
  by: Type.Optional(
    Type.String({
      pattern: GROUP_PATTERN,
      default: 'account',
      description: `What to group by: ${byDescription}`,
    }),
  ),
  order: Type.Optional(
    Type.Enum([...GROUP_ORDERS], {
      default: 'cost',
      description:
        'What groups are sorted by, the largest first. `movers` are those whose cost changed most against the time before.',
    }),
  ),
  ...fields,
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: GROUPS_MAX,
      default: GROUPS_USUAL,
      description: 'How many groups at most; what is left is added up under `other`. A file has 20,000.',
    }),
  ),
  format: Type.Optional(
    Type.Enum(['json', 'csv'], { default: 'json', description: 'JSON, or all groups as a file (`csv`).' }),
  ),
})

export const GatewayTimeseriesQuery = Type.Object({
  granularity: TimeseriesQuery.properties.granularity,
  by: Type.Optional(
    Type.String({
      pattern: GROUP_PATTERN,
      description: `Adds a series for each of the ten dearest, and one for the others: ${byDescription}`,
    }),
  ),
  ...fields,
})

interface Parsed extends Omit<GatewayQuery, 'by'> {
  readonly by: GatewayDimension | null
}

type Asked = Pick<Static<typeof GatewayUsageQuery>, keyof typeof fields | 'by'>

export function parseGatewayQuery(
  query: Asked,
  { usual, nowMs, regions }: { usual: '24h' | '30d'; nowMs: number; regions: GatewayQuery['regions'] },
): Parsed {
  const { range } = parseRange(query, { usual, nowMs })
  refuseBesideTags(query)
  if (query.by === 'region' && query.tag !== undefined)
    throw invalidValue('by', 'region cannot be asked for together with a tag.')
  return {
    range,
    by: query.by?.startsWith(TAG) === true ? 'tag' : (NAMES.find((name) => name === query.by) ?? null),
    tagName: query.by?.startsWith(TAG) === true ? query.by.slice(TAG.length) : null,
    accountId: query.account_id === undefined ? null : parseAccountId(query.account_id),
    filter: parseFilter(query),
    regions,
  }
}

export function parseGatewayLimit(limit: number | undefined): number {
  return limit ?? GROUPS_USUAL
}
