import { firstIdAt } from '../../../kernel/identifiers.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import type { Queryable } from '../../../storage/database.ts'
import { readerOfAccount } from '../../keys/keys.ts'
import { selectUsage } from '../select-usage.ts'
import { lastHourAt, splitRange, type UsageRange } from '../usage-range.ts'

/** Returns what the subjects of budgets spent in the last sixty minutes. Subjects that spent nothing are left out. */
export async function readSubjectRates(
  queryable: Queryable,
  { accountId, subjects, nowMs }: { accountId: string; subjects: readonly string[]; nowMs: number },
): Promise<ReadonlyMap<string, NanoUsd>> {
  if (subjects.length === 0) return new Map()
  const labels = subjects.filter(isLabel)
  const ofKeys = selectByKeys(accountId, subjects, nowMs)
  const [byKeys, byLabels] = await Promise.all([
    queryable.query<RateRow>(ofKeys.sql, ofKeys.values),
    labels.length === 0 ? [] : queryByLabels(queryable, { accountId, labels, nowMs }),
  ])
  return new Map([...byKeys, ...byLabels].map(({ subject, spent }) => [subject, spent]))
}

interface RateRow {
  readonly subject: string
  readonly spent: bigint
}

/** Requests name groups and tags themselves. Every other subject follows from the key. */
function isLabel(subject: string): boolean {
  return subject.startsWith('group:') || subject.startsWith('tag:')
}

function selectByKeys(accountId: string, subjects: readonly string[], nowMs: number) {
  const usage = selectUsage(readerOfAccount(accountId), splitRange(lastHourAt(nowMs)))
  const values = [...usage.values, subjects, accountId]
  const asked = `$${values.length - 1}::text[]`
  const account = `$${values.length}::text`
  const sql = `
    SELECT owner.subject, sum(cost)::bigint AS spent
    FROM (SELECT key_id, sum(cost_nano_usd) AS cost FROM (${usage.sql}) AS usage GROUP BY key_id) AS by_key
      LEFT JOIN api_keys key ON key.id = by_key.key_id
      CROSS JOIN LATERAL (VALUES
        ('account'), ('project:' || coalesce(key.project_id::text, ${account})), ('user:' || key.user_id),
        ('service_account:' || key.service_account_id), ('key:' || by_key.key_id),
        ('key:' || coalesce(key.parent_id, key.origin_key_id))
      ) AS owner (subject)
    WHERE owner.subject = ANY (${asked}) GROUP BY owner.subject`
  return { sql, values }
}

function queryByLabels(
  queryable: Queryable,
  { accountId, labels, nowMs }: { accountId: string; labels: readonly string[]; nowMs: number },
): Promise<RateRow[]> {
  const { hours, edges } = splitRange(lastHourAt(nowMs))
  const [edge = NO_EDGE] = edges
  return queryable.query<RateRow>(
    `SELECT subject, sum(cost)::bigint AS spent FROM (
       SELECT label AS subject, cost_nano_usd AS cost FROM usage_by_label
       WHERE account_id = $1 AND label = ANY ($2::text[]) AND hour >= $3 AND hour < $4
       UNION ALL
       SELECT label, cost_nano_usd FROM usage_records CROSS JOIN LATERAL unnest(labels) AS label
       WHERE account_id = $1 AND id >= $5 AND id < $6 AND labels && $2::text[] AND label = ANY ($2::text[])
     ) AS usage GROUP BY subject`,
    [
      accountId,
      labels,
      new Date(hours.fromMs),
      new Date(hours.toMs),
      firstIdAt(edge.fromMs),
      firstIdAt(edge.toMs),
    ],
  )
}

const NO_EDGE: UsageRange = { fromMs: 0, toMs: 0 }
