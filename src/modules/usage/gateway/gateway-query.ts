import type { UsageFilter } from '../select-usage.ts'
import type { UsageRange } from '../usage-range.ts'

/** By what the usage of all accounts can be grouped. */
export const GATEWAY_DIMENSIONS = [
  'account',
  'project',
  'key',
  'model',
  'provider',
  'region',
  'env',
  'tag',
] as const
export type GatewayDimension = (typeof GATEWAY_DIMENSIONS)[number]

/** By what groups are sorted, the largest first. `movers` are those whose cost changed most. */
export const GROUP_ORDERS = ['cost', 'requests', 'tokens', 'errors', 'movers'] as const
export type GroupOrder = (typeof GROUP_ORDERS)[number]

/** Which usage of all accounts is read. */
export interface GatewayQuery {
  readonly range: UsageRange
  readonly by: GatewayDimension
  /** Of the tag to group by, if `by` is one. */
  readonly tagName: string | null
  readonly accountId: string | null
  readonly filter: UsageFilter
  /** The regions of providers, as one text each. */
  readonly regions: ReadonlyMap<string, string>
}

/** SQL for what figures by label do not have. */
export const NO_ATTRIBUTES = 'NULL::text AS provider, NULL::text AS environment'

/** Whether figures are read by label: only those have them. */
export function isOfLabels({ by, filter }: GatewayQuery): boolean {
  return by === 'tag' || filter.label !== undefined
}

type Bind = (value: unknown) => string

/** How rows of a table are grouped. */
interface Grouped {
  /** SQL for the value of a row. */
  readonly value: string
  /** SQL of a join that the value needs. */
  readonly join: string
}

/** The column that the value of a dimension is made of. */
export const SOURCE_COLUMNS = {
  account: 'account_id',
  project: 'key_id',
  key: 'key_id',
  model: 'model',
  provider: 'provider',
  region: 'provider',
  env: 'environment',
} as const satisfies Readonly<Record<Exclude<GatewayDimension, 'tag'>, string>>

/** Returns the value of a dimension, made of the column `source` and of `account_id` of the relation `rows`. */
export function groupedBy({ by, regions }: GatewayQuery, source: string, bind: Bind): Grouped {
  if (by === 'project') {
    return {
      value: 'coalesce(api_keys.project_id, rows.account_id)::text',
      join: `LEFT JOIN api_keys ON api_keys.id = rows.${source}`,
    }
  }
  if (by === 'region') {
    const [providers, names] = [bind([...regions.keys()]), bind([...regions.values()])]
    return {
      value: `coalesce(regions.region, '')`,
      join: `LEFT JOIN unnest(${providers}::text[], ${names}::text[]) AS regions (provider, region) ON regions.provider = rows.${source}`,
    }
  }
  return { value: `rows.${source}::text`, join: '' }
}

/** SQL conditions on rows. Filters by label are not part of them. Figures by label have neither provider nor environment. */
export function gatewayConditions(query: GatewayQuery, bind: Bind): string {
  const { accountId, filter } = query
  const column = (name: string, type: string, wanted: unknown): string =>
    wanted === undefined || wanted === null ? '' : ` AND rows.${name} = ${bind(wanted)}::${type}`
  const { keyId, model, provider, environment, projectId } = filter
  return [
    column('account_id', 'uuid', accountId),
    column('key_id', 'uuid', keyId),
    column('model', 'text', model),
    ...(isOfLabels(query)
      ? []
      : [column('provider', 'text', provider), column('environment', 'text', environment)]),
    projectId === undefined
      ? ''
      : ` AND rows.key_id IN (SELECT id FROM api_keys WHERE coalesce(project_id, account_id) = ${bind(projectId)}::uuid)`,
  ].join('')
}
