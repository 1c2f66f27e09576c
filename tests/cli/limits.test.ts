import type { ChildProcess } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { eventually } from '../support/eventually.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway, { isSignedIn: false })
let limited: Record<string, string>

beforeAll(async () => {
  const { body } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
    body: { name: 'slow', env: 'dev', scopes: ['inference'], requests_per_minute: 1 },
  })
  limited = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: body.key }
  await gateway.request('POST', '/v1/chat/completions', {
    key: body.key,
    body: { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] },
  })
})

describe('a rate limit', () => {
  test('ends with 6 and says how long to wait', async () => {
    const { code, stdout, stderr } = await home.run(['chat', 'x'], { environment: limited })
    expect([code, stdout]).toEqual([6, ''])
    expect(stderr).toMatch(/Try again in \d+ s, or let the command wait with --wait\.\n {2}Request id: req_/)
  })

  test('is waited for with --wait, and an interruption ends the wait with 130', async () => {
    let child: ChildProcess | undefined
    let notes = ''
    const running = home.run(['chat', '--wait', 'x'], {
      environment: limited,
      onStart(started) {
        child = started
        started.stderr?.on('data', (part: Buffer) => (notes += part.toString()))
      },
    })
    await eventually(() => expect(notes).toMatch(/Waiting \d+ s\./))
    child?.kill('SIGINT')
    expect((await running).code).toBe(130)
  })
})

describe('a gateway that is limited once', () => {
  let server: Server
  let answers: (() => { status: number; retryAfter?: string; body: object })[]
  let environment: Record<string, string>

  beforeAll(async () => {
    server = createServer((_, response) => {
      const { status, retryAfter, body } = (answers.shift() ?? refused('1'))()
      const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter }
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      response.end(JSON.stringify(body))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'x' }
  })
  afterAll(() => void server.close())

  const refused = (retryAfter?: string) => () => ({
    status: 429,
    ...(retryAfter === undefined ? {} : { retryAfter }),
    body: { error: { message: 'Too many requests.', code: 'rate_limit_exceeded' } },
  })

  /** The price of a model that is named is asked for first. */
  const noSuchModel = () => ({
    status: 404,
    body: { error: { message: 'No such model.', code: 'model_not_found' } },
  })

  test('answers after the time that it told, with --wait before or after the words', async () => {
    answers = [refused('1'), refused('0'), () => ({ status: 200, body: { object: 'list', data: [] } })]
    const { code, stderr } = await home.run(['models', 'list', '--json', '--wait'], { environment })
    expect([code, stderr]).toEqual([0, 'Too many requests. Waiting 1 s.\nToo many requests. Waiting 0 s.\n'])
  })

  test.each([
    ['--wait', '--no-wait'],
    ['--no-wait', '--wait'],
  ])('takes an order with %s %s: waits for the limit, and not for the task', async (...flags) => {
    answers = [noSuchModel, refused('0'), () => ({ status: 202, body: { id: 'task-1', status: 'pending' } })]
    const { code, stdout, stderr } = await home.run(['image', '-m', 'any', ...flags, 'A tree'], {
      environment,
    })
    expect([code, stdout, stderr]).toEqual([0, 'task-1\n', 'Too many requests. Waiting 0 s.\n'])
  })

  test('is not waited for with --no-wait alone', async () => {
    answers = [noSuchModel, refused('0'), () => ({ status: 202, body: { id: 'task-1', status: 'pending' } })]
    const { code, stdout } = await home.run(['image', '-m', 'any', '--no-wait', 'A tree'], { environment })
    expect([code, stdout]).toEqual([6, ''])
  })

  test('is not waited for longer than ten minutes, and not if it names no time', async () => {
    answers = [refused('601')]
    const long = await home.run(['models', 'list', '--wait'], { environment })
    expect([long.code, long.stderr]).toEqual([6, expect.stringContaining('Try again in 601 s.')])
    answers = [refused()]
    expect((await home.run(['models', 'list', '--wait'], { environment })).code).toBe(6)
  })

  test.each([
    [401, 'invalid_api_key', 3, 'parkway login'],
    [402, 'insufficient_balance', 5, 'parkway topup'],
    [402, 'key_limit_reached', 5, 'parkway keys'],
    [404, 'not_found', 4, ''],
    [500, 'internal_error', 1, ''],
    [503, 'service_unavailable', 1, ''],
  ])('status %i with %s ends with %i', async (status, errorCode, exitCode, advice) => {
    const message = 'No\u001b]0;title\u0007.'
    answers = [() => ({ status, body: { error: { message, code: errorCode } } })]
    const { code, stderr } = await home.run(['whoami'], { environment })
    expect([code, stderr]).toEqual([exitCode, expect.stringContaining(advice)])
    expect(stderr).toContain('parkway: No]0;title.')
  })
})
