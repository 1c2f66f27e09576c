import { createServer } from 'node:http'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, createOther, deploy, putToSleep, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway
let second: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startGpuGateway()
  second = await startTestGateway({
    connectionString: gateway.connectionString,
    settings: { PARKWAY_SANDBOX_GPU_START_MS: '100' },
  })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
    prepareStatements: false,
  })
})
afterAll(async () => {
  await database.close()
  await second.close()
  await gateway.close()
})

const readMetrics = async (id: string, query = '?window=5m', key?: string) =>
  gateway.request('GET', `/v1/deployments/${id}/metrics${query}`, key === undefined ? {} : { key })

const deployRunning = async (order: object = {}): Promise<string> => {
  const id = await deploy(gateway, order)
  await waitForStatus(gateway, id, 'running')
  return id
}

describe('metrics of a deployment', () => {
  test('count requests, tokens and latencies of all processes', async () => {
    const id = await deployRunning()
    const answers = [
      await chatWith(gateway, id),
      await chatWith(gateway, id, { body: { stream: true, stream_options: { include_usage: true } } }),
      await eventually(async () => {
        const answer = await chatWith(second, id)
        expect(answer.status).toBe(200)
        return answer
      }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    const streamed = /"prompt_tokens":(\d+)/.exec(answers[1]?.body)?.[1]
    const tokensIn = 2 * answers[0]?.body.usage.prompt_tokens + Number(streamed)
    // The other process writes its counts every few seconds.
    const body = await eventually(async () => {
      const { body: metrics } = await readMetrics(id)
      expect(metrics.requests).toBe(3)
      return metrics
    })
    expect(body).toMatchObject({
      deployment_id: id,
      window: '5m',
      step_seconds: 15,
      errors: 0,
      in_flight: 0,
      tokens_in: tokensIn,
      engine: null,
    })
    expect(body.tokens_out).toBeGreaterThanOrEqual(3)
    expect(body.tokens_per_second).toBeGreaterThan(0)
    expect(body.requests_per_minute).toBeGreaterThan(0)
    for (const figures of [body.latency_ms, body.ttft_ms]) {
      expect(figures.p50).toBeGreaterThan(0)
      expect(figures.p99).toBeGreaterThanOrEqual(figures.p50)
    }
    expect(body.series).toHaveLength(20)
    expect(sum(body.series, 'requests')).toBe(3)
    expect(sum(body.series, 'tokens_in')).toBe(body.tokens_in)
  })

  test('count failed requests, but not requests that the gateway refused', async () => {
    const id = await deployRunning()
    await putToSleep(gateway, id)
    const headers = { 'x-wake-timeout': '0' }
    const body = { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hello!' }] }
    expect((await gateway.request('POST', '/v1/chat/completions', { body, headers })).status).toBe(503)
    const bad = { ...body, messages: [] }
    expect((await gateway.request('POST', '/v1/chat/completions', { body: bad })).status).toBe(400)
    const { body: metrics } = await readMetrics(id)
    expect([metrics.requests, metrics.errors, metrics.latency_ms.p50]).toEqual([1, 1, null])
  })

  test('return 404 for other accounts and after deletion', async () => {
    const id = await deployRunning()
    const other = await createOther(gateway)
    expect((await readMetrics(id, '', other)).status).toBe(404)
    await gateway.request('DELETE', `/v1/deployments/${id}`)
    expect((await readMetrics(id)).status).toBe(404)
  })

  test('return a series for the window and step, and refuse values outside the limits', async () => {
    const id = await deployRunning()
    for (const [query, points] of [
      ['', 60],
      ['?window=1h', 60],
      ['?window=24h', 96],
      ['?window=7d', 84],
      ['?window=1h&step=15', 240],
      ['?window=24h&step=3600', 24],
    ] as const)
      expect([query, (await readMetrics(id, query)).body.series.length]).toEqual([query, points])
    for (const query of [
      '?window=1y',
      '?window=5m&step=7',
      '?window=24h&step=15',
      '?step=0',
      '?step=99999999',
    ])
      expect([query, (await readMetrics(id, query)).status]).toEqual([query, 400])
  })

  test('contain the figures that the engine reports', async () => {
    const engine = createServer((request, response) => {
      response.statusCode = request.url === '/metrics' ? 200 : 500
      response.end('vllm:num_requests_running{engine="0"} 3.0\nvllm:kv_cache_usage_perc 0.25\n')
    })
    await new Promise<void>((resolve) => engine.listen(0, '127.0.0.1', resolve))
    const address = engine.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const id = await deployRunning()
    expect((await chatWith(gateway, id)).status).toBe(200)
    await database.query(`UPDATE deployments SET endpoint = $2, updated_at = now() WHERE id = $1`, [
      id,
      `http://127.0.0.1:${port}/v1`,
    ])
    await eventually(async () => {
      const { body } = await readMetrics(id)
      expect(body.engine).toEqual({ requests_running: 3, requests_waiting: null, cache_usage: 0.25 })
    })
    await new Promise((resolve) => engine.close(resolve))
    expect((await readMetrics(id)).body.engine).toBeNull()
  })
})

test('metrics of a deployment contain the load of its GPU while one is bound', async () => {
  const id = await deployRunning()
  expect((await chatWith(gateway, id)).status).toBe(200)
  const { body } = await readMetrics(id)
  expect(body.gpu.utilization).toBeGreaterThan(0)
  expect(body.gpu.utilization).toBeLessThan(1)
  expect(body.gpu.memory_used_gb).toBeCloseTo(0.9 * 48)
  expect(body.series.map(({ gpu }: { gpu: unknown }) => gpu)).toContainEqual({
    utilization: expect.any(Number),
    memory_used_gb: body.gpu.memory_used_gb,
  })
  await putToSleep(gateway, id)
  expect((await readMetrics(id)).body.gpu).toBeNull()
})

function sum(points: readonly Record<string, number>[], key: string): number {
  return points.reduce((total, point) => total + (point[key] ?? 0), 0)
}
