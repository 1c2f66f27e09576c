import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../compare/start-compare-gateway.ts'
import { createProjectKey } from './join-account.ts'
import {
  START_SECONDS,
  sorted,
  startChargedAccount,
  sumBy,
  type Charged,
  type ChargedAccount,
} from './charged-account.ts'

let account: ChargedAccount

beforeAll(async () => {
  account = await startChargedAccount()
}, 120_000)
afterAll(() => account.close())

const COSTS = '/v1/organization/costs'

const lineItemOf = ({ model, operation }: Charged): string => `${model}, ${operation}`

describe('costs', () => {
  test('are those of the ledger', async () => {
    const [entries] = await account.database.query<{ sum: bigint }>(
      `SELECT -sum(amount_nano_usd)::bigint AS sum FROM ledger_entries WHERE account_id = $1 AND kind = 'charge' AND book = 'credit'`,
      [account.accountId],
    )
    const results = await account.readAll(COSTS, '')
    expect(results.reduce((sum, { amount }) => sum + BigInt(amount.nano_usd), 0n)).toBe(entries?.sum)
    expect(entries?.sum).toBe(account.charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n))
  })

  test.each<[string, (charge: Charged) => readonly unknown[]]>([
    ['', () => [null, null, null, null, null, undefined]],
    ['project_id', (charge) => [charge.project_id, null, null, null, null, undefined]],
    ['user_id', (charge) => [null, charge.user_id, null, null, null, undefined]],
    ['api_key_id', (charge) => [null, null, charge.keyId, null, null, undefined]],
    ['model', (charge) => [null, null, null, charge.model, null, undefined]],
    ['line_item', (charge) => [null, null, null, null, lineItemOf(charge), undefined]],
    ['tag:team', (charge) => [null, null, null, null, null, charge.team]],
    ['project_id&group_by=tag:team', (charge) => [charge.project_id, null, null, null, null, charge.team]],
    [
      'project_id&group_by=user_id&group_by=api_key_id&group_by=model&group_by=line_item',
      (charge) => [
        charge.project_id,
        charge.user_id,
        charge.keyId,
        charge.model,
        lineItemOf(charge),
        undefined,
      ],
    ],
  ])('agree to the nano-dollar by day and %s', async (groupBy, nameOf) => {
    const query = groupBy === '' ? '' : `&group_by=${groupBy}`
    for (const limit of ['&limit=180', '&limit=13']) {
      const results = await account.readAll(COSTS, query + limit)
      const told = new Map<string, bigint>()
      for (const { at, project_id, user_id, api_key_id, model, line_item, tags, amount } of results) {
        const tag = tags === undefined ? undefined : Object(tags).team
        const name = JSON.stringify([at, project_id, user_id, api_key_id, model, line_item, tag])
        expect(told.has(name)).toBe(false)
        told.set(name, BigInt(amount.nano_usd))
        expect(amount.value).toBe(Number(amount.nano_usd) / 1e9)
      }
      expect(sorted(told)).toEqual(sorted(sumBy(account.charges, nameOf, ({ costNanoUsd }) => costNanoUsd)))
    }
  })

  test.each<[string, (charge: Charged) => boolean]>([
    ['tags[]=team=a', ({ team }) => team === 'a'],
    ['tags=team=a&tags=team=b%20%C3%A4', ({ team }) => team !== null],
    ['tags[]=team=nobody', () => false],
    ['models[]=m-1&models[]=m-2', ({ model }) => model !== 'deployment/x'],
    ['tags[]=team=a&models=m-1', ({ team, model }) => team === 'a' && model === 'm-1'],
  ])('are filtered by %s', async (query, isWanted) => {
    const results = await account.readAll(COSTS, `&limit=180&${query}`)
    const sum = results.reduce((total, { amount }) => total + BigInt(amount.nano_usd), 0n)
    expect(sum).toBe(
      account.charges.filter(isWanted).reduce((total, { costNanoUsd }) => total + costNanoUsd, 0n),
    )
  })

  test('are filtered by account.projects, people, service accounts and keys', async () => {
    const sumOf = async (query: string, key?: string) =>
      (await account.readAll(COSTS, `&limit=180&${query}`, key)).reduce(
        (total, { amount }) => total + BigInt(amount.nano_usd),
        0n,
      )
    const of = (isWanted: (charge: Charged) => boolean) =>
      account.charges.filter(isWanted).reduce((total, { costNanoUsd }) => total + costNanoUsd, 0n)
    for (const place of account.places) {
      const isOf = ({ project_id }: Charged) => project_id === place.project_id
      expect(await sumOf(`project_ids[]=${place.project_id}`)).toBe(of(isOf))
      expect(await sumOf(`api_key_ids=${place.keyId}`)).toBe(of(({ keyId }) => keyId === place.keyId))
      if (place.user_id !== null)
        expect(await sumOf(`user_ids[]=${place.user_id}&tags[]=team=a`)).toBe(
          of(({ user_id, team }) => user_id === place.user_id && team === 'a'),
        )
    }
    expect(await sumOf('', account.projectKey)).toBe(
      of(({ project_id }) => project_id === account.projects[1]),
    )
  })

  test('are read by keys of their project, and no others', async () => {
    const ask = (query: string, key: string) =>
      account.gateway.request('GET', `${COSTS}?start_time=${START_SECONDS}${query}`, { key })
    expect((await ask(`&project_ids[]=${account.projects[1]}`, account.projectKey)).status).toBe(200)
    expect((await ask(`&project_ids[]=${account.projects[0]}`, account.projectKey)).status).toBe(404)
    const all = await account.readAll(COSTS, '&limit=180&group_by=project_id', account.projectKey)
    expect(new Set(all.map(({ project_id }) => project_id))).toEqual(new Set([account.projects[1]]))
    const stranger = await createStranger(account.gateway)
    expect(await account.readAll(COSTS, `&project_ids[]=${account.projects[0]}`, stranger)).toEqual([])
    expect(await account.readAll(COSTS, '&limit=180', stranger)).toEqual([])
    const reader = await createProjectKey(account.gateway, account.projects[0] ?? '', {
      scopes: ['inference'],
    })
    expect((await ask('', reader)).status).toBe(403)
  })

  test.each([
    ['no beginning', 'limit=5'],
    ['an end before the beginning', `start_time=${START_SECONDS}&end_time=${START_SECONDS}`],
    ['hours', 'start_time=1&bucket_width=1h'],
    ['too many days', 'start_time=1&limit=181'],
    ['an unknown group', 'start_time=1&group_by=constructor'],
    ['a tag without a name', 'start_time=1&group_by=tag:'],
    ['two tags', 'start_time=1&group_by=tag:a&group_by=tag:b'],
    ['tags of two names', 'start_time=1&tags=a=b&tags=c=d'],
    ['what is no tag', 'start_time=1&tags=a'],
    ['an id that is none', 'start_time=1&project_ids=proj_x'],
    ['a key instead of its id', 'start_time=1&api_key_ids=pk-dev-x'],
    ['a page of nobody', 'start_time=1&page=page_zzzzzzzzzzzz'],
    ['a page that is none', 'start_time=1&page=2'],
    ['a page before the beginning', `start_time=${START_SECONDS}&page=page_0`],
    ['a time before 1970', 'start_time=-1'],
    ['a time that does not exist', 'start_time=1e300'],
  ])('with %s are 400', async (_, query) => {
    expect((await account.gateway.request('GET', `${COSTS}?${query}`)).status).toBe(400)
  })
})
