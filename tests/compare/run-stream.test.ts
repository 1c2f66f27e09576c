import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readEvents, readPieces } from '../chat/read-events.ts'
import type { ChatGateway } from '../chat/start-chat-gateway.ts'
import { chunk, chunksOf, failure, pacedStream } from '../upstreams/openai-server.ts'
import { createStranger, speakers, startCompareGateway, startFrontGateway } from './start-compare-gateway.ts'
import { makeRun, readCells, RUNS, waitForRun } from './wait-for-run.ts'

let gateway: ChatGateway
/** Another process on the same database that works on no runs. */
let front: ChatGateway

beforeAll(async () => {
  gateway = await startCompareGateway(['red', 'blue'])
  front = await startFrontGateway(gateway, ['red', 'blue'])
})

afterAll(async () => {
  await front.close()
  await gateway.close()
})

async function begin(members: object = {}) {
  const [red, blue] = [pacedStream(), pacedStream()]
  gateway.upstream.respondWith(speakers({ red: red.reply, blue: blue.reply }))
  const body = { models: ['red', 'blue'], prompt: 'Hi', ...members }
  const { body: run } = await gateway.request('POST', RUNS, { body })
  const finish = (): void => {
    for (const lane of [red, blue]) {
      for (const entry of chunksOf(' and the end')) lane.release(entry)
      lane.finish()
    }
  }
  return { run, red, blue, finish }
}
const part = (content: string) => chunk({ delta: { role: 'assistant', content } })
const open = (id: string, from = gateway, signal?: AbortSignal) =>
  from.fetch('GET', `${RUNS}/${id}/stream`, { ...(signal && { signal }) })

interface StreamEvent {
  readonly type: string
  readonly lane_id: string
  readonly offset: number
  readonly text: string
}

/** Builds the texts of all lanes, as a client does. */
function textsOf(events: readonly StreamEvent[]): Map<string, string> {
  const texts = new Map<string, string>()
  for (const { type, lane_id: laneId, offset, text } of events)
    if (type === 'text') texts.set(laneId, (texts.get(laneId) ?? '').slice(0, offset) + text)
  return texts
}

const eventsOf = (text: string) =>
  text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)))

describe('the stream of a run', () => {
  test.each([
    ['the process that works on it', () => gateway],
    ['another process', () => front],
  ])('has the answers while they are written, by %s', async (_, from) => {
    const { run, red, blue, finish } = await begin()
    red.release(part('Hello from red'))
    const response = await open(run.id, from())
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const reader = readPieces(response)
    // Written before anybody followed.
    await reader.until(/from red/)
    blue.release(part('Hello \u{1F600} from blue'))
    await reader.until(/from blue/)
    expect((await gateway.request('GET', `${RUNS}/${run.id}`)).body.status).toBe('running')
    red.release(part(', again'))
    await reader.until(/again/)
    finish()
    const events = eventsOf(await reader.until(/\[DONE\]/))
    expect(events.at(-1)).toEqual({ type: 'end', status: 'completed' })
    const texts = textsOf(events)
    expect(texts.get(run.lanes[0].id)).toMatch(/^Hello from red, again/)
    expect(texts.get(run.lanes[1].id)).toMatch(/^Hello \u{1F600} from blue/u)
  })

  test('tells which cells have ended, and the results have them', async () => {
    const { run, red, blue, finish } = await begin()
    blue.release(part('slow'))
    const reader = readPieces(await open(run.id))
    await reader.until(/slow/)
    for (const entry of chunksOf('quick')) red.release(entry)
    red.finish()
    const events = eventsOf(await reader.until(/"type":"cell"/))
    expect(events.find(({ type }) => type === 'cell')).toEqual({
      type: 'cell',
      prompt_index: 0,
      repeat: 0,
      lane_id: run.lanes[0].id,
      status: 'completed',
    })
    expect((await readCells(gateway, run.id)).map(({ output }) => output)).toEqual(['quick', null])
    finish()
    await reader.until(/\[DONE\]/)
  })

  test('begins an answer anew that is tried again', async () => {
    const { run, red, finish } = await begin()
    let tries = 0
    const retried = pacedStream()
    gateway.upstream.respondWith((request) => {
      if (Object(request.body).model === 'blue') return { ...retried.reply }
      tries += 1
      if (tries > 1) return red.reply
      return failure(500)
    })
    red.release(part('second try'))
    const reader = readPieces(await open(run.id))
    const events = eventsOf(await reader.until(/second try/))
    expect(textsOf(events).get(run.lanes[0].id)).toBe('second try')
    for (const entry of chunksOf('x')) retried.release(entry)
    retried.finish()
    finish()
    await reader.until(/\[DONE\]/)
  })

  test('names the lanes of a blind run as its results do, and nothing else tells them', async () => {
    const { run, red, blue, finish } = await begin({ blind: true })
    red.release(part('one'))
    blue.release(part('two'))
    const reader = readPieces(await open(run.id))
    await reader.until(/one/)
    await reader.until(/two/)
    finish()
    const text = await reader.until(/\[DONE\]/)
    for (const { id, model } of run.lanes) {
      expect(text).not.toContain(id)
      expect(text).not.toContain(model)
    }
    await waitForRun(gateway, run.id)
    const cells = await readCells(gateway, run.id)
    const texts = textsOf(eventsOf(text))
    for (const { lane_id: laneId, output } of cells) expect(output).toContain(texts.get(laneId))
    const events = eventsOf(text).filter(({ type }) => type === 'text')
    for (const event of events)
      expect(Object.keys(event)).toEqual(['type', 'prompt_index', 'repeat', 'lane_id', 'offset', 'text'])
  })

  test('ends at once for a run that has ended, and is 404 for another account', async () => {
    gateway.upstream.respondWith(speakers({ red: () => 'r', blue: () => 'b' }))
    const { id } = await makeRun(gateway, { models: ['red', 'blue'], prompt: 'Hi' })
    const { chunks, isDone } = await readEvents(await open(id))
    expect([chunks, isDone]).toEqual([[{ type: 'end', status: 'completed' }], true])
    const key = await createStranger(gateway)
    const theirs = await gateway.request('GET', `${RUNS}/${id}/stream`, { key })
    const nobodys = await gateway.request('GET', `${RUNS}/nonsense/stream`, { key })
    expect([theirs.status, nobodys.status]).toEqual([404, 404])
  })

  test('changes nothing of the run or its cost when the client disconnects', async () => {
    const { run, red, finish } = await begin()
    const client = new AbortController()
    red.release(part('Hello'))
    const reader = readPieces(await open(run.id, gateway, client.signal))
    await reader.until(/Hello/)
    client.abort()
    finish()
    const ended = await waitForRun(gateway, run.id)
    expect([ended.status, ended.cells_done]).toEqual(['completed', 2])
    const sum = (await readCells(gateway, run.id)).reduce((total, { cost_usd: cost }) => total + cost, 0)
    expect(ended.cost_usd).toBeCloseTo(sum, 9)
    expect(sum).toBeGreaterThan(0)
  })

  test('is refused above ten of an account, and again open when one of them is closed', async () => {
    const { run, finish } = await begin()
    const client = new AbortController()
    const ten = await Promise.all(Array.from({ length: 10 }, () => open(run.id, gateway, client.signal)))
    expect(ten.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))
    const { status, headers, body } = await gateway.request('GET', `${RUNS}/${run.id}/stream`)
    expect([status, body.error.code]).toEqual([429, 'concurrency_limit_reached'])
    expect(headers.get('retry-after')).not.toBeNull()
    client.abort()
    await expect
      .poll(async () => {
        const another = await open(run.id)
        await another.body?.cancel()
        return another.status
      })
      .toBe(200)
    finish()
    await waitForRun(gateway, run.id)
  })
})
