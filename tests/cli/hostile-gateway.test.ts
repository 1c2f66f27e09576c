import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createOutput } from '../../cli/output/terminal.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { DOCUMENTED_COMMANDS, wordsOf } from './documented-commands.ts'
import { createHome, type Home } from './run-parkway.ts'

const ROOT = resolve(import.meta.dirname, '../..')
/** Sets the title, clears the screen, asks the terminal to answer, hides text, turns the direction, goes back on the line. */
const ORDERS = '\u001b]0;owned\u0007\u001b[2J\u001b[6n\u001b[8m\u009b31m\u202e\u2066\u007f\r\u0000'
// oxlint-disable-next-line no-control-regex -- what a terminal must not get
const OBEYED = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
const COMMAND_MS_MAX = 15_000
/** Without these a command would end before it prints. The second walk changes them too. */
const STEERING = /^(?:id|.*_id|object|status|.*url|.*_at|type|task_type|kind|format|role|fit|period)$/

let homes: Home[]
let server: Server
let baseUrl: string
let operations: { readonly method: string; readonly pattern: RegExp; readonly answer: unknown }[]
let sparesSteering = true

beforeAll(async () => {
  const gateway = await startTestGateway()
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  await gateway.close()
  operations = Object.entries(document.paths as Record<string, Record<string, Operation>>).flatMap(
    ([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        pattern: new RegExp(`^${path.replaceAll(/\{[^}]+\}/g, '[^/]+').replaceAll('.', '\\.')}$`),
        answer: exampleOf(operation),
      })),
  )
  server = createServer((request, response) => {
    request.resume()
    const path = (request.url ?? '').split('?')[0] ?? ''
    if (path === '/v1/chat/completions')
      return void response.writeHead(200, { 'content-type': 'text/event-stream' }).end(chatStream())
    const found = operations.find(({ method, pattern }) => method === request.method && pattern.test(path))
    const answer = found?.answer ?? {
      error: { message: 'Nothing here.', type: 'x', code: 'not_found', param: null },
    }
    response
      .writeHead(found?.answer === undefined ? 404 : 200, {
        'content-type': 'application/json',
        'x-request-id': 'req_1',
      })
      .end(JSON.stringify(poison(answer)))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  homes = await Promise.all(Array.from({ length: HOMES }, createHome))
})

afterAll(async () => {
  server.closeAllConnections()
  server.close()
  for (const home of homes) await home.remove()
})

interface Described {
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value?: unknown }>>
}

interface Operation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Described>> }>>
}

function exampleOf({ responses }: Operation): unknown {
  const [, answer] = Object.entries(responses).find(([status]) => status.startsWith('2')) ?? []
  const json = answer?.content?.['application/json']
  return json?.example ?? Object.values(json?.examples ?? {})[0]?.value
}

function poison(value: unknown, name = ''): unknown {
  if (typeof value === 'string') return sparesSteering && STEERING.test(name) ? value : `${value}${ORDERS}`
  if (Array.isArray(value)) return value.map((item) => poison(item, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, poison(item, key)]))
}

function chatStream(): string {
  const chunk = { id: 'x', object: 'chat.completion.chunk', created: 1, model: `m${ORDERS}` }
  const choice = { index: 0, delta: { content: `Hello ${ORDERS}` }, finish_reason: null }
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, cost_usd: 0.1 }
  const frames = [
    { ...chunk, choices: [choice] },
    { ...chunk, choices: [{ ...choice, delta: {}, finish_reason: 'stop' }], usage },
  ]
  return `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`
}

/** Commands that need no gateway, or that go on until they are interrupted. */
const NOT_RUN = new Set([
  'parkway proxy',
  'parkway completion',
  'parkway connect',
  'parkway logout',
  'parkway profiles',
])
/** A pipe gets these byte for byte, as the model or the engine wrote them. */
const COPIED = new Set(['parkway chat', 'parkway run', 'parkway deploy logs', 'parkway compare export'])

const SOME_ID = '01a1e900-0fc9-7eff-b14c-dd4471e0969d'
const EXAMPLES = DOCUMENTED_COMMANDS.filter(([name]) => !NOT_RUN.has(name))

/** Each runs one command after the other. Most of the time goes to commands that go on until they are killed. */
const HOMES = 3

test.each([true, false])(
  'no command prints the orders of a hostile gateway to a terminal (its ids and states are as usual: %s)',
  async (isUsual) => {
    sparesSteering = isUsual
    const results: { name: string; code: number | null; text: string }[] = []
    const waiting = [...EXAMPLES]
    const work = async (home: Home): Promise<void> => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [name, example] = next
        const { code, stdout, stderr } = await home.run(
          wordsOf(example, () => SOME_ID),
          {
            stdin: 'pk-dev-HostileHostileHostileHostileHostile\n',
            environment: {
              PARKWAY_BASE_URL: baseUrl,
              PARKWAY_API_KEY: 'pk-dev-HostileHostileHostileHostileHostile',
            },
            msMax: COMMAND_MS_MAX,
          },
        )
        results.push({ name, code, text: COPIED.has(name) ? stderr : stdout + stderr })
      }
    }
    await Promise.all(homes.map(work))
    expect(
      results.filter(({ text }) => OBEYED.test(text)).map(({ name, text }) => [name, OBEYED.exec(text)]),
    ).toEqual([])
    // The walk is of worth only if many commands come to their print.
    if (isUsual) expect(results.filter(({ code }) => code === 0).length).toBeGreaterThan(25)
  },
  600_000,
)

test('on a screen nothing of foreign text is obeyed, and styles of our own are kept', () => {
  const written: string[] = []
  const stream = {
    isTTY: true,
    write: (text: string) => written.push(text),
    hasColors: () => true,
  } as unknown as NodeJS.WriteStream
  const output = createOutput({ stdout: stream, stderr: stream })
  for (const name of ['write', 'copy', 'line', 'note'] as const) output[name](`a${ORDERS}b`)
  for (const text of written) expect(OBEYED.test(text)).toBe(false)
  output.line('\u001b[1mbold\u001b[22m')
  expect(written.at(-1)).toBe('\u001b[1mbold\u001b[22m\n')
})

/** Where streams of the process are written: the printer, what draws on a screen, and messages that clean their text. */
const WRITERS = new Set([
  'output/terminal.ts',
  'output/live-lines.ts',
  'output/bars/progress-bar.ts',
  'repl/keyboard.ts',
  'compare/run-grid.ts',
  'program.ts',
  'run-client.ts',
  'document-commands.ts',
])

test('no other file of the command line writes to the streams of the process', () => {
  const files = readdirSync(join(ROOT, 'cli'), { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  )
  const writing = files.filter((name) =>
    /\b(?:stdout|stderr|stream)\.write\(|console\.\w+\(/.test(readFileSync(join(ROOT, 'cli', name), 'utf8')),
  )
  expect(writing.filter((name) => !WRITERS.has(name))).toEqual([])
})
