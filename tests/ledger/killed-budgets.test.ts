import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  createProject,
  createProjectKey,
  joinAccount,
  type Asked,
  type Person,
} from '../organization/join-account.ts'
import { longOr } from '../support/long-or.ts'
import { askGateway } from './ask-gateway.ts'
import { startBreakingFleet, type BreakingFleet } from './breaking-fleet.ts'
import { isAnswered, spendFromMany, untilSpent } from './spend-until-refused.ts'
import { createCaller, type Call } from './spending-client.ts'
import type { ChargeRow, Fleet } from './start-fleet.ts'

const BREAKS = longOr(32, 3)
/** One break out of this many restarts the database. The others kill a gateway. */
const RESTART_EVERY = longOr(4, 3)
/** The number of breaks limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_200_000
const GATEWAYS = longOr(4, 2)
const CLIENTS = longOr(200, 20)
const CLIENTS_OF_OTHERS = longOr(20, 2)
const TOKENS_MAX = 400
const DOLLAR = 1_000_000_000n
const CENT = 10_000_000n
/** More than the shortest answer holds: its input as it is estimated before it is sent, and one token. */
const LEAST_NANO_USD = 1_100_000n

let breaking: BreakingFleet
let fleet: Fleet
const caller = createCaller()

beforeAll(async () => {
  breaking = await startBreakingFleet({ gateways: GATEWAYS })
  ;({ fleet } = breaking)
})
afterAll(async () => {
  caller.close()
  await breaking.close()
})

interface Payers {
  readonly accountId: string
  /** Sends requests with the key of the account. */
  readonly account: Asked
  readonly projectId: string
}

async function createPayers(): Promise<Payers> {
  const { accountId, key } = await fleet.createSpender({ creditUsd: 100 })
  const account = askGateway(breaking, key)
  return { accountId, account, projectId: await createProject(account) }
}

async function joinProject({ account, projectId }: Payers, email: string): Promise<Person> {
  return joinAccount(account, { email, projects: [{ id: projectId, role: 'owner' }] })
}

async function createOwnKey(person: Person): Promise<{ id: string; key: string }> {
  const { status, body } = await person.request('POST', '/v1/tenants/me/api-keys', { name: 'own' })
  expect([status, body]).toEqual([201, body])
  return { id: String(body.id), key: String(body.key) }
}

async function createServiceAccountKey({ account, projectId }: Payers): Promise<string> {
  const path = `/v1/organization/projects/${projectId}/service_accounts`
  const { status, body } = await account.request('POST', path, { body: { name: 'pipeline' } })
  expect([status, body]).toEqual([200, body])
  return String(body.api_key.value)
}

async function createBudget({ account }: Payers, subject: object, limitUsd: number): Promise<string> {
  const body = { subject, window: 'month', limit_usd: limitUsd }
  const answer = await account.request('POST', '/v1/organization/budgets', { body })
  expect([answer.status, answer.body]).toEqual([200, answer.body])
  return String(answer.body.id)
}

/** As the budget itself says it. */
async function readSpent({ account }: Payers, budgetId: string): Promise<bigint> {
  const { body } = await account.request('GET', `/v1/organization/budgets/${budgetId}`)
  return BigInt(Math.round(body.spent_usd * Number(DOLLAR)))
}

async function sumOfProject({ projectId }: Payers): Promise<bigint> {
  const [row] = await fleet.database.query<{ cost: bigint }>(
    `SELECT coalesce(sum(cost_nano_usd), 0)::bigint AS cost
     FROM usage_records JOIN api_keys ON api_keys.id = key_id WHERE project_id = $1`,
    [uuidOf(projectId)],
  )
  return row?.cost ?? 0n
}

/** `proj_…` has the digits of the id. */
function uuidOf(id: string): string {
  return id.slice(id.lastIndexOf('_') + 1)
}

const isRefused = ({ status }: Call) => status === 402

describe('ten keys of people, of a service account and of a project share a dollar, while processes are killed', () => {
  let payers: Payers
  let budgetId: string
  let ofProject: Call[]
  let ofOthers: Call[]
  let charges: ChargeRow[]

  beforeAll(async () => {
    payers = await createPayers()
    const { account, accountId, projectId } = payers
    const people = [
      await joinProject(payers, 'ada@example.com'),
      await joinProject(payers, 'bob@example.com'),
    ]
    const ofPeople = await Promise.all(people.map(createOwnKey))
    const keys = [...ofPeople.map(({ key }) => key), await createServiceAccountKey(payers)]
    while (keys.length < 10) keys.push(await createProjectKey(account, projectId, account))
    budgetId = await createBudget(payers, { type: 'project', id: projectId }, 1)
    let isOver = false
    const spend = (mayGoOn: () => boolean) =>
      spendFromMany(breaking, caller, {
        count: CLIENTS,
        keyOf: (client) => String(keys[client % keys.length]),
        tokensMax: TOKENS_MAX,
        mayGoOn,
      })
    const spendOthers = () =>
      spendFromMany(breaking, caller, {
        count: CLIENTS_OF_OTHERS,
        keyOf: () => account.key,
        tokensMax: TOKENS_MAX,
        mayGoOn: () => !isOver,
      })
    ;[ofProject, ofOthers] = await Promise.all([
      spend(() => !isOver),
      spendOthers(),
      breaking.breakThings({ breaks: BREAKS, restartEvery: RESTART_EVERY }).finally(() => (isOver = true)),
    ])
    await breaking.untilReclaimed()
    ofProject.push(...(await untilSpent(() => spend(() => true))))
    charges = await fleet.readCharges(accountId)
  }, FAR_AWAY_MS)

  test('not a nano-dollar more than the dollar is spent, and at most a cent less', async () => {
    const spent = await sumOfProject(payers)
    expect(spent).toBeLessThanOrEqual(DOLLAR)
    expect(spent).toBeGreaterThanOrEqual(DOLLAR - CENT)
    expect(await readSpent(payers, budgetId)).toBe(spent)
  })

  test('every completed answer is charged once', () => {
    const ids = charges.map(({ requestId }) => requestId)
    expect(new Set(ids).size).toBe(ids.length)
    const charged = new Set(ids)
    const completed = [...ofProject, ...ofOthers].filter(isAnswered)
    expect(completed.length).toBeGreaterThan(CLIENTS)
    expect(completed.filter(({ requestId }) => !charged.has(String(requestId)))).toEqual([])
  })

  test('what is refused is refused by this budget, and nobody outside the project is', () => {
    const refused = ofProject.filter(isRefused)
    expect(refused.length).toBeGreaterThanOrEqual(CLIENTS)
    expect(
      new Set(refused.map(({ code, headers }) => `${code} ${String(headers['x-gateway-budget'])}`)),
    ).toEqual(new Set([`budget_exceeded ${budgetId}`]))
    expect(ofOthers.filter(isRefused)).toEqual([])
  })

  test('the ledger verifies', async () => {
    expect(await fleet.findDifferences()).toEqual([])
  })
})

describe('budgets of account, project, group, person, key and tag at once', () => {
  test(
    'the tightest decides, one after the other, to the nano-dollar',
    async () => {
      const payers = await createPayers()
      const { account, projectId } = payers
      const { body: group } = await account.request('POST', '/v1/organization/groups', {
        body: { name: 'Search' },
      })
      const [ada, bob] = [
        await joinProject(payers, 'eve@example.com'),
        await joinProject(payers, 'joe@example.com'),
      ]
      for (const { id } of [ada, bob])
        await account.request('POST', `/v1/organization/groups/${group.id}/users`, { body: { user_id: id } })
      const [tight, other] = [await createOwnKey(ada), await createOwnKey(ada)]
      const tags = { 'x-gateway-tags': 'team=search' }
      // Each step spends with what the budgets before it do not limit.
      const steps = [
        { subject: { type: 'tag', id: 'team=search' }, cents: 3, key: tight.key, headers: tags },
        { subject: { type: 'key', id: tight.id }, cents: 5, key: tight.key },
        { subject: { type: 'user', id: ada.id }, cents: 7, key: other.key },
        { subject: { type: 'group', id: group.id }, cents: 9, key: (await createOwnKey(bob)).key },
        {
          subject: { type: 'project', id: projectId },
          cents: 11,
          key: await createServiceAccountKey(payers),
        },
        { subject: { type: 'account' }, cents: 13, key: account.key },
      ]
      const ids: string[] = []
      for (const { subject, cents } of steps) ids.push(await createBudget(payers, subject, cents / 100))
      let chargedNanoUsd = 0n
      for (const [index, { cents, key, headers = {} }] of steps.entries()) {
        const clients = { count: longOr(20, 2), keyOf: () => key, headers, tokensMax: TOKENS_MAX }
        const spend = (count: number) =>
          spendFromMany(breaking, caller, { ...clients, count, mayGoOn: () => true })
        const calls = await untilSpent(() => spend(clients.count))
        // While many ask at once, the room of a wider budget may be lent to another process. Afterwards only one has none.
        calls.push(...(await spend(1)))
        const spent = await readSpent(payers, String(ids[index]))
        const limit = BigInt(cents) * CENT
        expect(spent).toBeLessThanOrEqual(limit)
        expect(spent).toBeGreaterThan(limit - LEAST_NANO_USD)
        const refused = calls.filter(isRefused).map(({ headers: sent }) => sent['x-gateway-budget'])
        expect(ids).toEqual(expect.arrayContaining(refused))
        expect(refused.at(-1)).toBe(ids[index])
        chargedNanoUsd = spent
      }
      const charges = await fleet.readCharges(payers.accountId)
      expect(charges.reduce((sum, { costNanoUsd }) => sum + costNanoUsd, 0n)).toBe(chargedNanoUsd)
      expect(await fleet.findDifferences()).toEqual([])
    },
    FAR_AWAY_MS,
  )
})
