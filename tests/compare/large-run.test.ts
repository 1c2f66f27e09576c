import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { pacedStream } from '../upstreams/openai-server.ts'
import { startCompareGateway } from './start-compare-gateway.ts'
import { readTable } from './read-csv.ts'
import { RUNS } from './wait-for-run.ts'

const PROMPTS = 1_000
const LANES = 10

let gateway: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red'])
  gateway.upstream.respondWith(() => pacedStream().reply)
})
afterAll(() => gateway.close())

describe('a run of 1,000 prompts and 10 lanes', () => {
  // oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
  let run: any

  beforeAll(async () => {
    const prompts = Array.from({ length: PROMPTS }, (_, index) => `prompt ${index} ${'x'.repeat(200)}`)
    const lanes = Array.from({ length: LANES }, (_, index) => ({ model: 'red', name: `lane ${index}` }))
    const result = await gateway.request('POST', RUNS, { body: { prompts, lanes } })
    expect([result.status, result.body.cells_total]).toEqual([201, PROMPTS * LANES])
    run = result.body
    await completeAll(run.id)
  })

  /** Marks all cells as answered, because the test is only about reading them. */
  async function completeAll(id: string): Promise<void> {
    await gateway.request('POST', `${RUNS}/${id}/cancel`)
    const database = connectDatabase({
      connectionString: gateway.connectionString,
      poolSize: 1,
      statementTimeoutMs: 30_000,
    })
    await database.query(
      `UPDATE compare_cells SET status = 'completed', output = repeat('word ', 100), latency_ms = 100, ttft_ms = 20,
         usage = '{"promptTokens":1,"cachedTokens":0,"completionTokens":9,"reasoningTokens":0}' WHERE run_id = $1`,
      [id],
    )
    await database.close()
  }

  test('can be read, listed and paged through, on every page', async () => {
    const paths = [
      '',
      '/results?limit=100',
      '/results?limit=100&after=998.0.9',
      `/results?lane_id=${run.lanes[3].id}`,
    ]
    for (const path of paths) {
      const result = await gateway.request('GET', `${RUNS}/${run.id}${path}`)
      expect([path, result.status]).toEqual([path, 200])
    }
    const result = await gateway.request('GET', RUNS)
    expect(result.body.total).toBe(1)
    const { body: last } = await gateway.request('GET', `${RUNS}/${run.id}/results?after=998.0.9`)
    expect(last).toMatchObject({ total: 10_000, has_more: false })
    expect(last.data.map((cell: { prompt_index: number }) => cell.prompt_index)).toEqual(Array(10).fill(999))
  })

  test('is exported completely, as a stream', async () => {
    const answer = await gateway.fetch('GET', `${RUNS}/${run.id}/export?format=csv`)
    let chunks = 0
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of answer.body ?? []) {
      chunks += 1
      text += decoder.decode(chunk, { stream: true })
    }
    expect(chunks).toBeGreaterThan(20)
    expect(readTable(text)).toHaveLength(10_000)
  })
})
