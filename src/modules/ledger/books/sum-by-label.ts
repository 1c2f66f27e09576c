import { COST_SUMMED } from '../journal/cost-arrays.ts'
import { RARELY_SUMMED, SUMMED } from '../journal/journal-text.ts'

/** The tags of an account that have sums of their own, by day. What comes later counts as another value of its name. */
const LABELS_PER_DAY_MAX = 1_000

/** Stands for the values of a tag beyond the limit. */
const OTHER = '~other'

const SUMS = ['requests', ...SUMMED, ...RARELY_SUMMED, ...COST_SUMMED]

interface SummedLabels {
  /** The sums of charges, as a FROM item: each with its `labels`, or null. */
  readonly labelled: string
  readonly writer: string
}

/**
 * CTEs of a statement that records charges: `labelled` is the sums of charges with the same labels, `by_label` those of each label,
 * which are written. Both are empty if no charge has labels. Clients choose tags, so the number of sums is limited: a tag that is
 * new on a day with too many counts as `~other`. The limit may be passed by what others write at the same time.
 */
export function sumByLabel({ labelled, writer }: SummedLabels): string {
  return `labelled AS MATERIALIZED (
    SELECT account_id, to_timestamp(hour_ms / 1000) AS hour, key_id, model, operation, labels,
      ${SUMS.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')}
    FROM ${labelled} WHERE labels IS NOT NULL GROUP BY account_id, hour, key_id, model, operation, labels
  ), new_labels AS MATERIALIZED (
    SELECT account_id, day, label, row_number() OVER (PARTITION BY account_id, day ORDER BY label) AS number
    FROM (
      SELECT DISTINCT account_id, (hour AT TIME ZONE 'UTC')::date AS day, label FROM labelled, unnest(labels) AS label
    ) AS asked
    WHERE NOT is_kept_label(account_id, label) AND NOT EXISTS (
      SELECT FROM usage_labels known
      WHERE known.account_id = asked.account_id AND known.day = asked.day AND known.label = asked.label)
  ), known_labels AS MATERIALIZED (
    SELECT account_id, day, (
        SELECT count(DISTINCT label) FROM usage_labels known
        WHERE known.account_id = asked.account_id AND known.day = asked.day) AS count
    FROM (SELECT DISTINCT account_id, day FROM new_labels) AS asked
  ), kept_labels AS (
    INSERT INTO usage_labels (account_id, day, label, writer)
    SELECT account_id, day, label, ${writer} FROM new_labels JOIN known_labels USING (account_id, day)
    WHERE number + count <= ${LABELS_PER_DAY_MAX} ORDER BY account_id, day, label
    ON CONFLICT DO NOTHING
  ), other_labels AS MATERIALIZED (
    -- Names are chosen by clients too: only a name with a sum of its own has one of its other values.
    SELECT account_id, day, label, CASE WHEN EXISTS (
        SELECT FROM usage_labels known
        WHERE known.account_id = other.account_id AND known.day = other.day
          AND known.label >= split_part(other.label, '=', 1) || '=' AND known.label < split_part(other.label, '=', 1) || '>')
      THEN split_part(label, '=', 1) || '=${OTHER}' ELSE 'tag:${OTHER}' END AS counts_as
    FROM new_labels other JOIN known_labels USING (account_id, day) WHERE number + count > ${LABELS_PER_DAY_MAX}
  ), by_label AS MATERIALIZED (
    SELECT account_id, hour, label, key_id, model, operation,
      ${SUMS.map((column) => `sum(${column})::bigint AS ${column}`).join(', ')}
    FROM labelled CROSS JOIN LATERAL (
      SELECT DISTINCT coalesce(counts_as, asked) AS label
      FROM unnest(labels) AS asked LEFT JOIN other_labels other ON other.account_id = labelled.account_id
        AND other.day = (labelled.hour AT TIME ZONE 'UTC')::date AND other.label = asked
    ) AS counted
    GROUP BY account_id, hour, label, key_id, model, operation
  ), summed_by_label AS (
    INSERT INTO usage_by_label (account_id, hour, label, key_id, model, operation, ${SUMS.join(', ')}, writer)
    SELECT account_id, hour, label, key_id, model, operation, ${SUMS.join(', ')}, ${writer} FROM by_label
    ON CONFLICT (account_id, hour, label, key_id, model, operation, writer) DO UPDATE SET
      ${SUMS.map((column) => `${column} = usage_by_label.${column} + excluded.${column}`).join(', ')}
  )`
}
