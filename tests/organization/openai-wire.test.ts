import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** OpenAI's Administration API: for each operation its query, the members of its body and those of its answer. */
const FIXTURE = join(import.meta.dirname, 'openai-wire.json')

/** What has no meaning here, and why. Everything else of their API is served. */
const ABSENT: Readonly<Record<string, string>> = {
  'GET /v1/organization/projects/{project_id}/rate_limits answer data[].batch_1_day_max_input_tokens':
    'it is optional, and there is no batch API whose tokens it could limit',
  'POST /v1/organization/projects/{project_id}/rate_limits/{rate_limit_id} answer batch_1_day_max_input_tokens':
    'as above',
}

let gateway: TestGateway
let document: Node
let wire: Readonly<Record<string, string>>

beforeAll(async () => {
  gateway = await startTestGateway()
  document = (await gateway.request('GET', '/openapi.json', { key: null })).body
  wire = JSON.parse(await readFile(FIXTURE, 'utf8'))
})
afterAll(() => gateway.close())

/** A part of the OpenAPI document. */
interface Node {
  // oxlint-disable-next-line typescript/no-explicit-any -- the test reaches into the document and fails loudly on a wrong shape
  readonly [name: string]: any
}

test('every operation of the Administration API has its query, the members of its body and those of its answer', () => {
  const missing = Object.entries(wire).flatMap(([name, members]) => findMissing(name, members))
  expect(missing.filter((one) => !(one in ABSENT))).toEqual([])
  expect(Object.keys(ABSENT).filter((one) => !missing.includes(one))).toEqual([])
})

function findMissing(name: string, members: string): string[] {
  const [method = '', path = ''] = name.split(' ')
  const found = document['paths'][path]?.[method.toLowerCase()]
  if (found === undefined) return [name]
  const [query = [], body = [], answer = []] = members
    .split('|')
    .map((part) => part.split(' ').filter(Boolean))
  const parameters = new Set<string>(
    (found.parameters ?? []).map((one: Node) => String(resolve(one)['name']).replace(/\[\]$/, '')),
  )
  const asked = found.requestBody?.content?.['application/json']?.schema
  const told = found.responses['200']?.content?.['application/json']?.schema
  return [
    ...query.filter((one) => !isTaken(parameters, one.replace(/\[\]$/, ''))).map((one) => `${name} ?${one}`),
    ...body.filter((one) => !hasMember(asked, one)).map((one) => `${name} body ${one}`),
    ...answer.filter((one) => !hasMember(told, one)).map((one) => `${name} answer ${one}`),
  ]
}

/** An object in the query has a parameter for each of its members: `effective_at[gt]`. */
function isTaken(parameters: ReadonlySet<string>, name: string): boolean {
  return parameters.has(name) || [...parameters].some((one) => one.startsWith(`${name}[`))
}

/** @param path for example `data[].owner.id` */
function hasMember(schema: Node | undefined, path: string): boolean {
  if (schema === undefined) return false
  const whole = resolve(schema)
  const choices = [
    whole,
    ...(whole['anyOf'] ?? []),
    ...(whole['oneOf'] ?? []),
    ...(whole['allOf'] ?? []),
  ].map(resolve)
  const [, name = '', list = '', rest = ''] = /^(\w+)(\[\])?\.?(.*)$/.exec(path) ?? []
  return choices.some((choice) => {
    if (choice !== whole && choice['anyOf'] !== undefined) return hasMember(choice, path)
    const member = choice['properties']?.[name]
    if (member === undefined) return false
    if (rest === '') return true
    return list === '' ? hasMember(member, rest) : itemsOf(member).some((items) => hasMember(items, rest))
  })
}

function itemsOf(schema: Node): Node[] {
  const whole = resolve(schema)
  return [whole, ...(whole['anyOf'] ?? [])]
    .map((one) => resolve(one)['items'])
    .filter((one) => one !== undefined)
}

function resolve(node: Node): Node {
  const ref: unknown = node['$ref']
  if (typeof ref !== 'string') return node
  return ref
    .slice(2)
    .split('/')
    .reduce((found, name) => found[name], document)
}
