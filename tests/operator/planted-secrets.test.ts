import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SETTINGS } from '../../src/app/settings/settings.ts'
import { CHAT, chatBody, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { eventually } from '../support/eventually.ts'
import { failure, htmlPage, json, stream } from '../upstreams/openai-server.ts'
import { OWN, PASSWORD, startNetworkStage, type NetworkStage } from './network-stage.ts'
import { readBackup, readDatabase, readPages, type Found } from './read-what-is-stored.ts'

const PROVIDERS = '/v1/admin/providers'

/** Settings that are secret and are not planted here: what the gateway needs to run, and what is public. */
const NOT_PLANTED = new Set([
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'PARKWAY_BOOTSTRAP_KEY',
  'STRIPE_PUBLISHABLE_KEY',
  // A gateway with Stripe has no sandbox for its tests.
  'STRIPE_SECRET_KEY',
])

/** All secrets of this file, by where they stand. Each is unique, and fits no pattern of a vendor's keys. */
const planted = new Map<string, string>()
function plant(place: string): string {
  const known = planted.get(place)
  if (known !== undefined) return known
  const mark = planted.size.toString(36).padStart(2, '0')
  const secret = `zq${mark}Plant3d${mark}${place.replace(/[^a-z]/gi, '').slice(-6)}${mark}`
  planted.set(place, secret)
  return secret
}

const WEBHOOKS = 'the secret of webhooks'
/** It is shown to its account. */
const OF_WEBHOOKS = new Set(['GET /v1/tenants/me/webhook-secret'])

/** What came out of the gateway, by where it was found. */
const found: Found[] = []
const spans: Buffer[] = []

let collector: Server
let stage: NetworkStage
let gateway: ChatGateway

beforeAll(async () => {
  collector = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => spans.push(chunk))
    request.on('end', () => response.end())
  }).listen(0, '127.0.0.1')
  await once(collector, 'listening')
  const { port } = collector.address() as AddressInfo
  stage = await startNetworkStage({
    ...plantSettings(),
    OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
  })
  ;({ gateway } = stage)
  await writeFile(join(stage.directory, 'secrets', 'key'), plant('a file'))
})
afterAll(async () => {
  await stage.close()
  collector.close()
})

/** Every secret setting, and keys and documents of providers in the environment. */
function plantSettings(): Record<string, string> {
  const settings: Record<string, string> = {}
  for (const { environment, isSecret } of Object.values<{ environment: string; isSecret?: boolean }>(
    SETTINGS,
  ))
    if (isSecret === true && !NOT_PLANTED.has(environment)) settings[environment] = plant(environment)
  return {
    ...settings,
    PARKWAY_SMTP_URL: `smtp://mailer:${plant('PARKWAY_SMTP_URL')}@127.0.0.1:9`,
    OTEL_EXPORTER_OTLP_HEADERS: `x-collector=${plant('OTEL_EXPORTER_OTLP_HEADERS')}`,
    PARKWAY_AGENT_OTLP_HEADERS: `x-agents=${plant('PARKWAY_AGENT_OTLP_HEADERS')}`,
    PARKWAY_EXPORTS: JSON.stringify({
      events: {
        kind: 'kafka',
        brokers: ['127.0.0.1:9'],
        topic: 'requests',
        mechanism: 'SCRAM-SHA-512',
        username: 'parkway',
        password: plant('PARKWAY_EXPORTS'),
      },
    }),
    PARKWAY_COST_KEYS: `openai=${plant('PARKWAY_COST_KEYS')}`,
    OPENAI_API_KEY: plant('OPENAI_API_KEY'),
    KLINGAI_ACCESS_KEY: plant('KLINGAI_ACCESS_KEY'),
    KLINGAI_SECRET_KEY: plant('KLINGAI_SECRET_KEY'),
    AZURE_OPENAI_BASE_URL: 'http://127.0.0.1:9/openai/v1',
    AZURE_OPENAI_SIGN_IN: JSON.stringify(entraDocument('AZURE_OPENAI_SIGN_IN')),
    KEY_OF_A_VARIABLE: plant('KEY_OF_A_VARIABLE'),
  }
}

const entraDocument = (place: string) => ({
  type: 'entra_client_secret',
  tenant_id: 'tenant',
  client_id: 'client',
  client_secret: plant(place),
})

async function note(method: string, path: string, body?: object): Promise<number> {
  const response = await gateway.fetch(method, path, body === undefined ? {} : { body })
  const text = `${JSON.stringify([...response.headers])} ${await response.text()}`
  found.push([`${method} ${path}`, text])
  return response.status
}

async function addProviders(): Promise<void> {
  const proxy = { url: stage.proxy.url, username: 'gateway', password: PASSWORD }
  const bodies = {
    own: {
      base_url: `http://${OWN}/v1`,
      api_key: plant('a key'),
      headers: { 'x-tenant': plant('a header') },
      proxy,
    },
    refused: {
      base_url: `http://${OWN}/v1`,
      credentials: [{ api_key: plant('a second key'), requests_per_minute: 5 }],
      proxy: { ...proxy, username: 'someone', password: plant('a password of a proxy') },
    },
    headed: {
      base_url: `http://${OWN}/v1`,
      headers: { authorization: `Bearer ${plant('a bearer header')}` },
      proxy,
    },
    variable: { base_url: 'http://127.0.0.1:9/v1', secret_ref: 'env:KEY_OF_A_VARIABLE' },
    filed: {
      base_url: 'http://127.0.0.1:9/v1',
      secret_ref: `file:${join(stage.directory, 'secrets', 'key')}`,
      proxy: { url: 'http://127.0.0.1:9', password_ref: 'env:KEY_OF_A_VARIABLE' },
    },
    'azure-two': {
      vendor: 'azure',
      base_url: 'http://127.0.0.1:9/openai/v1',
      api_key: JSON.stringify(entraDocument('a sign-in of Entra')),
    },
    'bedrock-two': {
      vendor: 'bedrock',
      base_url: 'http://127.0.0.1:9',
      api_key: JSON.stringify({
        type: 'aws_keys',
        access_key_id: 'AKIAEXAMPLE',
        secret_access_key: plant('a secret key of AWS'),
        session_token: plant('a session token of AWS'),
      }),
    },
    'vertex-two': {
      vendor: 'vertex',
      base_url: 'http://127.0.0.1:9/v1/projects/p/locations/l',
      api_key: JSON.stringify({
        type: 'service_account',
        client_email: 'a@p.iam.gserviceaccount.com',
        private_key: plant('a private key of Google'),
      }),
    },
  }
  for (const [name, members] of Object.entries(bodies)) {
    const body = { name, vendor: null, ...members }
    expect([name, await note('POST', PROVIDERS, body)]).toEqual([name, 201])
    await note('POST', `${PROVIDERS}/test`, { ...body, name: `${name}-x`, upstream_model: 'm' })
    await note('POST', `${PROVIDERS}/${name}/test`, {})
    await note('PATCH', `${PROVIDERS}/${name}`, { timeouts: { idle_ms: 60_000 } })
    // Refused with the secret in the body.
    await note('POST', PROVIDERS, { ...body, regions: ['a b'] })
    await note('POST', PROVIDERS, { ...body, unknown: plant('a member that is not known') })
    await note('POST', PROVIDERS, { ...body, name: `${name}-y`, vendor: 'nobody' })
  }
}

/** What providers hold, and a vendor or a proxy can so repeat. */
const SENT_TO_VENDORS = [
  'a key',
  'a second key',
  'a header',
  'a bearer header',
  'a password of a proxy',
  'a file',
  'a sign-in of Entra',
  'a secret key of AWS',
  'a session token of AWS',
  'a private key of Google',
  'OPENAI_API_KEY',
  'KLINGAI_ACCESS_KEY',
  'KLINGAI_SECRET_KEY',
  'AZURE_OPENAI_SIGN_IN',
  'KEY_OF_A_VARIABLE',
]

/** A vendor that repeats all that it was sent, in every way in which it can fail. */
async function meetAnEchoingVendor(): Promise<void> {
  const ofProviders = [...SENT_TO_VENDORS.map(plant), PASSWORD].join(' ')
  const echo = { message: `what you sent: ${ofProviders}`, code: plant('a key'), param: plant('a header') }
  const replies = [
    ...[400, 401, 403, 404, 413, 422, 429, 500, 503].map((status) => failure(status, echo)),
    { ...htmlPage(502), chunks: [`<html>${ofProviders}</html>`] },
    json(`"${ofProviders}`),
    stream([{ error: echo }]),
    stream([`data: ${ofProviders}\n\n`]),
    stream([`: ${ofProviders}\n\n`], { ending: 'cut' }),
  ]
  for (const reply of replies)
    for (const isStreamed of [false, true]) {
      gateway.upstream.respondWith(reply)
      await note('POST', CHAT, chatBody({ model: 'own-model', stream: isStreamed }))
    }
  for (const name of ['own', 'headed']) {
    gateway.upstream.respondWith(failure(401, echo))
    await note('POST', `${PROVIDERS}/${name}/test`, { upstream_model: 'm' })
    await note('GET', `${PROVIDERS}/${name}/models`)
  }
}

/** Secrets of accounts and operators that are no keys of providers. */
async function addOthers(): Promise<void> {
  const identityProvider = {
    name: 'Acme',
    issuer: 'http://127.0.0.1:9',
    client_id: 'parkway',
    client_secret: plant('a client secret'),
  }
  const status = await note('POST', '/v1/admin/identity-providers', identityProvider)
  expect([status, found.at(-1)?.[1].includes('has_client_secret')]).toEqual([201, true])
  await note('POST', '/v1/admin/identity-providers', { ...identityProvider, name: 5 })
  const proxied = { proxy: { password: plant('another password of a proxy') } }
  expect(await note('PATCH', `${PROVIDERS}/refused`, proxied)).toBe(200)
  await note('PATCH', `${PROVIDERS}/refused`, { proxy: { password: plant('a long password').repeat(100) } })
  const created = await gateway.request('POST', '/v1/tenants/me/api-keys', { body: { name: 'shown once' } })
  planted.set('a key of an account', created.body.key)
  await note('GET', '/v1/tenants/me')
  const { body } = await gateway.request('GET', '/v1/tenants/me/webhook-secret')
  planted.set(WEBHOOKS, body.secret)
  await note('POST', '/v1/deployments/prefetch', { huggingface_id: 'a/b', hf_token: plant('a hub token') })
  await note('GET', '/v1/hub/models/a/b')
}

async function walkEveryRead(): Promise<void> {
  const { body: document } = await gateway.request('GET', '/openapi.json')
  const ids: Readonly<Record<string, string>> = { '{name}': 'own', '{provider}': 'own' }
  const paths = Object.entries<Record<string, unknown>>(document.paths)
    .filter(([path, operations]) => 'get' in operations && !path.endsWith('/live'))
    .map(([path]) => path.replace(/\{[^}]+\}/g, (name) => ids[name] ?? 'own'))
  expect(paths.length).toBeGreaterThan(150)
  for (const path of paths) await note('GET', path)
  const logged = (await gateway.request('GET', '/v1/requests?limit=100')).body.data
  for (const { request_id: id } of logged.slice(0, 40)) await note('GET', `/v1/admin/requests/${id}`)
  await note('GET', '/v1/admin/audit?limit=100')
  await note('GET', '/v1/admin/requests?limit=100')
}

test('secrets of every place are in no answer, error, log, trace, metric, export, table, backup or page', async () => {
  await addProviders()
  await addOthers()
  await meetAnEchoingVendor()
  await walkEveryRead()
  found.push(...(await readDatabase(gateway.connectionString)))
  found.push(await readBackup(gateway.connectionString, join(stage.directory, 'backup')))
  found.push(...(await readPages()))
  await eventually(() => expect(Buffer.concat(spans).includes('chat own-model')).toBe(true))
  found.push(['the traces', Buffer.concat(spans).toString('latin1')])
  const log = await readFile(join(stage.directory, 'log'), 'utf8')
  expect(log.length).toBeGreaterThan(1_000)
  found.push(['the log', log])

  expect(planted.size).toBeGreaterThan(25)
  planted.set('the password of the stage', PASSWORD)
  const leaks = [...planted].flatMap(([place, secret]) =>
    formsOf(secret).flatMap((form) =>
      found
        .filter(([where, text]) => text.includes(form) && !(place === WEBHOOKS && OF_WEBHOOKS.has(where)))
        .map(([where]) => `${place}: ${where}`),
    ),
  )
  expect([...new Set(leaks)]).toEqual([])
})

/** As it is, and as it may be written elsewhere. */
function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret)
  const basic = ['gateway', 'someone'].map((user) => Buffer.from(`${user}:${secret}`).toString('base64'))
  return [secret, bytes.toString('hex'), bytes.toString('base64').replace(/=+$/, ''), ...basic]
}
