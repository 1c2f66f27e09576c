import type { Queryable } from '../../../storage/database.ts'
import { readSeries, type Granularity, type Timeseries } from '../read-timeseries.ts'
import { countErrorKinds, type ErrorKind } from './count-error-kinds.ts'
import type { GatewayQuery } from './gateway-query.ts'
import { nameGroups, type GroupName } from './name-groups.ts'
import { readGroupLatency, type GroupLatency } from './read-group-latency.ts'
import { readGroups, type GatewayUsage, type GroupsQuery, type UsageGroup } from './read-groups.ts'
import { selectAllAccounts } from './select-all-accounts.ts'

export type NamedGroup = UsageGroup & GroupName & GroupLatency

export interface DescribedGatewayUsage extends Omit<GatewayUsage, 'groups'> {
  readonly groups: readonly NamedGroup[]
  readonly errorKinds: readonly ErrorKind[]
}

/** Returns the usage of all accounts in groups, with their names, errors and latencies. */
export async function readGatewayUsage(
  queryable: Queryable,
  query: GroupsQuery,
): Promise<DescribedGatewayUsage> {
  const [usage, errorKinds] = await Promise.all([
    readGroups(queryable, query),
    countErrorKinds(queryable, query),
  ])
  const values = usage.groups.map(({ value }) => value)
  const names = await nameGroups(queryable, query.by, values)
  const latencies = await readGroupLatency(queryable, query, values, accountsOf(query.by, values, names))
  const groups = usage.groups.map((group) => ({
    ...group,
    ...(names.get(group.value) ?? { name: group.value, account: null }),
    ...(latencies.get(group.value) ?? NOT_MEASURED),
  }))
  return { ...usage, groups, errorKinds }
}

/** Null if groups are not of one account each. */
function accountsOf(
  by: GatewayQuery['by'],
  values: readonly string[],
  names: ReadonlyMap<string, GroupName>,
): readonly string[] | null {
  if (by === 'account') return values
  if (by !== 'key' && by !== 'project') return null
  return [...new Set(values.flatMap((value) => names.get(value)?.account?.id ?? []))]
}

const NOT_MEASURED: GroupLatency = { latency: null, firstToken: null }

const GROUPS_AT_ONCE = 500

/** Returns many groups with their names, some at a time, and last what is beyond the limit. */
export async function* exportGatewayUsage(
  queryable: Queryable,
  query: GroupsQuery,
): AsyncGenerator<{ groups: readonly (UsageGroup & GroupName)[]; rest: GatewayUsage['rest'] | null }> {
  const { groups, rest } = await readGroups(queryable, query)
  for (let start = 0; start < groups.length; start += GROUPS_AT_ONCE) {
    const some = groups.slice(start, start + GROUPS_AT_ONCE)
    const names = await nameGroups(
      queryable,
      query.by,
      some.map(({ value }) => value),
    )
    const named = some.map((group) => ({
      ...group,
      ...(names.get(group.value) ?? { name: group.value, account: null }),
    }))
    yield { groups: named, rest: null }
  }
  if (rest.groups > 0) yield { groups: [], rest }
}

export interface GatewayTimeseriesQuery extends Omit<GatewayQuery, 'by'> {
  readonly by: GatewayQuery['by'] | null
  readonly granularity: Granularity
}

/** Returns the usage of all accounts over time, with series of the dearest values, and their names. */
export async function readGatewayTimeseries(
  queryable: Queryable,
  query: GatewayTimeseriesQuery,
): Promise<Timeseries & { readonly names: ReadonlyMap<string, GroupName> }> {
  const values: unknown[] = []
  const sql = selectAllAccounts({ ...query, by: query.by ?? 'env' }, values, {
    steps: query.granularity,
  })
  const timeseries = await readSeries(queryable, { sql, values }, query)
  const names =
    query.by === null
      ? new Map<string, GroupName>()
      : await nameGroups(
          queryable,
          query.by,
          timeseries.series.map(({ value }) => value),
        )
  return { ...timeseries, names }
}
