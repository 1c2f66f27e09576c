import { readGroups } from '../../src/modules/usage/gateway/read-groups.ts'
import { DAY_MS, type UsageRange } from '../../src/modules/usage/usage.ts'
import type { Queryable } from '../../src/storage/database.ts'

/** Returns what an account used, as the usage of all accounts has it. */
export async function readAmongAll(queryable: Queryable, accountId: string, range: UsageRange) {
  const { groups } = await readGroups(queryable, {
    range,
    previousRange: { fromMs: range.fromMs - DAY_MS, toMs: range.fromMs },
    by: 'account',
    tagName: null,
    accountId: null,
    filter: {},
    regions: new Map(),
    order: 'cost',
    limit: 1_000,
  })
  return groups.find(({ value }) => value === accountId)?.totals
}
