import { afterAll, beforeAll, expect, test } from 'vitest'
import { modelEntry } from '../chat/start-chat-gateway.ts'
import { startFleet, type Fleet } from '../ledger/start-fleet.ts'
import { MODELS, offeredModel, PRICE } from '../offer/offered-model.ts'
import { longOr } from '../support/long-or.ts'
import { findUnexplainedCharges } from '../support/unexplained-charges.ts'
import { completion, startOpenAiServer, USAGE, type OpenAiServer } from '../upstreams/openai-server.ts'
import { call, type Called } from './call.ts'

const CLIENTS = longOr(64, 12)
const CHANGES = longOr(200, 18)
/** New connections to one machine, of which every process gets some. */
const LOOKS = 6
const PROVIDERS = '/v1/admin/providers'
const CHAT = '/v1/chat/completions'
/** Of the catalog file, by providers of which only the last one always exists. */
const ROUTED = 'routed'
/** Of the database, always there. */
const PRICED = 'priced'
/** Of the database, added and removed. */
const PASSING = 'passing-model'

let upstream: OpenAiServer
let fleet: Fleet
/** Two machines: each has its processes on one port, and they share only the database. */
let urls: string[]

beforeAll(async () => {
  upstream = await startOpenAiServer(completion())
  fleet = await startFleet({ upstream, environment: { PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' } })
  const routes = [
    { provider: 'changing', model: 'm', priority: 0 },
    { provider: 'passing', model: 'm', priority: 0 },
    { provider: 'openai', model: 'm', priority: 1 },
  ]
  const models = [modelEntry(ROUTED, routes, { max_output_tokens: 100 })]
  fleet.workplace.write('catalog.json', JSON.stringify({ models }))
  urls = [(await fleet.start({ processes: 2 })).url, (await fleet.start({ processes: longOr(2, 1) })).url]
})
afterAll(async () => {
  await fleet.close()
  await upstream.close()
})

/** What is promised at a moment. Nothing is while it changes. */
class Promised<Value> {
  #value: Value
  #changes = 0
  constructor(value: Value) {
    this.#value = value
  }

  async change(next: Value, make: () => Promise<void>): Promise<void> {
    this.#changes += 1
    await make()
    this.#value = next
    this.#changes += 1
  }

  /** Returns a function that says what was promised all the time since, if anything. */
  watch(): () => Value | undefined {
    const before = this.#changes
    return () => (this.#changes === before && before % 2 === 0 ? this.#value : undefined)
  }
}

const ask = async (url: string, model: string, content = 'Hi'): Promise<Called> => {
  const response = await fetch(url + CHAT, {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content }] }),
  })
  return { status: response.status, body: await response.json() }
}
const costAt = (factor: number) => (factor * (USAGE.prompt_tokens + 10 * USAGE.completion_tokens)) / 1e6
const priceAt = (factor: number) => ({ ...PRICE, input_usd_per_1m: factor, output_usd_per_1m: 10 * factor })

test(`no request fails and every charge has one price while ${CLIENTS} clients ask and ${CHANGES} changes are made`, async () => {
  const factor = new Promised(1)
  const isThere = new Promised(false)
  const key = new Promised('')
  const took: number[] = []
  const send = async (method: string, path: string, body?: object): Promise<void> => {
    const url = urls[took.length % urls.length] ?? ''
    const beganMs = performance.now()
    const answer = await call(method, url + path, { key: fleet.key, body })
    took.push(performance.now() - beganMs)
    expect([method, path, answer.body.error?.message, answer.status < 300]).toEqual([
      method,
      path,
      undefined,
      true,
    ])
  }
  // What an earlier try may have left.
  for (const path of [
    `${MODELS}/${PRICED}`,
    `${MODELS}/${PASSING}`,
    `${PROVIDERS}/changing`,
    `${PROVIDERS}/passing`,
  ])
    await call('DELETE', `${urls[0]}${path}`, { key: fleet.key })
  await send('POST', MODELS, offeredModel(PRICED, { max_output_tokens: 100 }))
  await send('POST', PROVIDERS, {
    name: 'changing',
    base_url: upstream.apiUrl,
    api_key: 'sk-of-the-beginning',
  })

  const wrong: unknown[] = []
  const load = { isOver: false, paid: 0 }
  const client = async (index: number): Promise<void> => {
    for (let turn = index; !load.isOver; turn += 1) {
      const model = [ROUTED, PRICED, PASSING][turn % 3] ?? ''
      const [wasThere, was] = [isThere.watch(), factor.watch()]
      const { status, body } = await ask(urls[index % urls.length] ?? '', model)
      if (status === 200) load.paid += 1
      const mayBeGone = model === PASSING && wasThere() !== true
      if (model === PASSING && wasThere() === false && status !== 404) wrong.push({ model, status })
      if (status !== 200 && !(mayBeGone && status === 404)) wrong.push({ model, status, body })
      const expected = was()
      if (status === 200 && model === PRICED && expected !== undefined)
        if (body.usage.cost_usd !== costAt(expected)) wrong.push({ expected, usage: body.usage })
    }
  }
  const clients = Array.from({ length: CLIENTS }, (_, index) => client(index))

  const changeOnce = async (round: number): Promise<void> => {
    const next = `sk-of-the-round-${round}`
    switch (round % 9) {
      case 0:
        return key.change(next, () =>
          send('PATCH', `${PROVIDERS}/changing`, { credentials: [{ api_key: next }] }),
        )
      case 1:
        return send('POST', PROVIDERS, { name: 'passing', base_url: upstream.apiUrl, api_key: next })
      case 2:
        return factor.change(round, () =>
          send('PATCH', `${MODELS}/${PRICED}`, { price: priceAt(round), name: `Priced ${round}` }),
        )
      case 3:
        return isThere.change(true, () => send('POST', MODELS, offeredModel(PASSING)))
      case 4:
        return send('PATCH', `${PROVIDERS}/changing`, { headers: { 'x-round': String(round) } })
      case 5:
        return factor.change(round, () =>
          send('POST', `${MODELS}/${PRICED}/prices`, { price: priceAt(round) }),
        )
      case 6:
        return send('POST', `${MODELS}/${ROUTED}/prices`, {
          price: priceAt(round),
          effective_from: new Date(Date.now() + 3_000).toISOString(),
        })
      case 7:
        return send('DELETE', `${PROVIDERS}/passing`)
      default:
        return isThere.change(false, () => send('DELETE', `${MODELS}/${PASSING}`))
    }
  }
  const expectEverywhere = async (): Promise<void> => {
    const [wanted, there] = [factor.watch()(), isThere.watch()()]
    const looks = urls.flatMap((url) => Array.from({ length: LOOKS }, () => url))
    const seen = await Promise.all(
      looks.map(async (url) => {
        const [priced, passing] = await Promise.all(
          [PRICED, PASSING].map((id) => call('GET', `${url}/v1/models/${id}`, { key: fleet.key })),
        )
        return [priced?.body.price?.input_usd_per_1m, passing?.status === 200]
      }),
    )
    expect(seen).toEqual(looks.map(() => [wanted, there]))
  }
  const expectKey = async (): Promise<void> => {
    const looks = urls.flatMap((url) => Array.from({ length: LOOKS }, (_, index) => ({ url, index })))
    await Promise.all(
      looks.map(async ({ url, index }) => {
        const marker = `${key.watch()()} at ${url} ${index}`
        expect((await ask(url, ROUTED, marker)).status).toBe(200)
        const sent = upstream.requests.findLast(({ text }) => text.includes(marker))
        expect(sent?.headers['authorization']).toBe(`Bearer ${key.watch()()}`)
      }),
    )
  }

  try {
    for (let round = 1; round <= CHANGES; round += 1) {
      await changeOnce(round)
      await expectEverywhere()
      if (round % 9 === 0) await expectKey()
    }
  } finally {
    load.isOver = true
    await Promise.all(clients)
  }
  expect(wrong).toEqual([])
  expect(took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)]).toBeLessThan(1_000)
  const { unexplained, checked, withoutList } = await findUnexplainedCharges(fleet.database)
  expect([unexplained, withoutList]).toEqual([[], 0])
  expect(checked).toBeGreaterThanOrEqual(load.paid)
  expect(fleet.findDefects()).toEqual([])
})

test('the command for operators computes the charges of the month again, and names one that was altered', async () => {
  const verify = async () => {
    const month = new Date().toISOString().slice(0, 7)
    const environment = { DATABASE_URL: fleet.connectionString }
    return fleet.workplace.run(['ledger', 'verify', '--month', month], { environment })
  }
  const explained = await verify()
  expect([explained.code, explained.stdout]).toEqual([
    0,
    expect.stringMatching(/^holds {3}every charge of the month .*\([1-9]\d* computed again\)$/m),
  ])
  const [altered] = await fleet.database.query<{ id: string }>(
    `UPDATE usage_records SET cost_nano_usd = cost_nano_usd + 1
     WHERE id = (SELECT max(id::text)::uuid FROM usage_records WHERE cost_nano_usd > 0) RETURNING id::text`,
  )
  const { code, stdout } = await verify()
  await fleet.database.query('UPDATE usage_records SET cost_nano_usd = cost_nano_usd - 1 WHERE id = $1', [
    altered?.id,
  ])
  expect([code, stdout]).toEqual([1, expect.stringContaining(`record ${altered?.id} of account`)])
})
