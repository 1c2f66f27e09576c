import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { GpuSample } from '../../../gpu/gpu-driver.ts'
import { silentLogger } from '../../../kernel/logger.ts'
import { fakeClock } from '../../../kernel/testing/fake-clock.ts'
import type { Deployment } from '../deployment.ts'
import { createDeploymentStage, ORDER, type DeploymentStage } from '../testing/deployment-stage.ts'
import { createDeploymentMeter, type DeploymentMeter, type MeasuredRequest } from './deployment-meter.ts'
import type { EngineReadings } from './read-engine.ts'
import { readMetrics, type MetricRange } from './read-metrics.ts'

let stage: DeploymentStage
let deployment: Deployment
let nowMs: number
let queries: string[]
let failures: number
let readings: EngineReadings | null
let sampleGpu: () => GpuSample | null
const meters: DeploymentMeter[] = []

beforeAll(async () => {
  stage = await createDeploymentStage()
})
afterAll(async () => {
  for (const meter of meters) await meter.close()
  await stage.close()
})
beforeEach(async () => {
  deployment = await stage.deployments.create(await stage.createCaller(10), ORDER)
  // In the middle of a step, so that a few seconds more are in it too.
  nowMs = Math.ceil(stage.nowMs() / 900_000) * 900_000 + 3_000
  queries = []
  failures = 0
  readings = null
  sampleGpu = () => null
})

/** A process that measures, whose statements are counted. */
function createMeter(): DeploymentMeter {
  const meter = createDeploymentMeter({
    database: {
      ...stage.database,
      query: async (sql, values) => {
        queries.push(sql)
        if (failures > 0) {
          failures -= 1
          throw new Error('the database is away')
        }
        return stage.database.query(sql, values)
      },
    },
    clock: fakeClock(() => nowMs),
    logger: silentLogger,
    readEngine: async () => readings,
    readGpus: async (ids) => {
      const sample = sampleGpu()
      return new Map(sample === null ? [] : ids.map((id) => [id, sample]))
    },
  })
  meters.push(meter)
  return meter
}

const request = (given: Partial<MeasuredRequest> = {}): MeasuredRequest => ({
  durationMs: 100,
  firstTokenMs: 20,
  tokensIn: 7,
  tokensOut: 3,
  isError: false,
  ...given,
})
const read = (range: Partial<MetricRange> = {}) =>
  readMetrics(stage.database, deployment, { window: '5m', stepSeconds: null, ...range }, nowMs)

describe('a deployment meter', () => {
  test('writes a thousand requests in one statement, and writes nothing without requests', async () => {
    const meter = createMeter()
    for (let count = 0; count < 1_000; count += 1) meter.note(deployment.id, request())
    expect(queries).toEqual([])
    await meter.flush()
    await meter.flush()
    expect(queries).toHaveLength(1)
    const { requests, errors, tokensIn, tokensOut, latencyMs } = await read()
    expect([requests, errors, tokensIn, tokensOut]).toEqual([1_000, 0, 7_000, 3_000])
    expect(latencyMs.p50).toBeGreaterThan(90)
    expect(latencyMs.p50).toBeLessThan(120)
  })

  test('adds up the figures of several processes, in short and in long steps', async () => {
    const [one, other] = [createMeter(), createMeter()]
    one.note(deployment.id, request())
    other.note(deployment.id, request({ durationMs: 60_000, firstTokenMs: null, tokensOut: 5 }))
    other.note(deployment.id, request({ isError: true, firstTokenMs: null, tokensOut: 0 }))
    await Promise.all([one.flush(), other.flush()])
    for (const window of ['5m', '1h', '24h', '7d'] as const) {
      const { requests, errors, tokensOut, latencyMs, firstTokenMs } = await read({ window })
      expect([window, requests, errors, tokensOut]).toEqual([window, 3, 1, 8])
      expect(latencyMs.p99).toBeGreaterThan(50_000)
      expect(firstTokenMs.p99).toBeLessThan(25)
    }
  })

  test('stores time in flight and in the queue, so that averages over processes are possible', async () => {
    const [one, other] = [createMeter(), createMeter()]
    const ends = [one.begin(deployment.id, 'in flight'), other.begin(deployment.id, 'in flight')]
    const leave = one.begin(deployment.id, 'queue')
    nowMs += 6_000
    leave()
    await Promise.all([one.flush(), other.flush()])
    nowMs += 6_000
    for (const end of ends) end()
    await Promise.all([one.flush(), other.flush()])
    const [row] = await stage.database.query<{ in_flight_ms: bigint; queue_ms: bigint }>(
      'SELECT in_flight_ms, queue_ms FROM deployment_metrics WHERE deployment_id = $1 AND step_seconds = 900',
      [deployment.id],
    )
    expect(row).toEqual({ in_flight_ms: 24_000n, queue_ms: 6_000n })
    nowMs += 1_000
    // Three seconds of the step had passed before, and it goes on.
    expect((await read({ window: '24h' })).points.at(-1)).toMatchObject({ inFlight: 1.5, queued: 0.375 })
  })

  test('loses nothing while the database is unavailable, and writes nothing twice', async () => {
    const meter = createMeter()
    meter.note(deployment.id, request())
    failures = 1
    await expect(meter.flush()).rejects.toThrow('away')
    meter.note(deployment.id, request())
    await meter.flush()
    expect((await read()).requests).toBe(2)
  })

  test('forgets deleted deployments', async () => {
    const meter = createMeter()
    meter.note('01890000-0000-7000-8000-000000000000', request())
    meter.note(deployment.id, request())
    await meter.flush()
    expect((await read()).requests).toBe(1)
  })

  test('keeps the last figures of the engine in each step', async () => {
    const meter = createMeter()
    readings = { running: 5, waiting: 2, cacheUsage: 0.5 }
    meter.note(deployment.id, request())
    await meter.flush()
    readings = { running: 4, waiting: null, cacheUsage: null }
    meter.note(deployment.id, request())
    await meter.flush()
    expect((await read()).points.at(-1)).toMatchObject({
      engineRunning: 4,
      engineWaiting: 2,
      engineCacheUsage: 0.5,
    })
  })

  test('keeps the last samples of the GPU in each step, short and long', async () => {
    const meter = createMeter()
    sampleGpu = () => ({ utilization: 0.25, memoryUsedGb: 12.5 })
    meter.note(deployment.id, request())
    await meter.flush()
    sampleGpu = () => ({ utilization: 0.75, memoryUsedGb: null })
    meter.note(deployment.id, request())
    await meter.flush()
    for (const window of ['5m', '24h'] as const)
      expect((await read({ window })).points.at(-1)).toMatchObject({
        gpuUtilization: 0.75,
        gpuMemoryUsedGb: 12.5,
      })
    nowMs += 15_000
    meter.note(deployment.id, request())
    sampleGpu = () => null
    await meter.flush()
    expect((await read()).points.at(-1)).toMatchObject({
      requests: 1,
      gpuUtilization: null,
      gpuMemoryUsedGb: null,
    })
  })

  test('loses nothing if the GPUs cannot be read', async () => {
    const meter = createMeter()
    meter.note(deployment.id, request())
    sampleGpu = () => {
      throw new Error('the database is away')
    }
    await expect(meter.flush()).rejects.toThrow('away')
    sampleGpu = () => null
    await meter.flush()
    expect((await read()).requests).toBe(1)
  })
})

test('a sweep deletes short steps after hours and long ones after days', async () => {
  await stage.database.query(
    `INSERT INTO deployment_metrics (deployment_id, step_seconds, at)
     SELECT $1, step, $2::timestamptz - age * interval '1 hour' FROM unnest(ARRAY[15, 900]) step, unnest(ARRAY[1, 3, 30, 220]) age`,
    [deployment.id, new Date(stage.nowMs())],
  )
  await stage.startProcess().sweep()
  const rows = await stage.database.query<{ kept: string }>(
    `SELECT step_seconds || ' ' || round(extract(epoch FROM $2::timestamptz - at) / 3600) AS kept FROM deployment_metrics
     WHERE deployment_id = $1 ORDER BY step_seconds, at DESC`,
    [deployment.id, new Date(stage.nowMs())],
  )
  expect(rows.map(({ kept }) => kept)).toEqual(['15 1', '900 1', '900 3', '900 30'])
})
