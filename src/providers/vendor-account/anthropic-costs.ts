import { isRecord } from '../../kernel/is-record.ts'
import {
  addDays,
  askAccount,
  readAmount,
  type BilledDay,
  type BilledItem,
  type CostQuestion,
} from './vendor-account.ts'

const PAGE_DAYS = 31
const PAGES_MAX = 40
/** Amounts are in cents. */
const CENT_DIGITS = 2

/** `GET /v1/organizations/cost_report`: buckets of a day of UTC, by workspace and description, in cents as text. */
export async function readAnthropicCosts(question: CostQuestion): Promise<BilledDay[]> {
  const { baseUrl, key, from, days } = question
  const billed: BilledDay[] = []
  let page: string | null = null
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const query = new URLSearchParams({
      starting_at: `${from}T00:00:00Z`,
      ending_at: `${addDays(from, days)}T00:00:00Z`,
      bucket_width: '1d',
      limit: String(PAGE_DAYS),
    })
    for (const name of ['workspace_id', 'description']) query.append('group_by[]', name)
    if (page !== null) query.set('page', page)
    const headers = { 'x-api-key': key, 'anthropic-version': '2023-06-01' }
    const answer = await askAccount(
      question,
      `${baseUrl}/organizations/cost_report?${query.toString()}`,
      headers,
    )
    if (!isRecord(answer) || !Array.isArray(answer['data'])) throw new Error('it answers no list of costs')
    billed.push(...answer['data'].map(readBucket))
    if (answer['has_more'] !== true) return billed
    if (typeof answer['next_page'] !== 'string') throw new Error('it names no next page')
    page = answer['next_page']
  }
  throw new Error('it has more pages than are read')
}

function readBucket(bucket: unknown): BilledDay {
  if (!isRecord(bucket) || typeof bucket['starting_at'] !== 'string' || !Array.isArray(bucket['results']))
    throw new Error('it answers a day without results')
  const startMs = Date.parse(bucket['starting_at'])
  if (Number.isNaN(startMs)) throw new Error('it answers a day that is no time')
  return { day: new Date(startMs).toISOString().slice(0, 10), items: bucket['results'].map(readResult) }
}

function readResult(result: unknown): BilledItem {
  if (!isRecord(result)) throw new Error('it answers a result without an amount')
  const { amount, currency, workspace_id: workspace, description } = result
  if (String(currency).toLowerCase() !== 'usd') throw new Error('it bills in another currency than dollars')
  return {
    project: typeof workspace === 'string' ? workspace : null,
    item: typeof description === 'string' ? description : 'other',
    billedNanoUsd: readAmount(amount, CENT_DIGITS),
  }
}
