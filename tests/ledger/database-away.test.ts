import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../app/call.ts'
import {
  chunksOf,
  completion,
  startOpenAiServer,
  stream,
  type OpenAiServer,
} from '../upstreams/openai-server.ts'
import { startRestartablePostgres, type RestartablePostgres, type StopMode } from './restartable-postgres.ts'
import { createCaller, type Call } from './spending-client.ts'
import { chatOf, startFleet, type Fleet, type Gateway, type Spender } from './start-fleet.ts'

const COMMIT_WAIT_MS = 1_500
/** Longer than a restart of the database takes on a loaded machine. */
const PATIENT_WAIT_MS = 120_000
const CLIENTS = 10

let upstream: OpenAiServer
let postgres: RestartablePostgres
let fleet: Fleet
let gateway: Gateway
let patient: Gateway
let impatient: Gateway
let spender: Spender
const caller = createCaller()

beforeAll(async () => {
  upstream = await startOpenAiServer(answer)
  postgres = await startRestartablePostgres()
  fleet = await startFleet({
    upstream,
    environment: { PARKWAY_COMMIT_WAIT_MS: String(COMMIT_WAIT_MS), LOG_LEVEL: 'error' },
    connectionString: postgres.connectionString,
  })
  impatient = await fleet.start()
  patient = await fleet.start({ environment: { PARKWAY_COMMIT_WAIT_MS: String(PATIENT_WAIT_MS) } })
  gateway = impatient
  spender = await fleet.createSpender({ creditUsd: 10 })
  expect((await ask()).status).toBe(200)
})
afterEach(async () => {
  expect(await fleet.findDifferences()).toEqual([])
})
afterAll(async () => {
  caller.close()
  await fleet.close()
  await postgres.close()
  await upstream.close()
})

const ask = (isStream = false, headers: Record<string, string> = {}) =>
  caller.call(gateway.url, spender.key, chatOf('Hi', { max_tokens: 100, stream: isStream }), headers)
const askMany = () => Promise.all(Array.from({ length: CLIENTS }, (_, client) => ask(client % 2 === 0)))

describe('a database that restarts while requests run', () => {
  beforeAll(async () => {
    gateway = patient
    expect((await ask()).status).toBe(200)
  })
  afterAll(() => {
    gateway = impatient
  })

  test.each<StopMode>(['fast', 'immediate'])(
    '%s: all requests wait for it and are answered and charged',
    async (mode) => {
      const before = (await charged()).size
      const release = holdAnswersBack()
      const running = askMany()
      await upstream.requestNumber(CLIENTS - 1)
      await postgres.restart(mode)
      release()
      const calls = await running
      expect(new Set(calls.map(outcomeOf))).toEqual(new Set(['200 complete']))
      const charges = await charged()
      expect(calls.filter(({ requestId }) => !charges.has(String(requestId)))).toEqual([])
      expect(charges.size).toBe(before + CLIENTS)
    },
  )

  test('causes nothing worse than 503 with retry-after', async () => {
    const before = (await charged()).size
    await postgres.restart('immediate')
    const calls = await askMany()
    for (const call of calls) expect(['200 complete', '503 complete']).toContain(outcomeOf(call))
    expectTimeToComeBack(calls)
    await untilServed()
    const answered = calls.filter(({ status }) => status === 200).length
    // Plus one for the request that `untilServed` got through.
    expect((await charged()).size).toBe(before + answered + 1)
  })
})

describe('a database that is down longer than an answer waits for its charge', () => {
  // This gateway may not have found the database again since the restarts.
  beforeAll(untilServed)

  test('turns answers into 503, still charges what was delivered, and recovers', async () => {
    const release = holdAnswersBack()
    const running = askMany()
    await upstream.requestNumber(CLIENTS - 1)
    await postgres.stop()
    // The gateway must have noticed the outage: it would wait for a commit on a lost connection, which may have happened.
    await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 503)
    release()
    const calls = await running
    // Streams were delivered except for their end. Other answers were not delivered and cost nothing.
    const outcomes = calls.map(outcomeOf)
    expect(new Set(outcomes)).toEqual(new Set(['200 cut', '503 complete']))
    expectTimeToComeBack(calls)
    // A call that is charged later must not report that nothing was charged.
    for (const call of calls) {
      const error = call.isComplete ? call : errorFrameOf(call)
      const known = call.isComplete ? 'Nothing was charged' : 'may still be made'
      expect(error.message).toContain(known)
      expect(error.requestId).toBe(call.requestId)
    }
    const refused = await ask()
    expect([refused.status, refused.code]).toEqual([503, 'service_unavailable'])

    await postgres.start()
    await untilServed()
    const cut = calls.filter(({ isComplete }) => !isComplete).map(({ requestId }) => String(requestId))
    await until(async () => {
      const charges = await charged()
      return cut.every((requestId) => charges.has(requestId))
    })
    const charges = await charged()
    expect(calls.filter(({ status, requestId }) => status === 503 && charges.has(String(requestId)))).toEqual(
      [],
    )
  })
})

test('a stream whose charge was not confirmed is replayed under its idempotency key and charged once', async () => {
  const headers = { 'idempotency-key': 'unconfirmed' }
  const before = (await charged()).size
  const release = holdAnswersBack()
  const running = ask(true, headers)
  await upstream.requestNumber(0)
  await postgres.stop()
  await until(async () => (await fetch(`${gateway.url}/readyz`)).status === 503)
  release()
  const first = await running
  expect(outcomeOf(first)).toBe('200 cut')
  expect(errorFrameOf(first)).toMatchObject({ code: 'service_unavailable', requestId: first.requestId })

  await postgres.start()
  const again = await until(async () => {
    const call = await ask(true, headers)
    expect([200, 409, 503]).toContain(call.status)
    return call.status === 200 ? call : null
  })
  expect(again.headers['idempotent-replayed']).toBe('true')
  expect(again.headers['original-request']).toBe(first.requestId)
  expect(again.isComplete).toBe(true)
  const [given] = first.text.split('data: {"error"')
  expect(again.text).toBe(`${given}data: [DONE]\n\n`)
  expect(upstream.requests).toHaveLength(1)
  await until(async () => (await charged()).has(String(first.requestId)))
  expect((await charged()).size).toBe(before + 1)
})

/** Parses the error frame at the end of a stream. */
function errorFrameOf({ text }: Call): { code: string; message: string; requestId: string } {
  const frame = text.trimEnd().split('\n\n').at(-1) ?? ''
  const { error } = JSON.parse(frame.slice('data: '.length))
  return { code: error.code, message: error.message, requestId: error.request_id }
}

/** Until the returned function is called, streams pause before their last chunks and other answers do not start. */
function holdAnswersBack(): () => void {
  upstream.requests.length = 0
  const { promise, resolve } = Promise.withResolvers<void>()
  upstream.respondWith((request) => {
    const reply = answer(request)
    if (!isStreamed(request)) return promise.then(() => reply)
    const [head = '', ...rest] = reply.chunks
    return { ...reply, chunks: [head], more: afterwards(promise, rest) }
  })
  return () => {
    resolve()
    upstream.respondWith(answer)
  }
}

async function* afterwards<Chunk>(opened: Promise<void>, chunks: readonly Chunk[]): AsyncGenerator<Chunk> {
  await opened
  yield* chunks
}

function answer(request: { text: string }) {
  return isStreamed(request) ? stream(chunksOf('Hello', ' there')) : completion()
}

function isStreamed({ text }: { text: string }): boolean {
  return text.includes('"stream":true')
}

function outcomeOf({ status, isComplete }: Call): string {
  return `${status} ${isComplete ? 'complete' : 'cut'}`
}

function expectTimeToComeBack(calls: readonly Call[]): void {
  const refused = calls.filter(({ status }) => status === 503)
  expect(refused.filter(({ headers }) => !/^[1-9]\d*$/.test(String(headers['retry-after'])))).toEqual([])
  expect(refused.filter(({ code }) => code !== 'service_unavailable')).toEqual([])
}

async function untilServed(): Promise<void> {
  await until(async () => {
    const call = await ask()
    expect(['200 complete', '503 complete']).toContain(outcomeOf(call))
    return call.status === 200
  })
}

async function charged(): Promise<Set<string>> {
  const charges = await until(() => fleet.readCharges(spender.accountId).catch(() => null))
  return new Set(charges.map(({ requestId }) => requestId))
}
