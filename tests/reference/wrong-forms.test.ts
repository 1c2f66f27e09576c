import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** The members of a JSON schema that are needed to find its patterns. */
interface Schema {
  readonly $ref?: string
  readonly pattern?: string
  readonly properties?: Record<string, Schema>
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
}

interface Operation {
  readonly requestBody?: { content: Record<string, { schema?: Schema; example?: Record<string, unknown> }> }
  readonly parameters?: readonly { name: string; in: string; schema: Schema }[]
}

interface Place {
  readonly path: readonly (string | number)[]
  readonly pattern: string
}

/** No pattern of the API accepts a control character or a non-ASCII letter. */
const WRONG = '\u0001 ä'
/** The same for a header, which cannot contain control characters. */
const WRONG_HEADER = 'wröng'
/** Matches text that looks like a regular expression. */
const EXPRESSION = /\^|\$|\\[dwsu]|\[[^\]]*-[^\]]*\]|\{\d+,\d*\}|pattern/i

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

function* patternsOf(schema: Schema, path: Place['path'] = []): Generator<Place> {
  const name = schema.$ref?.split('/').at(-1)
  const known = name === undefined ? undefined : document.components.schemas[name]
  if (known !== undefined) yield* patternsOf(known, path)
  if (schema.pattern !== undefined) yield { path, pattern: schema.pattern }
  for (const branch of schema.anyOf ?? []) yield* patternsOf(branch, path)
  if (schema.items !== undefined) yield* patternsOf(schema.items, [...path, 0])
  for (const [member, inner] of Object.entries(schema.properties ?? {}))
    yield* patternsOf(inner, [...path, member])
}

/** Returns the value with `WRONG` at this path. */
function withWrong(value: unknown, [name, ...rest]: Place['path']): unknown {
  if (name === undefined) return WRONG
  if (typeof name === 'number') return [withWrong(Array.isArray(value) ? value[0] : undefined, rest)]
  const members: Record<string, unknown> = Object(value)
  return { ...members, [name]: withWrong(members[name], rest) }
}

function expectPlain(place: string, { error }: { error?: { message: string } }, pattern: string): void {
  expect([place, error?.message]).toEqual([place, expect.stringMatching(/.{10}/)])
  expect([place, error?.message.includes(pattern), EXPRESSION.test(error?.message ?? '')]).toEqual([
    place,
    false,
    false,
  ])
}

test('a value of the wrong form is 400 on every route, and no message shows a regular expression', async () => {
  const tried: string[] = []
  for (const [path, operations] of Object.entries(document.paths)) {
    for (const [method, { requestBody, parameters = [] }] of Object.entries(operations)) {
      const send = (query: string, request: object) =>
        gateway.request(method.toUpperCase(), path.replaceAll(/\{\w+\}/g, 'x') + query, request)
      const { schema = {}, example = {} } = requestBody?.content['application/json'] ?? {}
      for (const { path: place, pattern } of patternsOf(schema)) {
        const name = `${method} ${path} ${place.join('.')}`
        const { status, body } = await send('', { body: withWrong(example, place) })
        expect([name, status]).toEqual([name, 400])
        expectPlain(name, body, pattern)
        tried.push(name)
      }
      for (const parameter of parameters) {
        const [{ pattern } = { pattern: undefined }] = patternsOf(parameter.schema)
        if (pattern === undefined || parameter.in === 'path') continue
        const name = `${method} ${path} ${parameter.in}:${parameter.name}`
        const { body } =
          parameter.in === 'header'
            ? await send('', { body: example, headers: { [parameter.name]: WRONG_HEADER } })
            : await send(`?${parameter.name}=${encodeURIComponent(WRONG)}`, {})
        expectPlain(name, body, pattern)
        tried.push(name)
      }
    }
  }
  expect(tried).toEqual(
    expect.arrayContaining([
      'post /v1/images/generations size',
      'post /v1/videos/generations resolution',
      'post /v1/tenants/me/api-keys name',
      'post /v1/admin/promo-codes code',
    ]),
  )
  expect(tried.length).toBeGreaterThan(20)
})

test('the error names the right form', async () => {
  const body = { model: 'wan-2.6-t2v', prompt: 'Waves', resolution: 'large' }
  const answer = await gateway.request('POST', '/v1/videos/generations', { body })
  expect(answer.body.error.message).toContain('`1280x720`')
})
