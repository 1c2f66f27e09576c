import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { startGatewayInBetween } from './gateway-in-between.ts'
import { KEY, startInTerminal } from './in-terminal.ts'
import { createHome, signIn, type Home } from './run-parkway.ts'

let gateway: TestGateway

beforeAll(async () => {
  gateway = await startTestGateway()
})
afterAll(() => gateway.close())

const models = ['-m', 'gpt-4o-mini', '-m', 'gpt-5.4']
const WIDE = { columns: 150 }

/** Creates a home that is signed in to a server in front of the gateway. That server may answer by itself. */
async function signInThrough(answer: (path: string, response: ServerResponse) => boolean) {
  const between = await startGatewayInBetween(gateway.baseUrl, answer)
  const home = await createHome()
  onTestFinished(async () => {
    await home.remove()
    await between.close()
  })
  await signIn(home, { baseUrl: between.baseUrl, key: gateway.key })
  const count = (pattern: RegExp): number => between.paths.filter((path) => pattern.test(path)).length
  return { home, count }
}
const READ = /\/v1\/compare\/runs\/[\w-]+$/
const STREAM = /\/stream$/

async function startRun(prompt: string): Promise<string> {
  const body = { models: ['gpt-4o-mini', 'gpt-5.4'], prompt }
  return (await gateway.request('POST', '/v1/compare/runs', { body })).body.id
}
const cancel = (id: string) => gateway.request('POST', `/v1/compare/runs/${id}/cancel`)

describe('the live grid of a run', () => {
  test('shows what the lanes write, and reads the run seldom while its stream is open', async () => {
    const { home, count } = await signInThrough(() => false)
    const numbers = Array.from({ length: 1_000 }, (_, index) => index).join(' ')
    const id = await startRun(`[[sandbox:pace tps=20]] [[sandbox:echo ${numbers}]]`)
    const terminal = startInTerminal(home, ['compare', 'show', '--follow', id], WIDE)
    // Two different ends of the same text: it was drawn again as it grew.
    const line = /^gpt-4o-mini +░{20} 0\/1, \$[\d.]+ {2}(\S.+)$/m
    const first = line.exec(await terminal.waitFor(line))?.[1] ?? ''
    await expect.poll(() => line.exec(terminal.screen())?.[1]).not.toBe(first)
    const [reads, beganMs] = [count(READ), performance.now()]
    await expect.poll(() => line.exec(terminal.screen())?.[1], { timeout: 10_000 }).toMatch(/^….* 60\b/)
    // Without a stream it would be two a second.
    const seconds = (performance.now() - beganMs) / 1_000
    expect(count(READ) - reads).toBeLessThanOrEqual(1 + seconds / 2)
    expect(count(STREAM)).toBe(1)
    await cancel(id)
    await terminal.waitFor(/^status +cancelled/m)
    expect(await terminal.ended()).toBe(0)
  })

  test('is left by Ctrl-C, and the run goes on', async () => {
    const { home } = await signInThrough(() => false)
    const id = await startRun('[[sandbox:hang]] hello')
    const terminal = startInTerminal(home, ['compare', 'show', '-f', id], WIDE)
    await terminal.waitFor('0/1')
    terminal.type(KEY.interrupt)
    await terminal.waitFor(`The run ${id} goes on.`)
    expect(await terminal.ended()).toBe(130)
    expect((await gateway.request('GET', `/v1/compare/runs/${id}`)).body.status).toBe('running')
    await cancel(id)
  })

  test('works with a gateway that has no stream of runs', async () => {
    const { home, count } = await signInThrough((path, response) => {
      if (!STREAM.test(path)) return false
      response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"code":"not_found"}}')
      return true
    })
    await followToEnd(home)
    expect(count(STREAM)).toBe(1)
    expect(count(READ)).toBeGreaterThan(2)
  })

  test('goes on when its stream is cut', async () => {
    const { home, count } = await signInThrough((path, response) => {
      if (!STREAM.test(path)) return false
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: {"type":"text","lane_id"', () => response.destroy())
      return true
    })
    await followToEnd(home)
    expect(count(STREAM)).toBeGreaterThan(0)
  })

  async function followToEnd(home: Home): Promise<void> {
    const terminal = startInTerminal(
      home,
      ['compare', 'run', ...models, '[[sandbox:latency ms=1500]] hello'],
      WIDE,
    )
    await terminal.waitFor('0/1')
    await terminal.waitFor('status   completed')
    expect(await terminal.ended()).toBe(0)
  }
})

test('a model that writes escape sequences cannot control the terminal', async () => {
  const { home } = await signInThrough((path, response) => {
    if (!STREAM.test(path)) return false
    const [, runId = ''] = /runs\/([\w-]+)\/stream/.exec(path) ?? []
    void gateway.request('GET', `/v1/compare/runs/${runId}`).then(({ body }) => {
      const event = { type: 'text', prompt_index: 0, repeat: 0, lane_id: body.lanes[0].id, offset: 0 }
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write(
        `data: ${JSON.stringify({ ...event, text: 'red\u001B[2J\u001B]0;title\u0007\n\rblue' })}\n\n`,
      )
    })
    return true
  })
  const id = await startRun('[[sandbox:hang]] hello')
  const terminal = startInTerminal(home, ['compare', 'show', '-f', id], WIDE)
  await terminal.waitFor('red[2J]0;title blue')
  expect(terminal.raw()).not.toContain('\u001B]0;')
  terminal.type(KEY.interrupt)
  await terminal.ended()
  await cancel(id)
})
