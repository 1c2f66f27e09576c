import { afterAll, beforeAll, expect, test } from 'vitest'
import { longOr } from '../support/long-or.ts'
import { testSeed } from '../support/random-share.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** The members of a JSON schema that are needed to build values that it refuses. */
interface Schema {
  readonly $ref?: string
  readonly type?: string
  readonly format?: string
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

interface Operation {
  readonly requestBody?: { content: Record<string, { schema?: Schema; example?: Record<string, unknown> }> }
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
}

/** Words of JSON Schema and of its validators, which say nothing to people who call an API. */
const JARGON =
  /\bmust match\b|\bformat "|\bmust NOT\b|\bfewer than\b|[<>]=|\b(?:anyOf|oneOf|allOf|additionalProperties|minLength|maxLength|exclusiveMinimum|minItems|enum|const|schema|keyword)\b|\bof type\b|\bpropert(?:y|ies)\b/
const DEPTH_MAX = 4
/** Of the wrong values of an operation, `npm test` sends the first and one of as many. */
const ONE_OF = longOr(1, 3)
/** Components whose values were tried already, on another route. */
const tried = new Set<string>()

let gateway: TestGateway
let document: {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

beforeAll(async () => {
  gateway = await startTestGateway()
  document = (await gateway.request('GET', '/openapi.json', { key: null })).body
})
afterAll(() => gateway.close())

interface Wrong {
  readonly path: readonly (string | number)[]
  readonly value: unknown
}

/** Values that a schema refuses, at each place of it. */
function* wrongValues(schema: Schema, path: Wrong['path'] = []): Generator<Wrong> {
  if (path.length > DEPTH_MAX) return
  const name = schema.$ref?.split('/').at(-1)
  const known = name === undefined || tried.has(name) ? undefined : document.components.schemas[name]
  if (name !== undefined) tried.add(name)
  if (known !== undefined) yield* wrongValues(known, path)
  for (const value of refusedBy(schema)) yield { path, value }
  for (const branch of schema.anyOf ?? []) yield* wrongValues(branch, path)
  if (schema.items !== undefined) yield* wrongValues(schema.items, [...path, 0])
  for (const [member, inner] of Object.entries(schema.properties ?? {}))
    yield* wrongValues(inner, [...path, member])
}

function shareOf(wrong: Iterable<Wrong>): Wrong[] {
  return [...wrong].filter((_, index) => index === 0 || (index + testSeed) % ONE_OF === 0)
}

function refusedBy(schema: Schema): unknown[] {
  const { type, format, minimum, maximum, exclusiveMinimum: above, minLength, maxLength, minItems } = schema
  return [
    ...(type === undefined ? [] : [type === 'object' ? 5 : { wrong: true }]),
    ...(type === 'integer' ? [0.5] : []),
    ...(format === undefined ? [] : ['wrong']),
    ...(minimum === undefined ? [] : [minimum - 1]),
    ...(maximum === undefined ? [] : [maximum + 1]),
    ...(above === undefined ? [] : [above]),
    ...(minLength === undefined || minLength === 0 ? [] : ['']),
    ...(maxLength === undefined || maxLength > 10_000 ? [] : ['x'.repeat(maxLength + 1)]),
    ...(minItems === undefined || minItems === 0 ? [] : [[]]),
    ...(schema.enum === undefined && schema.const === undefined ? [] : ['wrong']),
  ]
}

/** Returns the value with another one at this path. */
function withAt(value: unknown, [name, ...rest]: Wrong['path'], wrong: unknown): unknown {
  if (name === undefined) return wrong
  if (typeof name === 'number') return [withAt(Array.isArray(value) ? value[0] : undefined, rest, wrong)]
  const members: Record<string, unknown> = Object(value)
  return { ...members, [name]: withAt(members[name], rest, wrong) }
}

test('no message of any route has words of JSON Schema', async () => {
  const found = new Map<string, string>()
  let requests = 0
  const check = async (place: string, path: string, method: string, request: object): Promise<void> => {
    requests += 1
    const answer = await gateway.fetch(method.toUpperCase(), path, request)
    // A stream that follows something never ends.
    const isJson = answer.headers.get('content-type')?.includes('json') === true
    if (answer.status < 400 || !isJson) return answer.body?.cancel()
    const { error } = JSON.parse(await answer.text())
    const message: unknown = error?.message
    // The names of fields may be such words.
    const said = String(message).replaceAll(/'[^']*'/g, '')
    if (JARGON.test(said)) found.set(place, String(message))
  }
  for (const [template, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody, parameters = [] }] of Object.entries(operations)) {
      const path = template.replaceAll(/\{\w+\}/g, '01890000-0000-7000-8000-000000000000')
      const { schema = {}, example = {} } = requestBody?.content['application/json'] ?? {}
      for (const wrong of shareOf(wrongValues(schema)))
        await check(`${method} ${template} ${wrong.path.join('.')}`, path, method, {
          body: withAt(example, wrong.path, wrong.value),
        })
      for (const parameter of parameters) {
        const place = `${method} ${template} ${parameter.in}:${parameter.name}`
        if (parameter.in === 'query')
          for (const { value } of shareOf(wrongValues(parameter.schema)))
            await check(place, `${path}?${parameter.name}=${encodeURIComponent(String(value))}`, method, {})
        if (parameter.in === 'path')
          await check(
            place,
            template.replaceAll(/\{\w+\}/g, 'wrong'),
            method,
            requestBody === undefined ? {} : { body: example },
          )
      }
    }
  }
  expect(Object.fromEntries(found)).toEqual({})
  expect(requests).toBeGreaterThan(300)
}, 300_000)

test('a wrong value is told what is right', async () => {
  const messageOf = async (path: string, body?: object) => {
    const { body: answer } = await gateway.request(body === undefined ? 'GET' : 'POST', path, { body })
    return answer.error.message
  }
  const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
  expect(await messageOf('/v1/tasks?limit=0')).toBe("'limit' must be at least 1.")
  expect(await messageOf('/v1/chat/completions', { ...chat, n: 'two' })).toBe("'n' must be a whole number.")
  expect(await messageOf('/v1/chat/completions', { ...chat, messages: [] })).toBe(
    "'messages' must not be empty.",
  )
  expect(await messageOf('/v1/tenants/me/api-keys', { name: 'x'.repeat(201) })).toBe(
    "'name' must have at most 200 characters.",
  )
})
