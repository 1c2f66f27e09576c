import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createStranger } from '../../compare/start-compare-gateway.ts'
import { startTestGateway, type TestAnswer, type TestGateway } from '../../support/start-test-gateway.ts'
import { HUB_ID, startWalkedHub } from '../../upstreams/walked-hub.ts'
import type { HubServer } from '../../upstreams/hub-server.ts'
import { makeSide, makeWork, NEXT_MONTH, type Side } from './make-things.ts'
import { REFERENCES } from './references.ts'
import { idsIn, isWalked, OF_EVERYBODY } from './path-ids.ts'

let hub: HubServer
let gateway: TestGateway
let operations: readonly Operation[]
/** Whose things the others name. */
let owner: Side
/** Of another account, with every scope; and with a key of another project of the same account. */
let strangers: Readonly<Record<string, { side: Side; key: string; mayReachAccount: boolean }>>

interface Operation {
  readonly name: string
  readonly isOfAccount: boolean
  readonly example: unknown
}

beforeAll(async () => {
  hub = await startWalkedHub()
  gateway = await startTestGateway({
    settings: {
      PARKWAY_BODY_STORAGE: 'accounts',
      PARKWAY_SANDBOX_GPU_START_MS: '100',
      HF_ENDPOINT: hub.url,
      PARKWAY_OUTBOUND_ALLOW: `${hub.cdnHost},${new URL(hub.url).host}`,
      PARKWAY_BOOTSTRAP_CREDIT_USD: '1000',
    },
  })
  const { body: document } = await gateway.request('GET', '/openapi.json', { key: null })
  operations = operationsOf(document.paths)
  const made = await makeSide({ gateway, accountKey: gateway.key, name: 'mine' })
  const work = await makeWork(made, { hubId: HUB_ID, hookUrl: `${hub.url}/hook` })
  owner = { ...made, things: { ...made.things, ...work } }
  const account = await createStranger(gateway, 100)
  const elsewhere = await makeSide({ gateway, accountKey: account, name: 'stranger' })
  const beside = await makeSide({ gateway, accountKey: gateway.key, name: 'beside' })
  strangers = {
    'another account': { side: elsewhere, key: account, mayReachAccount: true },
    'another project': { side: beside, key: beside.projectKey, mayReachAccount: false },
  }
}, 120_000)
afterAll(async () => {
  await gateway.close()
  await hub.close()
})

describe.each(['another account', 'another project'])('for a key of %s', (stranger) => {
  test('every operation answers 404 for ids that are not its own, and changes nothing', async () => {
    const { side, key, mayReachAccount } = strangers[stranger] ?? fail()
    const before = await readOwner()
    const wrong: unknown[] = []
    const walked = operations.filter(({ name }) => isWalked(name))
    for (const operation of walked)
      for (const foreign of foreignSets(operation.name)) {
        const asked = pathOf(operation.name, (thing) =>
          foreign.includes(thing) ? owner.things[thing] : side.things[thing],
        )
        const { status, body } = await ask(operation, asked, { key, own: side })
        const expected = operation.isOfAccount && !mayReachAccount ? 403 : 404
        if (status !== expected) wrong.push([operation.name, foreign, status, body])
      }
    expect(wrong).toEqual([])
    expect(walked.length).toBeGreaterThan(120)
    expect(namesOfChanged(before, await readOwner())).toEqual([])
  })

  test('ids that are not its own are refused in bodies and queries too, and change nothing', async () => {
    const { side, key, mayReachAccount } = strangers[stranger] ?? fail()
    const before = await readOwner()
    const wrong: unknown[] = []
    for (const [what, refer] of Object.entries(REFERENCES)) {
      const { operation, body, isOfAccount = false, refused = [404] } = refer(owner.things, side.things)
      const [method = '', path = ''] = operation.split(' ')
      const answer = await gateway.request(method, path, { key, ...(body !== undefined && { body }) })
      const expected = isOfAccount && !mayReachAccount ? [403] : refused
      if (!expected.includes(answer.status)) wrong.push([what, answer.status, answer.body])
    }
    expect(wrong).toEqual([])
    expect(namesOfChanged(before, await readOwner())).toEqual([])
  })
})

test('a model that another account fetches ahead is as if nobody did, and cannot be cancelled', async () => {
  const path = `/v1/deployments/prefetch/${HUB_ID}`
  const { key } = strangers['another account'] ?? fail()
  const before = await gateway.request('GET', path)
  expect(before.body.status).not.toBe('not_found')
  for (const [method, at] of [
    ['GET', path],
    ['POST', `${path}/cancel`],
  ] as const)
    expect((await gateway.request(method, at, { key })).body).toMatchObject({
      status: 'not_found',
      progress: 0,
    })
  expect((await gateway.request('GET', path)).body.status).not.toBe('cancelled')
})

/** All ids of a path foreign, and each of several alone. */
function foreignSets(name: string): string[][] {
  const things = idsIn(name)
    .map(([, thing]) => thing)
    .filter((thing) => !(thing in OF_EVERYBODY))
  return things.length < 2 ? [things] : [things, ...things.map((thing) => [thing])]
}

/** Reads everything of the owner that an operation reads by its id, and the audit log, which has each change. */
async function readOwner(): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  for (const { name } of operations) {
    if (!name.startsWith('GET ') || !isWalked(name) || CHANGES_BY_ITSELF.test(name)) continue
    const path = pathOf(name, (thing) => owner.things[thing])
    const { status, body } = await gateway.request('GET', path + queryOf(name, owner))
    expect([name, status === 404]).toEqual([name, false])
    found[name] = JSON.stringify([status, body])
      .replaceAll(/\/media\/[\w-]+/g, '/media/…')
      // Reading is a use of the owner's key, which is written a moment later.
      .replaceAll(/"last_used_at":[^,}]+/g, '"last_used_at":…')
  }
  const { body } = await gateway.request('GET', '/v1/organization/audit_logs?limit=1')
  return { ...found, audit: String(body.first_id) }
}

/** Events of deployments are compared instead of what runs on. A PDF has the time when it was made. */
const CHANGES_BY_ITSELF =
  /\/(billing|deployments\/\{id\}|diff|export|logs|metrics|receipt|stream|webhook-deliveries)$/

function namesOfChanged(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(before).filter((name) => before[name] !== after[name])
}

/** What an operation demands beside its path. */
function queryOf(name: string, { things }: Side): string {
  return name.endsWith('/diff') ? `?against=${things['run']}` : ''
}

function pathOf(name: string, idOf: (thing: string) => string | undefined): string {
  const path = name.slice(name.indexOf('/'))
  return idsIn(name).reduce((text, [param, thing]) => {
    const id = OF_EVERYBODY[thing] ?? idOf(thing)
    if (id === undefined || id === 'undefined') throw new Error(`there is no ${thing} for '${name}'`)
    return text.replace(`{${param}}`, id)
  }, path)
}

/** Bodies name things of the asker, so that only the id in the path can be what is refused. */
function bodyOf({ name, example }: Operation, { things }: Side): unknown {
  const { user, group, role, projectRole } = things
  if (name.includes('/groups/{group_id}/users')) return { user_id: user }
  if (name.endsWith('/raise')) return { amount_usd: 1, until: NEXT_MONTH }
  if (name.endsWith('/users')) return { user_id: user, role: 'member' }
  if (name.endsWith('projects/{project_id}/groups')) return { group_id: group, role: 'viewer' }
  if (/ \/v1\/projects\/.*\/(users|groups)\/.*\/roles$/.test(name)) return { role_id: projectRole }
  if (/\/(users|groups)\/.*\/roles$/.test(name)) return { role_id: role }
  return example
}

function ask(
  operation: Operation,
  path: string,
  { key, own }: { key: string; own: Side },
): Promise<TestAnswer> {
  const [method = ''] = operation.name.split(' ')
  const body = method === 'GET' ? undefined : bodyOf(operation, own)
  return gateway.request(method, path + queryOf(operation.name, own), {
    key,
    ...(body !== undefined && { body }),
  })
}

// oxlint-disable-next-line typescript/no-explicit-any -- the test reaches into the document and fails loudly on a wrong shape
function operationsOf(paths: Record<string, Record<string, any>>): Operation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      name: `${method.toUpperCase()} ${path}`,
      isOfAccount: described['x-reach'] === 'account',
      example: described.requestBody?.content?.['application/json']?.example,
    })),
  )
}

function fail(): never {
  throw new Error('nobody is walked by that name')
}
