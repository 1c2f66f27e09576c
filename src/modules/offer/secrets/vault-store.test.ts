import { createServer, type Server } from 'node:http'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createSecretReferences } from './secret-references.ts'
import { createStoredSecrets } from './stored-secrets.ts'
import { createVaultStore } from './vault-store.ts'

const TOKEN = 'hvs.of-the-test'
const REFERENCE = 'vault:secret/data/parkway/openai#api_key'

interface Answer {
  readonly status: number
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
}

/** Answers as the API of Vault documents it, with a token of its own and a namespace. */
let server: Server
let answers: Map<string, Answer>
let asked: { url: string; token: string; namespace: string | undefined }[]
let token: string | null

beforeEach(async () => {
  answers = new Map([['/v1/secret/data/parkway/openai', ofVersion2({ api_key: 'sk-in-the-vault' })]])
  asked = []
  token = TOKEN
  server = createServer(({ url = '', headers }, response) => {
    const namespace = headers['x-vault-namespace']
    asked.push({
      url,
      token: String(headers['x-vault-token']),
      namespace: namespace === undefined ? undefined : String(namespace),
    })
    const isKnown = headers['x-vault-token'] === TOKEN
    const answer = isKnown
      ? (answers.get(url) ?? { status: 404, body: { errors: [] } })
      : { status: 403, body: { errors: ['permission denied'] } }
    response.writeHead(answer.status, { 'content-type': 'application/json', ...answer.headers })
    response.end(typeof answer.body === 'string' ? answer.body : JSON.stringify(answer.body))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
})

function ofVersion2(fields: object): Answer {
  return {
    status: 200,
    body: {
      request_id: 'a',
      lease_id: '',
      renewable: false,
      data: { data: fields, metadata: { version: 3, destroyed: false } },
    },
  }
}

const ofVersion1 = (fields: object): Answer => ({
  status: 200,
  body: { request_id: 'a', lease_duration: 1, data: fields },
})

const addressOf = (listening: Server) =>
  `http://127.0.0.1:${(listening.address() as AddressInfo | null)?.port ?? 0}/`
const openStore = (paths = ['secret/data/parkway/', 'kv/one']) =>
  createVaultStore({ address: addressOf(server), readToken: () => token, namespace: 'team-a', paths })

describe('a secret in a vault', () => {
  test('a secret in a vault is read with our token and namespace', async () => {
    expect(await openStore().read(REFERENCE)).toEqual({ secret: 'sk-in-the-vault', problem: null })
    expect(asked).toEqual([{ url: '/v1/secret/data/parkway/openai', token: TOKEN, namespace: 'team-a' }])
  })

  test('a secret is read from the first version of the key-value store too', async () => {
    answers.set('/v1/kv/one', ofVersion1({ api_key: 'sk-of-version-1', data: 'a-field' }))
    expect((await openStore().read('vault:kv/one#api_key')).secret).toBe('sk-of-version-1')
    expect((await openStore().read('vault:kv/one#data')).secret).toBe('a-field')
  })

  test.each([
    ['no such secret', 'vault:secret/data/parkway/none#api_key', 'there is no such secret in the vault'],
    ['no such field', 'vault:secret/data/parkway/openai#other', 'the secret in the vault has no such field'],
    [
      'a field of the prototype',
      'vault:secret/data/parkway/openai#constructor',
      'the secret in the vault has no such field',
    ],
  ])('a secret that has %s is told', async (_, reference, problem) => {
    expect(await openStore().read(reference)).toEqual({ secret: null, problem })
  })

  test('a secret that is no line of text is refused without being repeated', async () => {
    answers.set('/v1/secret/data/parkway/openai', ofVersion2({ api_key: 'sk-a\r\nhost: other' }))
    expect(await openStore().read(REFERENCE)).toEqual({
      secret: null,
      problem: 'it is not one line of printable characters',
    })
  })

  test.each([
    'vault:secret/data/other/openai#api_key',
    'vault:secret/data/parkway/../other#api_key',
    'vault:secret/data/parkway/%2e%2e/other#api_key',
    'vault:kv/one/more#api_key',
    'vault:/secret/data/parkway/a#b',
    'vault:secret/data/parkway/a?version=1#b',
    'vault:secret/data/parkway/a',
    `vault:secret/data/parkway/${'a'.repeat(600)}#b`,
    'vault:sys/seal#a',
  ])('%s is no reference that operators may name', (reference) => {
    expect(openStore().findProblem(reference)).not.toBe(null)
  })
})

describe('a vault that is away', () => {
  const open = () => createStoredSecrets([openStore()], { refreshMs: 0, retryMs: 0 })

  /** Asks again, as the ticks of the gateway do, until something is different. */
  const untilDifferent = (secrets: ReturnType<typeof open>) =>
    vi.waitFor(() => expect(secrets.refresh()).toBe(true))

  test.each<[string, Answer]>([
    ['fails', { status: 503, body: { errors: ['Vault is sealed'] } }],
    ['answers too much', { status: 200, body: `"${'x'.repeat(300_000)}"` }],
    ['answers no JSON', { status: 200, body: '<html>' }],
    ['sends us elsewhere', { status: 307, body: '', headers: { location: 'http://127.0.0.1:1/' } }],
  ])('a vault that %s leaves the secret of before in use, and is told', async (_, answer) => {
    const secrets = open()
    await secrets.load([REFERENCE])
    expect(secrets.read(REFERENCE)).toEqual({ secret: 'sk-in-the-vault', problem: null })
    answers.set('/v1/secret/data/parkway/openai', answer)
    secrets.refresh()
    await untilDifferent(secrets)
    expect(secrets.read(REFERENCE)).toEqual({
      secret: 'sk-in-the-vault',
      problem: expect.stringContaining('vault'),
    })
    answers.set('/v1/secret/data/parkway/openai', ofVersion2({ api_key: 'sk-rotated' }))
    await untilDifferent(secrets)
    expect(secrets.read(REFERENCE)).toEqual({ secret: 'sk-rotated', problem: null })
  })

  test('a vault that is away from the start gives no secret until it is back', async () => {
    token = 'another token'
    const secrets = open()
    await secrets.load([REFERENCE])
    expect(secrets.read(REFERENCE)).toEqual({
      secret: null,
      problem: 'the vault refuses our token for this path',
    })
    token = TOKEN
    secrets.refresh()
    await untilDifferent(secrets)
    expect(secrets.read(REFERENCE).secret).toBe('sk-in-the-vault')
  })

  test('a vault is asked once for many who want the same secret', async () => {
    const secrets = open()
    await Promise.all(Array.from({ length: 20 }, () => secrets.load([REFERENCE])))
    expect(asked).toHaveLength(1)
  })
})

test('a gateway without a vault refuses references to one', () => {
  const references = createSecretReferences({ readVariable: () => null, directories: [] })
  expect(references.findProblem(REFERENCE)).toBe('it is none of env:NAME, file:/path')
})
