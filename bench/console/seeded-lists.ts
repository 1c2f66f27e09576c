import type { Page } from 'playwright-core'

const MINUTE_MS = 60_000
const HOUR_SECONDS = 3_600

/** Answers the lists of the API in the browser, with as many rows as wanted, in pages by cursor. */
export async function seedLists(
  page: Page,
  { requests, tasks }: { requests: number; tasks: number },
): Promise<void> {
  await page.route('**/v1/requests?*', (route) =>
    route.fulfill({ json: pageOf(route.request().url(), requests, requestRow) }),
  )
  await page.route('**/v1/tasks?*', (route) =>
    route.fulfill({ json: pageOf(route.request().url(), tasks, taskRow) }),
  )
}

/** Answers with usage of a year by hour, of several models. */
export async function seedYearOfHours(page: Page, models: number): Promise<void> {
  const now = Math.floor(Date.now() / 1000 / HOUR_SECONDS) * HOUR_SECONDS
  const buckets = (scale: number) =>
    Array.from({ length: HOURS_OF_YEAR }, (_, index) => bucketAt(now, index, scale))
  const answer = {
    object: 'usage.timeseries',
    granularity: 'hour',
    by: 'model',
    data: buckets(models),
    series: Array.from({ length: models }, (_, index) => ({ value: `model-${index}`, data: buckets(index) })),
    other: [],
  }
  await page.route('**/v1/usage/timeseries?*', (route) => route.fulfill({ json: answer }))
}

export const HOURS_OF_YEAR = 8_760

function bucketAt(nowSeconds: number, index: number, scale: number): object {
  const startedAt = new Date((nowSeconds - (HOURS_OF_YEAR - index) * HOUR_SECONDS) * 1000).toISOString()
  const requests = Math.round(100 * scale * (1 + Math.sin(index / 24)))
  return {
    start: startedAt,
    end: startedAt,
    requests,
    prompt_tokens: requests * 500,
    cached_tokens: 0,
    cache_write_tokens: 0,
    completion_tokens: requests * 200,
    reasoning_tokens: 0,
    total_tokens: requests * 700,
    cost_usd: requests * 0.002,
    promotional_usd: 0,
  }
}

function pageOf(address: string, total: number, rowAt: (index: number) => object): object {
  const { searchParams } = new URL(address)
  const first = Number(searchParams.get('after') ?? 0)
  const end = Math.min(total, first + Number(searchParams.get('limit') ?? 100))
  const data = Array.from({ length: end - first }, (_, index) => rowAt(first + index))
  return {
    object: 'list',
    data,
    total,
    has_more: end < total,
    next_cursor: end < total ? String(end) : null,
  }
}

function idAt(index: number): string {
  return `01930000-0000-7000-8000-${index.toString(16).padStart(12, '0')}`
}

function requestRow(index: number): object {
  const id = idAt(index)
  return {
    id,
    object: 'request',
    request_id: `req_${id.replaceAll('-', '')}`,
    created_at: new Date(Date.now() - index * MINUTE_MS).toISOString(),
    operation: 'chat',
    wire: 'openai-chat',
    requested_model: 'gpt-4o-mini',
    model: 'gpt-4o-mini',
    provider: 'openai',
    key_id: idAt(1),
    key_name: 'production',
    env: 'prod',
    outcome: index % 17 === 0 ? 'failed' : 'completed',
    http_status: index % 17 === 0 ? 502 : 200,
    error_code: index % 17 === 0 ? 'upstream_error' : null,
    stream: index % 2 === 0,
    latency_ms: 500 + (index % 900),
    ttft_ms: index % 2 === 0 ? 120 : null,
    prompt_tokens: 1_200,
    cached_tokens: 0,
    cache_write_tokens: 0,
    completion_tokens: 340,
    reasoning_tokens: 0,
    total_tokens: 1_540,
    cost_usd: 0.000384,
    promotional_usd: 0,
    uncovered_usd: 0,
    cache_hit: false,
    attempt_count: 1,
    fallback: false,
    user: null,
  }
}

function taskRow(index: number): object {
  const at = new Date(Date.now() - index * MINUTE_MS).toISOString()
  return {
    id: idAt(index),
    object: 'task',
    task_type: 'image',
    status: index % 9 === 0 ? 'failed' : 'completed',
    model: 'flux-schnell',
    prompt: `A lighthouse on a rock, number ${index}, at dusk`,
    progress: 100,
    cost_usd: 0.003,
    created_at: at,
    started_at: at,
    completed_at: at,
    error: index % 9 === 0 ? { code: 'moderated', message: 'The picture was refused.' } : null,
    result: index % 9 === 0 ? null : { data: [{ url: PICTURE }] },
  }
}

const PICTURE = '/favicon.svg'
