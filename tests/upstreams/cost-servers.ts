import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a vendor bills, in the units of its API. */
export interface BilledLine {
  readonly day: string
  readonly project: string | null
  readonly item: string
  readonly amount: number | string
}

export interface CostServer {
  readonly baseUrl: string
  readonly asked: string[]
  close(): Promise<void>
}

const PAGE_DAYS = 2
const DAY_MS = 86_400_000

/** The costs of an organisation as OpenAI's reference describes them: days with cursors, grouped by project and line item. */
export function startOpenAiCosts(adminKey: string, lines: readonly BilledLine[]): Promise<CostServer> {
  return serve((request, query) => {
    if (request.headers.authorization !== `Bearer ${adminKey}`) return { status: 401, body: { error: {} } }
    const start = Number(query.get('start_time')) * 1000
    const end = Number(query.get('end_time')) * 1000
    const { days, next } = pageOf(start, end, query.get('page'))
    const data = days.map((day) => ({
      object: 'bucket',
      start_time: Date.parse(day) / 1000,
      end_time: (Date.parse(day) + DAY_MS) / 1000,
      results: lines
        .filter((line) => line.day === day)
        .map(({ amount, item, project }) => ({
          object: 'organization.costs.result',
          amount: { value: amount, currency: 'usd' },
          line_item: item,
          project_id: project,
        })),
    }))
    return { status: 200, body: { object: 'page', data, has_more: next !== null, next_page: next } }
  })
}

/** The cost report as Anthropic's reference describes it: amounts in cents as text. */
export function startAnthropicCosts(adminKey: string, lines: readonly BilledLine[]): Promise<CostServer> {
  return serve((request, query) => {
    if (request.headers['x-api-key'] !== adminKey || request.headers['anthropic-version'] !== '2023-06-01')
      return { status: 401, body: { type: 'error' } }
    const [start, end] = ['starting_at', 'ending_at'].map((name) => Date.parse(query.get(name) ?? ''))
    const { days, next } = pageOf(start ?? 0, end ?? 0, query.get('page'))
    const data = days.map((day) => ({
      starting_at: `${day}T00:00:00Z`,
      ending_at: new Date(Date.parse(day) + DAY_MS).toISOString(),
      results: lines
        .filter((line) => line.day === day)
        .map(({ amount, item, project }) => ({
          currency: 'USD',
          amount,
          workspace_id: project,
          description: item,
          cost_type: 'tokens',
        })),
    }))
    return { status: 200, body: { data, has_more: next !== null, next_page: next } }
  })
}

function pageOf(start: number, end: number, page: string | null): { days: string[]; next: string | null } {
  const first = page === null ? start : Number(page.replace('page_', ''))
  const last = Math.min(end, first + PAGE_DAYS * DAY_MS)
  const days: string[] = []
  for (let ms = first; ms < last; ms += DAY_MS) days.push(new Date(ms).toISOString().slice(0, 10))
  return { days, next: last < end ? `page_${last}` : null }
}

async function serve(
  answer: (request: IncomingMessage, query: URLSearchParams) => { status: number; body: unknown },
): Promise<CostServer> {
  const asked: string[] = []
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://vendor')
    asked.push(url.pathname)
    const { status, body } = answer(request, url.searchParams)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    asked,
    close: async () => {
      server.close()
      await once(server, 'close')
    },
  }
}
