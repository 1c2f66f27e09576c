import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { createAccount, type TestAccount } from '../payments/accounts.ts'
import { OWN_PAGE, signIn } from '../sessions/sign-in.ts'
import { eventually } from '../support/eventually.ts'
import {
  chunk,
  chunksOf,
  completion,
  heldBack,
  pacedStream,
  stream,
  type PacedStream,
  type Reply,
} from '../upstreams/openai-server.ts'
import { readPieces } from './read-events.ts'
import { CHAT, chatBody, modelEntry, startChatGateway, type ChatGateway } from './start-chat-gateway.ts'

/** Hidden from the client, and only in the usage at the end of the answer. */
const THOUGHT = { prompt_tokens: 11, completion_tokens: 5_000, total_tokens: 5_011 }
const THOUGHT_USD = (11 * 1 + 5_000 * 10) / 1e6
const MODELS = ['thinker', 'plain', 'simple'].map((id) => modelEntry(id, [{ provider: 'openai', model: id }]))
const RUNS = '/v1/compare/runs'

let gateway: ChatGateway

/** A client's way to end work that a vendor has begun. */
interface Leaving {
  readonly leave: () => Promise<unknown>
  /** Resolves when the client has been told, which does not wait for the vendor. */
  readonly told?: Promise<unknown>
}

type Door = (account: TestAccount) => Promise<Leaving>

const revoke = ({ accountId, keyId }: TestAccount) =>
  gateway.request('DELETE', `/v1/admin/accounts/${accountId}/api-keys/${keyId}`)
const suspend = ({ accountId }: TestAccount) =>
  gateway.request('POST', `/v1/admin/accounts/${accountId}/suspend`)

const streamed = (body: object = {}) => chatBody({ model: 'thinker', stream: true, ...body })

async function openStream(key: string, path = CHAT, body: object = streamed()) {
  const response = await gateway.fetch('POST', path, { key, body })
  const reader = readPieces(response)
  await reader.until(/Hello/)
  return reader
}

/** Resolves when the thinking model has been asked so many times more. */
function untilAsked(times = 1): Promise<void> {
  const count = () => gateway.upstream.bodies().filter(({ model }) => model === 'thinker').length
  const wanted = count() + times
  return eventually(() => expect(count()).toBeGreaterThanOrEqual(wanted))
}

const refusedStream =
  (close: (account: TestAccount) => Promise<unknown>, code: string, path = CHAT, body = streamed()): Door =>
  async (account) => {
    const reader = await openStream(account.key, path, body)
    return { leave: () => close(account), told: reader.until(new RegExp(`"${code}"`)) }
  }

const refusedWhole =
  (path: string, body: object): Door =>
  async (account) => {
    const asked = untilAsked()
    const answering = gateway.request('POST', path, { key: account.key, body })
    await asked
    const told = answering.then(({ status, body: answer }) => {
      expect(status).toBe(401)
      expect(JSON.stringify(answer)).toContain('API key')
    })
    return { leave: () => revoke(account), told }
  }

const turnsOf = async ({ key }: TestAccount) => {
  const { body } = await gateway.request('POST', '/v1/compare/conversations', {
    key,
    body: { models: ['thinker', 'plain'] },
  })
  return `/v1/compare/conversations/${body.id}/turns`
}

const startRun = async ({ key }: TestAccount, body: object) => {
  const asked = untilAsked()
  const { body: run } = await gateway.request('POST', RUNS, { key, body: { prompt: 'Hi', ...body } })
  await asked
  return { leave: () => gateway.request('POST', `${RUNS}/${run.id}/cancel`, { key }), runId: run.id }
}

const startBackground = async ({ key }: TestAccount, members: object = {}) => {
  const asked = untilAsked()
  const body = { model: 'thinker', input: 'Hi', background: true, ...members }
  const response = await gateway.fetch('POST', '/v1/responses', { key, body })
  const id = /resp_[0-9a-f]+/.exec(await readPieces(response).until(/resp_[0-9a-f]+/))?.[0]
  await asked
  return `/v1/responses/${id}`
}

const leftBackground =
  (members: object, method: 'POST' | 'DELETE', end: string): Door =>
  async (account) => {
    const path = await startBackground(account, members)
    return { leave: () => gateway.request(method, `${path}${end}`, { key: account.key }) }
  }

const MESSAGE = { model: 'thinker', max_tokens: 9_000, messages: [{ role: 'user', content: 'Hi' }] }

/** Streams whose first word was sent, and after it nothing but hidden reasoning. */
const STREAM_DOORS: readonly [string, Door][] = [
  [
    'a client hangs up',
    async ({ key }) => {
      const reader = await openStream(key)
      return { leave: () => reader.cancel() }
    },
  ],
  ['the key of a stream is revoked', refusedStream(revoke, 'invalid_api_key')],
  ['the account of a stream is suspended', refusedStream(suspend, 'account_suspended')],
  [
    'the key of a stream of Messages is revoked',
    refusedStream(revoke, 'authentication_error', '/v1/messages', { ...MESSAGE, stream: true }),
  ],
  [
    'the key of a stream of Responses is revoked',
    refusedStream(revoke, 'invalid_api_key', '/v1/responses', {
      model: 'thinker',
      input: 'Hi',
      stream: true,
    }),
  ],
  [
    'the key of a stream expires',
    async (account) => {
      const { body: key } = await gateway.request('POST', '/v1/tenants/me/api-keys', {
        key: account.key,
        body: { expires_at: new Date(Date.now() + 1_500).toISOString() },
      })
      const reader = await openStream(key.key)
      return { leave: async () => {}, told: reader.until(/invalid_api_key/) }
    },
  ],
  [
    'the session of a stream ends',
    async ({ key }) => {
      const session = await signIn(gateway, key)
      const response = await gateway.fetch('POST', CHAT, {
        key: null,
        headers: { ...OWN_PAGE, cookie: session.cookie },
        body: streamed(),
      })
      const reader = readPieces(response)
      await reader.until(/Hello/)
      const leave = () => gateway.request('DELETE', `/v1/sessions/${session.id}`, { key })
      return { leave, told: reader.until(/invalid_session/) }
    },
  ],
  [
    'the key of a streamed turn is revoked',
    async (account) =>
      refusedStream(revoke, 'invalid_api_key', await turnsOf(account), { content: 'Hi', stream: true })(
        account,
      ),
  ],
  [
    'the key of a turn is revoked',
    async (account) => refusedWhole(await turnsOf(account), { content: 'Hi' })(account),
  ],
  ['a comparison run is cancelled', (account) => startRun(account, { models: ['thinker', 'plain'] })],
  ['a background response is cancelled', leftBackground({}, 'POST', '/cancel')],
  ['a streamed background response is cancelled', leftBackground({ stream: true }, 'POST', '/cancel')],
  ['a background response is deleted', leftBackground({}, 'DELETE', '')],
]

const WHOLE_DOORS: readonly [string, Door][] = [
  ['chat', refusedWhole(CHAT, chatBody({ model: 'thinker' }))],
  ['Messages', refusedWhole('/v1/messages', MESSAGE)],
  ['Responses', refusedWhole('/v1/responses', { model: 'thinker', input: 'Hi' })],
]

/** Read by the operator, because the account's keys may be refused. */
async function spentUsd({ accountId }: TestAccount): Promise<number> {
  const { body } = await gateway.request('GET', `/v1/admin/accounts/${accountId}/ledger`)
  return body.data
    .filter(({ kind }: { kind: string }) => kind === 'charge')
    .reduce((sum: number, { amount_usd: amountUsd }: { amount_usd: number }) => sum - amountUsd, 0)
}

/** Of models that answer at once beside the thinking one. */
const ANSWERS_USD_MAX = 0.001
async function expectThoughtsPaid(account: TestAccount, count = 1): Promise<void> {
  await eventually(async () => expect(await spentUsd(account)).toBeGreaterThan(count * THOUGHT_USD - 1e-9))
  expect(await spentUsd(account)).toBeLessThan(count * THOUGHT_USD + ANSWERS_USD_MAX)
}

const untilDraining = () =>
  eventually(async () => {
    const { body } = await gateway.request('GET', '/metrics', { key: null })
    expect(body).toMatch(/^parkway_drains_running(\{[^}]*\})? [1-9]/m)
  })

/** The thinking model says one word and thinks until `end`. All others answer. */
function letThink() {
  const thinking: PacedStream[] = []
  const reply: Reply = ({ body }) => {
    if (Object(body).model !== 'thinker') return stream(chunksOf('An answer'))
    const paced = pacedStream()
    thinking.push(paced)
    paced.release(chunk({ delta: { role: 'assistant', content: 'Hello' } }))
    return paced.reply
  }
  gateway.upstream.respondWith(reply)
  const end = () => {
    for (const paced of thinking) {
      paced.release(chunk({ finish_reason: 'stop' }))
      paced.release(chunk({ choices: [], usage: THOUGHT }))
      paced.finish()
    }
  }
  onTestFinished(end)
  return { end }
}

const start = (settings: Record<string, string> = {}) => startChatGateway({ models: MODELS, settings })

describe('hidden reasoning is read to its usage and charged', () => {
  beforeAll(async () => {
    gateway = await start()
  })
  afterAll(() => gateway.close())

  test.each(STREAM_DOORS)('when %s', async (_name, open) => {
    const paced = letThink()
    const account = await createAccount(gateway, { creditUsd: 5 })
    const { leave, told } = await open(account)
    await leave()
    await told
    await untilDraining()
    expect(await spentUsd(account)).toBeLessThan(ANSWERS_USD_MAX)
    paced.end()
    await expectThoughtsPaid(account)
  })

  test.each(WHOLE_DOORS)('when the key of a complete answer is revoked: %s', async (_name, open) => {
    const answer = heldBack(completion({ usage: THOUGHT }))
    gateway.upstream.respondWith(answer.reply)
    const account = await createAccount(gateway, { creditUsd: 5 })
    const { leave, told } = await open(account)
    await leave()
    await told
    await untilDraining()
    answer.release()
    await expectThoughtsPaid(account)
  })

  test('when a run is cancelled while its judge thinks', async () => {
    const paced = letThink()
    const account = await createAccount(gateway, { creditUsd: 5 })
    const { key } = account
    const asked = untilAsked(2)
    const { body: run } = await gateway.request('POST', RUNS, {
      key,
      body: {
        prompt: 'Hi',
        models: ['plain', 'simple'],
        judge: { model: 'thinker' },
      },
    })
    await asked
    await gateway.request('POST', `${RUNS}/${run.id}/cancel`, { key })
    await untilDraining()
    paced.end()
    // Both orders of the pair.
    await expectThoughtsPaid(account, 2)
  })

  test('once, and apart from its next answer, when a cancelled run is resumed at once', async () => {
    const paced = letThink()
    const account = await createAccount(gateway, { creditUsd: 5 })
    const { key } = account
    const { leave, runId } = await startRun(account, { models: ['thinker', 'plain'] })
    await leave()
    await untilDraining()
    expect((await gateway.request('POST', `${RUNS}/${runId}/resume`, { key })).status).toBe(200)
    gateway.upstream.respondWith(stream(chunksOf('Anew')))
    paced.end()
    const run = await eventually(async () => {
      const { body } = await gateway.request('GET', `${RUNS}/${runId}`, { key })
      expect(body.status).toBe('completed')
      return body
    })
    const answerUsd = (11 * 1 + 7 * 10) / 1e6
    expect(run.cost_usd).toBeCloseTo(THOUGHT_USD + 2 * answerUsd, 9)
    expect(await spentUsd(account)).toBeCloseTo(run.cost_usd, 9)
  })
})
