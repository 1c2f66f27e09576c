import { afterAll, beforeAll, expect, test } from 'vitest'
import { isRecord } from '../../src/kernel/is-record.ts'
import { longOr } from '../support/long-or.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** Names that every plain object answers to. */
const NAMES = ['toString', 'constructor', '__proto__', 'hasOwnProperty', 'valueOf']
/** What a member of `Object.prototype` looks like in a sentence. */
const LEAKED = /undefined|native code|\[object|\bfunction \w*\(/
/** Statuses of a dependency that is missing, such as the model hub. */
const DOCUMENTED_FAILURES = [502, 503]

interface Operation {
  readonly requestBody?: { content: Record<string, { example?: unknown }> }
  readonly parameters?: readonly { name: string; in: string }[]
}

let gateway: TestGateway
let operations: readonly { name: string; method: string; path: string; operation: Operation }[]

beforeAll(async () => {
  gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '10000' } })
  const { body } = await gateway.request('GET', '/openapi.json', { key: null })
  const paths: Record<string, Record<string, Operation>> = body.paths
  operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      name: `${method.toUpperCase()} ${path}`,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000'),
      operation,
    })),
  )
})
afterAll(() => gateway.close())

/** Adds the names as members to each object in the value. */
function withMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withMembers)
  if (!isRecord(value)) return value
  const members = Object.entries(value).map(([name, member]) => [name, withMembers(member)])
  return Object.fromEntries([...NAMES.map((name) => [name, 'x']), ...members])
}

let places = 0

/** The names for one place. In `npm test` each place gets the next name, so that a route gets all of them in its places. */
function namesForPlace(): readonly string[] {
  places += 1
  return longOr(
    NAMES,
    NAMES.filter((_, index) => index === places % NAMES.length),
  )
}

/** Yields the value once for each text in it and each of its names, with the name instead of the text. */
function* withValues(value: unknown): Generator {
  if (typeof value === 'string') yield* namesForPlace()
  else if (Array.isArray(value))
    for (const changed of withValues(value[0])) yield [changed, ...value.slice(1)]
  else if (isRecord(value))
    for (const [name, member] of Object.entries(value))
      for (const changed of withValues(member)) yield { ...value, [name]: changed }
}

async function send(name: string, method: string, path: string, body?: unknown): Promise<string> {
  const answer = await gateway.fetch(method, path, {
    ...(body === undefined ? {} : { body }),
    headers: { prefer: 'respond-async' },
  })
  const text = answer.status >= 400 ? await answer.text() : ''
  if (answer.status < 400) await answer.body?.cancel()
  const isFailure = answer.status >= 500 && !DOCUMENTED_FAILURES.includes(answer.status)
  expect([name, body, isFailure ? answer.status : 0, LEAKED.test(text) ? text : '']).toEqual([
    name,
    body,
    0,
    '',
  ])
  return text
}

test('unknown members with names of every object are ignored on every route', async () => {
  for (const { name, method, path, operation } of operations) {
    const example = operation.requestBody?.content['application/json']?.example
    if (!isRecord(example)) continue
    const top = Object.fromEntries([...Object.entries(example), ...NAMES.map((one) => [one, 'x'])])
    const text = await send(name, method, path, top)
    // Rights and limits of keys refuse every name they do not know, so that a misspelt limit is noticed.
    const isStrict = (await send(name, method, path, { ...example, zzz: 'x' })).includes('"param":"zzz"')
    const refused = NAMES.filter((one) => text.includes(`"param":"${one}"`))
    if (!isStrict) expect([name, refused]).toEqual([name, []])
    await send(name, method, path, withMembers(example))
  }
})

test('values with names of every object find nothing on any route', async () => {
  for (const { name, method, path, operation } of operations) {
    const example = operation.requestBody?.content['application/json']?.example
    for (const body of withValues(example)) if (isRecord(body)) await send(name, method, path, body)
    for (const parameter of operation.parameters ?? [])
      if (parameter.in === 'query' && method === 'GET')
        for (const value of namesForPlace())
          await send(name, method, `${path}?${parameter.name}=${value}&${value}=1`)
  }
})

test.each(['/v1/videos/generations', '/v1/audio/music', '/v1/images/generations', '/v1/audio/speech'])(
  'unknown members of every object do not refuse a request to %s',
  async (path) => {
    const { operation } = operations.find(({ name }) => name === `POST ${path}`) ?? {}
    const example = operation?.requestBody?.content['application/json']?.example
    const body = Object.fromEntries([...Object.entries(Object(example)), ...NAMES.map((one) => [one, 1])])
    const answer = await gateway.fetch('POST', path, { body })
    await answer.body?.cancel()
    expect([200, 202]).toContain(answer.status)
  },
)
