import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  certificate,
  privateKey,
} from '../../src/providers/openai-compatible/upstream-http1/testing/certificate.ts'
import { CHAT, chatBody, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import { OWN, PASSWORD, SECURE, startNetworkStage, type NetworkStage } from './network-stage.ts'

const PROVIDERS = '/v1/admin/providers'
const KEY = 'sk-proj-0123456789-wxyz'

let stage: NetworkStage
let gateway: ChatGateway
let directory: string

beforeAll(async () => {
  stage = await startNetworkStage()
  ;({ gateway, directory } = stage)
})
afterAll(() => stage.close())
afterEach(async () => {
  gateway.upstream.respondWith(completion())
  for (const { id, source } of (await gateway.request('GET', PROVIDERS)).body.data)
    if (source === 'database') await gateway.request('DELETE', `${PROVIDERS}/${id}`)
})

const signedIn = () => ({ url: stage.proxy.url, username: 'gateway', password: PASSWORD })
const own = (members: object = {}) => ({
  name: 'own',
  api_key: KEY,
  base_url: `http://${OWN}/v1`,
  proxy: signedIn(),
  ...members,
})
const add = (body: object) => gateway.request('POST', PROVIDERS, { body })
const change = (name: string, body: object) => gateway.request('PATCH', `${PROVIDERS}/${name}`, { body })
const ask = (model = 'own-model', members = {}) =>
  gateway.request('POST', CHAT, { body: chatBody({ model, ...members }) })

describe('a certificate authority', () => {
  const file = (name: string) => `file:${join(directory, 'secrets', name)}`
  const problemOf = async (authority: string): Promise<string | null> => {
    const { body } = await add(own({ certificate_authority: authority }))
    const { body: read } = await gateway.request('GET', `${PROVIDERS}/own`)
    await gateway.request('DELETE', `${PROVIDERS}/own`)
    expect(read.is_configured).toBe(false)
    return body.error?.message ?? read.problem
  }

  test('is a plain file of sensible size, or nothing is called', async () => {
    const secrets = join(directory, 'secrets')
    execFileSync('mkfifo', [join(secrets, 'pipe')])
    await symlink('/dev/zero', join(secrets, 'device'))
    await symlink('/etc/hosts', join(secrets, 'elsewhere'))
    await mkdir(join(secrets, 'directory'))
    await writeFile(join(secrets, 'huge'), Buffer.alloc(1024 * 1024 + 1, 'x'))
    await writeFile(join(secrets, 'words'), 'no certificate')
    for (const [name, problem] of [
      ['pipe', /not a plain file/],
      ['directory', /not a plain file/],
      ['device', /link to somewhere else/],
      ['elsewhere', /link to somewhere else/],
      ['huge', /larger than/],
      ['words', /no certificate/],
      ['missing', /no such file/],
    ] as const)
      expect([name, await problemOf(file(name))]).toEqual([name, expect.stringMatching(problem)])
  })

  test.each([
    ['words', 'no certificate'],
    ['a private key', certificate + privateKey],
    ['a broken one', certificate.replace('MIIB', 'MIIC')],
    ['a file elsewhere', 'file:/etc/ssl/certs/ca-certificates.crt'],
    ['a way out', 'file:/run/secrets/../ca.pem'],
  ])('that is %s is refused', async (_, authority) => {
    const { status, body } = await add(own({ certificate_authority: authority }))
    expect([status, body.error?.param]).toEqual([400, 'certificate_authority'])
    expect(JSON.stringify(body)).not.toContain('BEGIN')
  })

  test('in a file that appears later is used then', async () => {
    await add(own({ base_url: `https://${SECURE}/v1`, certificate_authority: file('later.pem') }))
    expect((await ask()).headers.get('x-gateway-provider')).toBe('sandbox')
    await writeFile(join(directory, 'secrets', 'later.pem'), certificate)
    const provider = async () => (await ask()).headers.get('x-gateway-provider')
    await expect.poll(provider, { timeout: 30_000, interval: 200 }).toBe('own')
  })
})

test('redirects are not followed, wherever they lead', async () => {
  await add(own({ headers: { 'x-tenant': 'one' } }))
  const before = gateway.upstream.requests.length
  const away = { location: `${gateway.upstream.baseUrl}/elsewhere` }
  gateway.upstream.respondWith({ status: 307, headers: away, chunks: [] })
  expect((await ask()).status).toBe(502)
  expect((await gateway.request('GET', `${PROVIDERS}/own/models`)).status).toBe(502)
  const paths = gateway.upstream.requests.slice(before).map(({ path }) => path)
  expect(paths).not.toContain('/elsewhere')
})

test('what the vendor promises is shown and exported', async () => {
  const added = await add(own({ regions: ['eu-central-1', 'eu-west-1'], retention_days: 0 }))
  expect(added.body).toMatchObject({ regions: ['eu-central-1', 'eu-west-1'], retention_days: 0 })
  const changed = await change('own', { retention_days: null, regions: [] })
  expect(changed.body).toMatchObject({ regions: [], retention_days: null })
  for (const members of [{ regions: ['a b'] }, { retention_days: -1 }])
    expect((await change('own', members)).status).toBe(400)
})
