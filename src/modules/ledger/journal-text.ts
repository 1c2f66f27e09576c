import type { SpentPart } from './purse.ts'
import type { Charge, UsageRecord } from './usage-record.ts'

export interface PaidCharge extends Charge {
  /** What each lease pays of it. */
  readonly parts: readonly SpentPart[]
}

/** Charges as the journal has them. One pass over them, because every answer goes through here. */
export function toJournalText(charges: readonly PaidCharge[]): string {
  let labels = ''
  let label = 0
  let labelled: UsageRecord | null = null
  let rows = ''
  let number = 0
  let parts = ''
  for (const { record, costNanoUsd, promotionalNanoUsd, parts: paid } of charges) {
    if (labelled === null || !isAlike(labelled, record)) {
      labelled = record
      labels += (label === 0 ? '' : ',') + toLabel(record)
      label += 1
    }
    rows +=
      `${number === 0 ? '' : ','}"(${label},${record.id},${record.promptTokens},${record.cachedTokens},` +
      `${record.completionTokens},${record.reasoningTokens},${costNanoUsd},${promotionalNanoUsd},` +
      `${record.latencyMs},${record.firstTokenMs ?? ''},${record.createdAtMs})"`
    number += 1
    for (const { lease, amountNanoUsd } of paid)
      parts += `${parts === '' ? '' : ','}"(${number},${lease.id},${amountNanoUsd})"`
  }
  // The labels last: only they may have a semicolon in them.
  return `{${rows}};{${parts}};{${labels}}`
}

// The same strings mostly, so that this compares no letters.
function isAlike(a: UsageRecord, b: UsageRecord): boolean {
  return (
    a.accountId === b.accountId &&
    a.keyId === b.keyId &&
    a.environment === b.environment &&
    a.operation === b.operation &&
    a.model === b.model &&
    a.provider === b.provider &&
    a.outcome === b.outcome
  )
}

function toLabel(record: UsageRecord): string {
  const { accountId, keyId, environment, operation, model, provider, outcome } = record
  const fields = `${accountId},${keyId},${environment},${operation},${model},${provider},${outcome}`
  if (PLAIN_FIELDS.test(fields)) return `"(${fields})"`
  const names = [environment, operation, model, provider, outcome].map(quote)
  return quote(`(${accountId},${keyId},${names.join(',')})`)
}

/** Seven of them, with no letter that means something to PostgreSQL. */
const PLAIN_FIELDS = /^(?:[\w./:@-]+,){6}[\w./:@-]+$/

function quote(text: string): string {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`
}

const ROWS = "split_part(charges, ';', 1)"
const PARTS = "split_part(charges, ';', 2)"

/** Expressions for the arrays in a text of the journal, `charges`. */
export const JOURNAL_ARRAYS = {
  charges: `${ROWS}::journaled_charge[]`,
  parts: `${PARTS}::charge_part[]`,
  labels: `substr(charges, length(${ROWS}) + length(${PARTS}) + 3)::charge_label[]`,
}

/**
 * A FROM item `charge` with the charges of each row of `journal`, which has the arrays `charges` and `labels`: with the columns of
 * usage_records, and with the `number` it has in the row with this `sequence`.
 */
export function unfoldCharges(journal: string): string {
  return `(
    SELECT sequence, number, (label).account_id, (charge).id, (label).key_id, (label).environment, (label).operation, (label).model,
      (label).provider, (label).outcome, (charge).prompt_tokens, (charge).cached_tokens, (charge).completion_tokens,
      (charge).reasoning_tokens, (charge).cost_nano_usd, (charge).promotional_nano_usd, (charge).latency_ms,
      (charge).first_token_ms, (charge).created_at_ms
    FROM (
      SELECT sequence, number, charge, labels[(charge).label] AS label
      FROM (
        SELECT sequence, labels, unnest(charges) AS charge, generate_subscripts(charges, 1) AS number
        FROM ${journal}
      ) AS unfolded
      -- Keeps the label from being looked up for each of its columns.
      OFFSET 0
    ) AS labelled
  ) AS charge`
}
