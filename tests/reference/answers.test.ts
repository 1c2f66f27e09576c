import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { beforeAll, describe, expect, test } from 'vitest'
import recorded from '../../src/http/reference/answer-examples.json' with { type: 'json' }
import { findRecordedAnswer } from '../../src/http/reference/answer-examples.ts'
import { WRITTEN_ANSWER_EXAMPLES } from '../../src/http/reference/notes/written-answer-examples.ts'
import { OPERATION_NOTES } from '../../src/http/reference/operation-notes.ts'
import { cutExample } from './cut-example.ts'
import { shareExamples, writeLines } from './share-examples.ts'
import { walkOperations, type Walk, type WalkedAnswer } from './walk-operations.ts'

const RECORDING = join(import.meta.dirname, '../../src/http/reference/answer-examples.json')

/** Operations that need a browser or a provider, or that do not answer with JSON. */
const NOT_WALKED = [
  /^GET \/$/,
  /^DELETE \/scim\//,
  /^\w+ \/(checkout|docs|media|metrics|openapi\.json|status$)/,
  /^POST \/v1\/audio\/speech$/,
  /^POST \/v1\/payments\/webhook\//,
  /^GET \/v1\/payments\/\{id\}\/receipt$/,
  /^POST \/v1\/admin\/payments\/\{id\}\/refund$/,
  /^GET \/v1\/admin\/(requests\/)?live$/,
  /^POST \/v1\/admin\/requests\/\{request_id\}\/replay$/,
  /^GET \/v1\/compare\/runs\/\{run_id\}\/stream$/,
  /^POST \/v1\/webhook-deliveries\//,
  /^GET \/v1\/admin\/config\/export$/,
  /^POST \/v1\/admin\/providers\/(\{name\}\/)?test$/,
  /^GET \/v1\/admin\/providers\/\{name\}\/models$/,
  /^\w+ \/v1\/sessions\/directory\//,
  /\/identities/,
  /^GET \/v1\/files\/\{id\}\/content$/,
  /^GET \/v1\/messages\/batches\/\{id\}\/results$/,
  /^GET \/v1\/organization\/receipts\/(records|\{receipt_id\}\/leaves)$/,
]

let walk: Walk
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true })

beforeAll(async () => {
  walk = await walkOperations()
  ajv.addSchema(walk.document, 'document')
  if (process.env['RECORD_EXAMPLES'] === '1') await record(walk)
}, 180_000)

describe('the reference', () => {
  test('describes every operation in its own sentence, and no unknown operation', () => {
    const own = operationsOf(walk.document).filter((operation) => !isOtherPath(operation))
    expect(Object.keys(OPERATION_NOTES).toSorted()).toEqual(own.toSorted())
  })

  test('describes every field and parameter', () => {
    expect(findUndescribed(walk.document)).toEqual([])
  })

  test('has an example of every request body', () => {
    const missing = operationsOf(walk.document).filter((operation) => {
      const content = Object.values(findOperation(operation).requestBody?.content ?? {})
      return content.some((body) => !('example' in Object(body)))
    })
    expect(missing).toEqual([])
  })

  test('has an example of the answer of every operation that answers with JSON', () => {
    const missing = operationsOf(walk.document).filter((operation) => {
      if (NOT_WALKED.some((pattern) => pattern.test(operation)) || isOtherPath(operation)) return false
      const answers = Object.entries(findOperation(operation).responses).filter(
        ([status]) => Number(status) < 300,
      )
      return !answers.some(([status]) => `${operation} ${status}` in recorded.operations)
    })
    expect(missing).toEqual([])
  })

  test('has an example of every form of every answer', () => {
    const missing = operationsOf(walk.document).flatMap((operation) =>
      Object.entries<{ content?: Record<string, object> }>(findOperation(operation).responses).flatMap(
        ([status, { content = {} }]) =>
          Object.entries(content)
            .filter(([, answer]) => !('example' in answer))
            .map(([type]) => `${operation} ${status} ${type}`),
      ),
    )
    expect(missing).toEqual([])
  })

  test('has written examples that match the answers', () => {
    const broken = Object.entries(WRITTEN_ANSWER_EXAMPLES).flatMap(([name, body]) => {
      const [method = '', path = '', status = '', type = ''] = name.split(' ')
      if (type !== 'application/json' || path === '/openapi.json') return []
      const answer = { operation: `${method} ${path}`, status: Number(status), contentType: type, body }
      return findProblems(answer).map((problem) => `${name}: ${problem}`)
    })
    expect(broken).toEqual([])
  })

  test("describes errors of Anthropic's routes in Anthropic's form", () => {
    const { responses } = findOperation('POST /v1/messages')
    expect(responses['400']).toEqual({ $ref: '#/components/responses/AnthropicBadRequest' })
    expect(findOperation('GET /anthropic/v1/models').responses['401'].$ref).toContain('Anthropic')
    expect(findOperation('POST /v1/chat/completions').responses['400'].$ref).not.toContain('Anthropic')
    const { example } = walk.document.components.responses.AnthropicBadRequest.content['application/json']
    const validate = ajv.getSchema('document#/components/schemas/AnthropicError')
    expect([example.type, example.error.type, validate?.(example)]).toEqual([
      'error',
      'invalid_request_error',
      true,
    ])
  })

  test('matches the answers of every operation', () => {
    const broken = walk.answers
      .filter(({ contentType }) => /^application\/(scim\+)?json$/.test(contentType))
      .flatMap((answer) => findProblems(answer).map((problem) => `${answer.operation}: ${problem}`))
    expect([...new Set(broken)]).toEqual([])
  })

  test('has valid examples', () => {
    const broken = Object.keys(recorded.operations).flatMap((name) => {
      const body = findRecordedAnswer(name)
      const at = name.lastIndexOf(' ')
      const answer = { operation: name.slice(0, at), status: Number(name.slice(at)), contentType: '', body }
      return findProblems(answer).map((problem) => `${name}: ${problem}`)
    })
    expect(broken).toEqual([])
  })
})

/** Whether the operation is described by that of another path. */
function isOtherPath(operation: string): boolean {
  return /^The same as `\w+ \//.test(findOperation(operation).description)
}

function operationsOf(document: Walk['document']): string[] {
  return Object.entries<object>(document.paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

function findOperation(operation: string) {
  const [method = '', path = ''] = operation.split(' ')
  return walk.document.paths[path][method.toLowerCase()]
}

function findProblems({ operation, status, body }: WalkedAnswer): string[] {
  const [method = '', path = ''] = operation.split(' ')
  const place = [
    'paths',
    path,
    method.toLowerCase(),
    'responses',
    String(status),
    'content',
    'application/json',
    'schema',
  ]
  const pointer = place
    .map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')))
    .join('/')
  const validate = ajv.getSchema(`document#/${pointer}`)
  if (validate === undefined) return [`no schema for ${status}`]
  if (validate(body)) return []
  return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`)
}

function findUndescribed(document: Walk['document']): string[] {
  const missing = new Set<string>()
  const visit = (schema: unknown, place: string): void => {
    if (typeof schema !== 'object' || schema === null) return
    for (const [name, field] of Object.entries<object>(Object(schema).properties ?? {})) {
      if (!('description' in field) && !('const' in field)) missing.add(`${place}.${name}`)
      visit(field, `${place}.${name}`)
    }
    for (const keyword of ['items', 'additionalProperties']) visit(Object(schema)[keyword], place)
    for (const keyword of ['anyOf', 'allOf', 'oneOf'])
      for (const part of Object(schema)[keyword] ?? []) visit(part, place)
  }
  for (const [name, schema] of Object.entries(document.components.schemas)) visit(schema, name)
  for (const operation of operationsOf(document)) {
    const { parameters = [], requestBody, responses } = findOperation(operation)
    for (const { name, description } of parameters)
      if (description === undefined) missing.add(`${operation} ${name}`)
    for (const { content = {} } of [requestBody ?? {}, ...Object.values<{ content?: object }>(responses)])
      for (const { schema } of Object.values<{ schema?: unknown }>(content)) visit(schema, operation)
  }
  return [...missing]
}

/** Stores the last answer of each operation as its example. */
async function record({ answers, document }: Walk): Promise<void> {
  const examples = answers
    .filter(({ contentType }) => /^application\/(scim\+)?json$/.test(contentType))
    .map(({ operation, status, body }) => {
      const { schema } = findOperation(operation).responses[status].content['application/json']
      const name = `${operation} ${status}`
      return [name, { name, schema, body: cutExample(body) }] as const
    })
  const sorted = [...new Map(examples).values()].toSorted((a, b) => (a.name < b.name ? -1 : 1))
  const shared = shareExamples(sorted, document.components.schemas)
  await writeFile(RECORDING, writeLines(shared))
}
