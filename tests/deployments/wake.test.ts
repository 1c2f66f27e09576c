import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import type { Database } from '../../src/storage/database.ts'
import { eventually } from '../support/eventually.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { chatWith, deploy, putToSleep, readEvents, startGpuGateway, waitForStatus } from './deploy.ts'

let gateway: TestGateway
let database: Database

beforeAll(async () => {
  gateway = await startGpuGateway({ PARKWAY_SANDBOX_GPU_START_MS: '600' })
  database = connectDatabase({
    connectionString: gateway.connectionString,
    poolSize: 1,
    statementTimeoutMs: 10_000,
    prepareStatements: false,
  })
})
afterAll(async () => {
  await database.close()
  await gateway.close()
})

const wakesOf = async (id: string) =>
  (await readEvents(gateway, id)).filter(({ type }) => type === 'waking').length

describe('a sleeping deployment', () => {
  test('is woken by the first request, which waits for the start, and only once by a hundred requests', async () => {
    const id = await deploy(gateway)
    await putToSleep(gateway, id)
    const answers = await Promise.all(
      Array.from({ length: 100 }, (_, number) =>
        chatWith(gateway, id, { body: { stream: number % 2 === 0 } }),
      ),
    )
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
    expect(await wakesOf(id)).toBe(1)
    const steps = (await readEvents(gateway, id)).map(({ to }) => to)
    // A slow start tells its progress with further events of the same status.
    const changes = steps.filter((status, index) => status !== steps[index - 1])
    expect(changes.slice(-3)).toEqual(['sleeping', 'starting', 'running'])
  })

  test('is woken by a start of its account, without an event about a request', async () => {
    const id = await deploy(gateway)
    await putToSleep(gateway, id)
    await gateway.request('POST', `/v1/deployments/${id}/start`)
    await waitForStatus(gateway, id, 'running')
    expect(JSON.stringify(await readEvents(gateway, id))).not.toContain('A request wakes it.')
    await putToSleep(gateway, id)
    expect((await chatWith(gateway, id)).status).toBe(200)
    const events = await readEvents(gateway, id)
    expect(events.filter(({ type }) => type.endsWith('_requested'))).toMatchObject([
      { type: 'start_requested', message: 'Its account wants it to run.' },
      { type: 'wake_requested', message: 'A request wakes it.' },
    ])
    expect(await wakesOf(id)).toBe(2)
  })

  test('is woken only once by a hundred requests to two processes', async () => {
    const second = await startTestGateway({
      connectionString: gateway.connectionString,
      settings: { PARKWAY_SANDBOX_GPU_START_MS: '600' },
    })
    try {
      const id = await deploy(gateway)
      await putToSleep(gateway, id)
      await eventually(async () => {
        const { status } = await second.request('GET', `/v1/models/byom-${id}`)
        expect(status).toBe(200)
      })
      const answers = await Promise.all(
        Array.from({ length: 100 }, (_, number) => chatWith(number % 2 === 0 ? gateway : second, id)),
      )
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]))
      expect(await wakesOf(id)).toBe(1)
      const runs = await database.query('SELECT FROM deployment_runs WHERE deployment_id = $1', [id])
      expect(runs).toHaveLength(2)
    } finally {
      await second.close()
    }
  })

  test.each([false, true])(
    'returns 503 with retry-after if the client does not wait (stream: %s)',
    async (stream) => {
      const id = await deploy(gateway)
      await putToSleep(gateway, id)
      const { status, headers, body } = await gateway.request('POST', '/v1/chat/completions', {
        body: { model: `byom-${id}`, messages: [{ role: 'user', content: 'Hello!' }], stream },
        headers: { 'x-wake-timeout': '0' },
      })
      expect([status, body.error.code, headers.get('retry-after')]).toEqual([503, 'deployment_waking', '10'])
      await waitForStatus(gateway, id, 'running')
      expect(await wakesOf(id)).toBe(1)
      expect((await chatWith(gateway, id)).status).toBe(200)
    },
  )

  test('is also woken by the start route', async () => {
    const id = await deploy(gateway)
    await putToSleep(gateway, id)
    const { status, body } = await gateway.request('POST', `/v1/deployments/${id}/start`)
    expect([status, body.desired_state]).toEqual([200, 'running'])
    await waitForStatus(gateway, id, 'running')
  })

  test('is not woken by a chat after its account has stopped it', async () => {
    const id = await deploy(gateway)
    await gateway.request('POST', `/v1/deployments/${id}/stop`)
    await waitForStatus(gateway, id, 'stopped')
    const { status, body } = await chatWith(gateway, id)
    expect([status, body.error.code]).toEqual([409, 'deployment_not_ready'])
  })
})

describe('a failed deployment', () => {
  test('shows the reason, and answers chats with 502', async () => {
    const id = await deploy(gateway, { env: { SANDBOX_FAILURE: 'out_of_memory' } })
    const failed = await waitForStatus(gateway, id, 'error')
    expect([failed.error_code, failed.progress]).toEqual(['out_of_memory', 0])
    expect(failed.error_message).toContain('memory')
    const { status, body } = await chatWith(gateway, id)
    expect([status, body.error.code]).toEqual([502, 'deployment_failed'])
    const { body: bill } = await gateway.request('GET', `/v1/deployments/${id}/billing`)
    expect(bill).toMatchObject({
      accrued_usd: 0,
      billed_seconds: 0,
      intervals: [],
      burn_rate_usd_per_hour: 0,
    })
  })
})

test('the bill of a deployment shows its costs and intervals', async () => {
  const id = await deploy(gateway, { budget_limit_usd: 3 })
  await waitForStatus(gateway, id, 'running')
  const { body: running } = await gateway.request('GET', `/v1/deployments/${id}/billing`)
  expect(running).toMatchObject({
    deployment_id: id,
    status: 'running',
    hourly_cost_usd: 1.95,
    burn_rate_usd_per_hour: 1.95,
    budget_limit_usd: 3,
  })
  expect([running.intervals.length, running.intervals[0].to]).toEqual([1, null])
  await gateway.request('POST', `/v1/deployments/${id}/stop`)
  await waitForStatus(gateway, id, 'stopped')
  const { body: stopped } = await gateway.request('GET', `/v1/deployments/${id}/billing`)
  const [interval] = stopped.intervals
  expect(interval.cost_usd).toBeCloseTo((1.95 * interval.seconds) / 3600, 8)
  expect(stopped).toMatchObject({ accrued_usd: interval.cost_usd, burn_rate_usd_per_hour: 0 })
  expect(stopped.budget_remaining_usd).toBeCloseTo(3 - interval.cost_usd, 8)
  const { body: usage } = await gateway.request('GET', '/v1/usage/records?limit=100')
  const spent = usage.data.filter((record: { model: string }) => record.model === `byom-${id}`)
  expect(
    spent.map((record: { operation: string; cost_usd: number }) => [record.operation, record.cost_usd]),
  ).toEqual([['gpu', interval.cost_usd]])
})
