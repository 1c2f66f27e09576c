import type { Reader } from '../../keys/keys.ts'
import { DAY_MS, HOUR_MS, type UsageRange } from '../usage-range.ts'

export type BucketWidth = '1m' | '1h' | '1d'

export const BUCKET_WIDTHS_MS: Readonly<Record<BucketWidth, number>> = {
  '1m': 60_000,
  '1h': HOUR_MS,
  '1d': DAY_MS,
}

/** What results are told apart by. */
export type Grouping = 'project' | 'owner' | 'key' | 'model' | 'operation' | 'tag'

/** Null for a filter that is not set. An empty list matches nothing. */
export interface BucketFilter {
  readonly projectIds: readonly string[] | null
  /** People and service accounts. */
  readonly ownerIds: readonly string[] | null
  readonly keyIds: readonly string[] | null
  readonly models: readonly string[] | null
  readonly operations: readonly string[] | null
  /** Labels of one tag, with any of its values. */
  readonly labels: readonly string[] | null
}

export interface BucketsQuery extends Reader {
  /** Whole buckets of UTC. */
  readonly range: UsageRange
  readonly width: BucketWidth
  readonly groupBy: ReadonlySet<Grouping>
  /** The name of the tag to group by. */
  readonly tagName: string | null
  readonly filter: BucketFilter
}
