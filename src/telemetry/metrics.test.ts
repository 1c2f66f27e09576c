import { array, assert, asyncProperty, double } from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createMetrics, mergeSnapshots, type FinishedRequest } from './metrics.ts'

const chat: FinishedRequest = {
  route: '/v1/chat/completions',
  model: 'gpt-test',
  provider: 'openai',
  status: 200,
  durationMs: 120,
  firstTokenMs: 40,
  usage: { prompt: 10, completion: 20, cached: 4, reasoning: 5 },
}

const DATABASE = {
  pingSeconds: 0.001,
  bytes: 1e9,
  connections: 12,
  connectionsMax: 100,
  longestTransactionSeconds: 1,
  replicationLagBytes: null,
  unpostedCommits: 0,
  refusedCommits: 0,
  debtUsd: 0,
  exports: [{ name: 'lake', waiting: 3, waitedMs: 1_500, failures: 2 }],
  tasks: { pending: 3, processing: 1 },
  oldestPendingTaskSeconds: 20,
  deployments: new Map([['running', 2]]),
  gpus: new Map([['h100', { count: 2, usdPerHour: 5 }]]),
  storedBytes: new Map([['media', 7]]),
  expiringKeys: 0,
  ledgerCheck: { differences: 1, checkedAtSeconds: 1_700_000_000 },
}

describe('metrics', () => {
  test('a finished request is counted by route, model, provider and status, with its latency and tokens', async () => {
    const metrics = createMetrics()
    metrics.requestStarted(chat.route)
    metrics.requestFinished(chat)
    const text = (await metrics.exposition()).text
    const labels = 'route="/v1/chat/completions",model="gpt-test",provider="openai"'
    expect(text).toContain(`parkway_requests_total{${labels},status="200"} 1`)
    expect(text).toContain(`parkway_request_duration_seconds_bucket{${labels},le="0.1"} 0`)
    expect(text).toContain(`parkway_request_duration_seconds_bucket{${labels},le="0.25"} 1`)
    expect(text).toContain(`parkway_request_duration_seconds_bucket{${labels},le="+Inf"} 1`)
    expect(text).toContain(`parkway_request_duration_seconds_sum{${labels}} 0.12`)
    expect(text).toContain('parkway_time_to_first_token_seconds_count{model="gpt-test",provider="openai"} 1')
    for (const [direction, count] of Object.entries({
      prompt: 10,
      completion: 20,
      cached: 4,
      reasoning: 5,
    })) {
      expect(text).toContain(
        `parkway_tokens_total{model="gpt-test",provider="openai",direction="${direction}"} ${count}`,
      )
    }
    expect(text).toContain('parkway_requests_in_flight{route="/v1/chat/completions"} 0')
  })

  test('an operation on a model is measured by the GenAI conventions, and its cost is counted', async () => {
    const metrics = createMetrics({ traceNameOf: (provider) => `the.${provider}` })
    metrics.requestFinished({ ...chat, operation: 'chat', costUsd: 0.25 })
    metrics.requestFinished({ ...chat, operation: 'chat', status: 504, usage: undefined })
    metrics.spent({ model: 'gpt-test', provider: 'openai', costUsd: 0.5 })
    const text = (await metrics.exposition()).text
    const labels =
      'gen_ai_operation_name="chat",gen_ai_provider_name="the.openai",gen_ai_request_model="gpt-test"'
    expect(text).toContain(`gen_ai_client_operation_duration_seconds_sum{${labels},error_type=""} 0.12`)
    expect(text).toContain(`gen_ai_client_operation_duration_seconds_count{${labels},error_type="504"} 1`)
    expect(text).toContain(`gen_ai_client_token_usage_bucket{${labels},gen_ai_token_type="input",le="16"} 1`)
    expect(text).toContain(`gen_ai_client_token_usage_sum{${labels},gen_ai_token_type="output"} 20`)
    expect(text).toContain('parkway_spend_usd_total{model="gpt-test",provider="openai"} 0.75')
  })

  test('a bucket has the last sampled trace as an example, in the format that has a place for it', async () => {
    const metrics = createMetrics()
    metrics.requestFinished({ ...chat, traceId: 'a'.repeat(32) })
    metrics.requestFinished({ ...chat, traceId: null })
    const { contentType, text } = await metrics.exposition('openmetrics')
    expect(contentType).toContain('application/openmetrics-text')
    expect(text).toMatch(
      /parkway_request_duration_seconds_bucket\{[^}]*le="0.25"\} 2 # \{trace_id="a{32}"\} 0\.12 \d+\.?\d*\n/,
    )
    expect(text).toContain('# TYPE parkway_requests counter\n')
    expect(text).toMatch(/\nparkway_requests_total\{.*\} 2\n/)
    expect(text.endsWith('# EOF\n')).toBe(true)
    expect((await metrics.exposition()).text).not.toContain('trace_id')
  })

  test('a database that does not answer is down in the metrics, and the rest keeps its last value', async () => {
    const metrics = createMetrics()
    let isAway = false
    metrics.state.readFrom({
      readProcess: () => ({ pool: { size: 10, inUse: 4, waiting: 2 }, replica: null, isWorkerRunning: true }),
      readDatabase: async () => {
        if (isAway) throw new Error('away')
        return DATABASE
      },
      readCertificates: () => new Map([['public_url', 1_800_000_000]]),
    })
    const before = (await metrics.exposition()).text
    expect(before).toContain('parkway_database_up 1')
    expect(before).toContain('parkway_database_pool_connections{state="free"} 6')
    expect(before).toContain('parkway_gpus_price_usd_per_hour{tier="h100"} 5')
    expect(before).toContain('parkway_certificate_expiry_timestamp_seconds{endpoint="public_url"} 1800000000')
    isAway = true
    const after = (await metrics.exposition()).text
    expect(after).toContain('parkway_database_up 0')
    expect(after).toContain('parkway_tasks{status="pending"} 3')
    expect(after).toContain('parkway_ledger_differences 1')
  })

  test('a model name of a client never becomes a label', async () => {
    const metrics = createMetrics({ isKnownModel: (id) => id === 'gpt-test' })
    metrics.requestFinished({ ...chat, model: 'evil"model', status: 404 })
    metrics.requestFinished({ ...chat, model: 'byom-own' })
    metrics.clientDisconnected({ route: chat.route, model: 'evil2' })
    const text = (await metrics.exposition()).text
    expect(text).not.toContain('evil')
    expect(text).not.toContain('byom-own')
    expect(text).toMatch(/parkway_requests_total\{.*model="unknown".*status="404"\} 1/)
    expect(text).toMatch(/parkway_requests_total\{.*model="byom".*\} 1/)
    expect(text).toContain('parkway_client_disconnects_total{route="/v1/chat/completions",model="unknown"} 1')
  })

  test('unlimited label values share one series', async () => {
    const metrics = createMetrics()
    for (let index = 0; index < 6_000; index += 1) metrics.upstreamRetried(`provider-${index}`)
    const lines = (await metrics.exposition()).text.split('\n')
    expect(lines.filter((line) => line.startsWith('parkway_upstream_retries_total{'))).toHaveLength(5_001)
    expect(lines).toContain('parkway_upstream_retries_total{provider="other"} 1000')
  })

  test('upstream attempts, failures, retries, fallbacks and breakers are visible', async () => {
    const metrics = createMetrics()
    metrics.upstreamAttempted({ provider: 'groq', outcome: 'status', status: 503 })
    metrics.upstreamAttempted({ provider: 'groq', outcome: 'ok' })
    metrics.upstreamRetried('groq')
    metrics.upstreamFellBack({ from: 'groq', to: 'openai' })
    metrics.breakerChanged({ provider: 'groq', model: 'm', state: 'open', accounts: 1 })
    const text = (await metrics.exposition()).text
    expect(text).toContain('parkway_upstream_attempts_total{provider="groq",outcome="ok"} 1')
    expect(text).toContain('parkway_upstream_errors_total{provider="groq",failure="status",status="503"} 1')
    expect(text).toContain('parkway_upstream_retries_total{provider="groq"} 1')
    expect(text).toContain('parkway_upstream_fallbacks_total{from="groq",to="openai"} 1')
    expect(text).toContain('parkway_circuit_breaker_state{provider="groq",model="m"} 2')
  })

  test('the event loop, the processor and the memory are measured', async () => {
    const { text, contentType } = await createMetrics().exposition()
    expect(contentType).toContain('text/plain; version=0.0.4')
    expect(text).toMatch(/parkway_event_loop_lag_seconds\{quantile="0.99"\} [\d.e-]+/)
    expect(text).toMatch(/process_cpu_seconds_total [\d.]+/)
    expect(text).toMatch(/process_resident_memory_bytes \d{7,}/)
    expect(text).not.toMatch(/nan|undefined|null/i)
  })

  test('snapshots of several processes add up after serialisation as JSON', async () => {
    const processes = [createMetrics(), createMetrics()]
    for (const metrics of processes) metrics.requestFinished(chat)
    processes[1]?.breakerChanged({ provider: 'groq', model: 'm', state: 'half-open', accounts: 0 })
    processes[0]?.breakerChanged({ provider: 'groq', model: 'm', state: 'open', accounts: 1 })
    const snapshots = await Promise.all(processes.map((metrics) => metrics.snapshot()))
    const { text } = await mergeSnapshots(JSON.parse(JSON.stringify(snapshots)))
    expect(text).toMatch(/parkway_requests_total\{.*status="200"\} 2/)
    expect(text).toMatch(/parkway_request_duration_seconds_bucket\{.*le="0.25"\} 2/)
    expect(text).toMatch(/parkway_request_duration_seconds_count\{.*\} 2/)
    expect(text).toContain('parkway_circuit_breaker_state{provider="groq",model="m"} 2')
    expect(text).not.toMatch(/nan|undefined|null/i)
  })

  test('every observation is in exactly one bucket', async () => {
    await assert(
      asyncProperty(array(double({ min: 0, max: 1e6, noNaN: true })), async (durations) => {
        const metrics = createMetrics()
        for (const durationMs of durations) metrics.requestFinished({ ...chat, durationMs })
        const { text } = await metrics.exposition()
        const buckets = [...text.matchAll(/duration_seconds_bucket\{.*le="(.+)"\} (\d+)/g)]
        for (const [, bound, count] of buckets) {
          const boundMs = bound === '+Inf' ? Infinity : Number(bound) * 1e3
          expect(Number(count)).toBe(
            durations.filter((durationMs) => durationMs / 1e3 <= boundMs / 1e3).length,
          )
        }
      }),
      { numRuns: 25 },
    )
  })
})
