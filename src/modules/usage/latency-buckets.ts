/** Each bucket ends this much later than the one before. */
const GROWTH = 1.1
const LOG_GROWTH = Math.log(GROWTH)

/** A percentile differs from the true one by at most this part of it, or by one millisecond. */
export const LATENCY_ERROR = 0.05

/** Counts are packed with their bucket into one number: the bucket is the part above this. */
const BUCKET_UNIT = 2 ** 32

/** Older hours are added up by day. Longer than a series of hours can be. */
export const HOURS_KEPT_DAYS = 45
/** SQL: from then on no hour has been added up yet. */
export const HOURS_ARE_KEPT_FROM = `now() - interval '${HOURS_KEPT_DAYS - 1} days'`

/** Returns the bucket of a duration: 0 up to one millisecond, then the exponent of the bucket's end. */
export function latencyBucketOf(milliseconds: number): number {
  return milliseconds <= 1 ? 0 : Math.ceil(Math.log(milliseconds) / LOG_GROWTH)
}

/** Returns the duration in the middle of a bucket, which is at most 5 % from each duration in it. */
export function latencyOfBucket(bucket: number): number {
  return bucket === 0 ? 1 : Math.round((2 * GROWTH ** bucket) / (GROWTH + 1))
}

/** SQL for the bucket of a column in milliseconds. */
export function bucketSql(column: string): string {
  return `CASE WHEN ${column} <= 1 THEN 0 ELSE ceil(ln(${column}::double precision) / ${LOG_GROWTH})::bigint END`
}

/** The numbers of a stored histogram. */
export function packHistogram(counts: ReadonlyMap<number, number>): number[] {
  return [...counts].map(([bucket, count]) => bucket * BUCKET_UNIT + count)
}

/** SQL for the bucket and the count of a packed number. */
export const UNPACKED = { bucket: 'packed >> 32', count: `packed & ${BUCKET_UNIT - 1}` }

/** SQL that adds up several histograms, given as one list of packed numbers. */
export function addUpSql(list: string): string {
  return `ARRAY(SELECT ((${UNPACKED.bucket}) << 32) + sum(${UNPACKED.count})::bigint
    FROM unnest(${list}) AS packed GROUP BY ${UNPACKED.bucket} ORDER BY ${UNPACKED.bucket})`
}
