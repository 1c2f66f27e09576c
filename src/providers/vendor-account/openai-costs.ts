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

/** `GET /v1/organization/costs`: buckets of a day of UTC, by project and line item, in dollars. */
export async function readOpenAiCosts(question: CostQuestion): Promise<BilledDay[]> {
  const { baseUrl, key, from, days } = question
  const billed: BilledDay[] = []
  let page: string | null = null
  for (let count = 0; count < PAGES_MAX; count += 1) {
    const query = new URLSearchParams({
      start_time: String(secondsOf(from)),
      end_time: String(secondsOf(addDays(from, days))),
      bucket_width: '1d',
      limit: String(PAGE_DAYS),
    })
    for (const name of ['project_id', 'line_item']) query.append('group_by', name)
    if (page !== null) query.set('page', page)
    const headers = { authorization: `Bearer ${key}` }
    const answer = await askAccount(question, `${baseUrl}/organization/costs?${query.toString()}`, headers)
    if (!isRecord(answer) || !Array.isArray(answer['data'])) throw new Error('it answers no list of costs')
    billed.push(...answer['data'].map(readBucket))
    if (answer['has_more'] !== true) return billed
    if (typeof answer['next_page'] !== 'string') throw new Error('it names no next page')
    page = answer['next_page']
  }
  throw new Error('it has more pages than are read')
}

function secondsOf(day: string): number {
  return Date.parse(`${day}T00:00:00Z`) / 1000
}

function readBucket(bucket: unknown): BilledDay {
  if (!isRecord(bucket) || typeof bucket['start_time'] !== 'number' || !Array.isArray(bucket['results']))
    throw new Error('it answers a day without results')
  return {
    day: new Date(bucket['start_time'] * 1000).toISOString().slice(0, 10),
    items: bucket['results'].map(readResult),
  }
}

function readResult(result: unknown): BilledItem {
  const amount = isRecord(result) ? result['amount'] : null
  if (!isRecord(result) || !isRecord(amount)) throw new Error('it answers a result without an amount')
  if (String(amount['currency']).toLowerCase() !== 'usd')
    throw new Error('it bills in another currency than dollars')
  const { project_id: project, line_item: item } = result
  return {
    project: typeof project === 'string' ? project : null,
    item: typeof item === 'string' ? item : 'other',
    billedNanoUsd: readAmount(amount['value'], 0),
  }
}
