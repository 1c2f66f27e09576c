import { connect } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../../src/storage/testing/test-database.ts'
import { longOr } from '../support/long-or.ts'
import { call, chatBody, openStream, refusal, until } from './call.ts'
import { createWorkplace, type Program, type StartOptions, type Workplace } from './workplace.ts'

const KEY = 'pk-dev-ShutdownShutdownShutdownShutdown'
const DEFECTS = fileURLToPath(new URL('./throw-on-signal.ts', import.meta.url))
const ENDLESS = '[[sandbox:pace tps=20]] [[sandbox:endless]]'

let workplace: Workplace
let database: TestDatabase

beforeAll(async () => {
  workplace = createWorkplace()
  database = await createTestDatabase()
})
afterAll(async () => {
  await workplace.clean()
  await database.drop()
})

async function start(
  settings: Record<string, string> = {},
  options: StartOptions = {},
): Promise<{ program: Program; url: string }> {
  const environment = { DATABASE_URL: database.connectionString, PARKWAY_BOOTSTRAP_KEY: KEY, ...settings }
  const program = workplace.start(['serve'], { ...options, environment })
  const { url } = await program.ready()
  return { program, url }
}

describe('a signal to stop', () => {
  // Both signals have one handler, and the next test sends both.
  it.each(longOr(['SIGTERM', 'SIGINT'] as const, ['SIGTERM'] as const))(
    '(%s) refuses new connections, announces it on old ones and lets streams finish',
    async (signal) => {
      const { program, url } = await start()
      const stream = await openStream(url, KEY, '[[sandbox:pace tps=20]] [[sandbox:tokens n=60]]')
      const halfway = await beginRequest(url, '/readyz')
      program.kill(signal)
      await until(async () => (await refusal(url)) === 'ECONNREFUSED')

      const readiness = await halfway.finish()
      expect(readiness).toMatch(/^HTTP\/1\.1 503 /)
      expect(readiness).toMatch(/^connection: close\r$/im)
      expect(readiness).toContain('"status":"shutting_down"')
      const text = await stream.text
      expect(text.match(/"content":"/g)?.length).toBeGreaterThanOrEqual(60)
      expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
      expect(await program.exited).toEqual({ code: 0, signal: null })
      expect(program.stderr).toMatch(/^(\nThe API key[^]*\n\n)?\nParkway is ready[^]*'\n\n$/)
      expect(program.log.at(-1)).toMatchObject({ msg: 'request', route: '/v1/chat/completions', status: 200 })
    },
  )

  it('a signal to stop that arrives twice at once, as from npm and timeout, still lets streams finish', async () => {
    const { program, url } = await start()
    const stream = await openStream(url, KEY, '[[sandbox:pace tps=20]] [[sandbox:tokens n=20]]')
    program.kill('SIGINT')
    program.kill('SIGTERM')
    expect((await stream.text).trimEnd().endsWith('data: [DONE]')).toBe(true)
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })

  it('ends streams that outlast the grace period with an error', async () => {
    const { program, url } = await start({ PARKWAY_SHUTDOWN_GRACE_MS: '100' })
    const stream = await openStream(url, KEY, ENDLESS)
    program.kill('SIGTERM')
    const text = await stream.text
    const frames = text.trimEnd().split('\n\n')
    expect(JSON.parse(frames.at(-1)?.slice('data: '.length) ?? '')).toMatchObject({
      error: { code: 'service_unavailable', message: 'The gateway is shutting down.' },
    })
    expect(text).not.toContain('[DONE]')
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })

  it('gives load balancers the configured time, and a second signal does not wait', async () => {
    const { program, url } = await start({ PARKWAY_SHUTDOWN_DELAY_MS: '600000' })
    program.kill('SIGTERM')
    const readiness = await until(async () => {
      const answer = await call('GET', `${url}/readyz`)
      return answer.status === 503 && answer
    })
    expect(readiness.body.status).toBe('shutting_down')
    const body = chatBody('Hello')
    expect(await call('POST', `${url}/v1/chat/completions`, { key: KEY, body })).toMatchObject({
      status: 200,
    })
    await until(() => {
      program.kill('SIGTERM')
      return !program.isRunning
    })
    expect(await program.exited).toEqual({ code: 130, signal: null })
  })
})

describe('an uncaught error', () => {
  it.each([
    ['SIGUSR2', 'a played defect'],
    ['SIGWINCH', 'a played rejection'],
  ] as const)('(%s) is logged and ends the process with an error', async (signal, message) => {
    const { program } = await start({}, { nodeOptions: ['--import', DEFECTS] })
    program.kill(signal)
    expect(await program.exited).toEqual({ code: 1, signal: null })
    expect(program.log.at(-1)).toMatchObject({
      level: 'error',
      msg: 'an unexpected error ends this process',
      err: { message },
    })
  })
})

/** Sends a request without its last line, so that the connection is not idle. */
async function beginRequest(url: string, path: string): Promise<{ finish(): Promise<string> }> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.setEncoding('utf8')
  socket.write(`GET /healthz HTTP/1.1\r\nhost: gateway\r\n\r\nGET ${path} HTTP/1.1\r\nhost: gateway\r\n`)
  // The first answer shows that the server has read the input so far.
  await new Promise((resolve) => {
    socket.once('data', resolve)
  })
  return {
    finish: () =>
      new Promise((resolve, reject) => {
        let text = ''
        socket.on('data', (chunk: string) => {
          text += chunk
        })
        socket.on('error', reject)
        socket.on('close', () => resolve(text))
        socket.write('\r\n')
      }),
  }
}
