import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import type { Caller } from './authenticate/caller.ts'
import type { KeyRecord, KeyRequest } from './keys.ts'
import { startKeyProcesses, type KeyProcesses } from './testing/key-processes.ts'

const MODELS = ['a', 'b', 'c']
const DAY_MS = 86_400_000

let stage: KeyProcesses

beforeAll(async () => {
  stage = await startKeyProcesses()
})

afterAll(async () => {
  await stage.close()
})

const models = fc.subarray(MODELS)
const limit = fc.bigInt({ min: 0n, max: 9n })
const rate = fc.integer({ min: 1, max: 9 })
const days = fc.integer({ min: 1, max: 9 })

/** The rights that a client may request: a value, null, or no member. */
const asked = fc.record(
  {
    scopes: fc.subarray(['inference', 'manage', 'admin'] as const, { minLength: 1 }),
    environment: fc.constantFrom('dev' as const, 'live' as const),
    allowedModels: fc.option(models),
    limitNanoUsd: fc.option(limit),
    requestsPerMinute: fc.option(rate),
    days: fc.option(days),
  },
  { requiredKeys: [] },
)
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

const step = fc.oneof(
  fc.record({ act: fc.constant('create' as const), by: fc.nat(), asked }),
  fc.record({ act: fc.constant('update' as const), by: fc.nat(), of: fc.nat(), asked }),
  fc.record({ act: fc.constant('revoke' as const), by: fc.nat(), of: fc.nat() }),
)

const restriction = fc
  .record({
    allowedModels: fc.option(models),
    limitNanoUsd: fc.option(limit),
    requestsPerMinute: fc.option(rate),
    days: fc.option(days),
  })
  .filter((given) => Object.values(given).some((value) => value !== null))

test('no sequence of operations of a restricted key creates a key with more rights, or changes a key of others', async () => {
  await fc.assert(
    fc.asyncProperty(restriction, fc.array(step, { minLength: 3, maxLength: 10 }), async (given, steps) => {
      const accountId = await stage.insertAccount()
      const request: Omit<KeyRequest, 'name'> = { ...toRequest(given), scopes: ['inference', 'manage'] }
      const manager = await stage.managerWith(request, accountId)
      const held = await stage.keys.read(accountId, manager.keyId)
      const others = await readOthers(accountId, [held.id])
      const callers: Caller[] = [manager]
      for (const action of steps) {
        const made = await perform(action, callers, [...callers.map(({ keyId }) => keyId), ...others.keys()])
        if (made !== null) callers.push(made)
        for (const { keyId } of callers) {
          const key = await stage.keys.read(accountId, keyId)
          expect(excessOf(key, held)).toEqual([])
          // The spending and the rate of each key count against the limits of the restricted key.
          expect(keyId === held.id || key.parentId === held.id).toBe(true)
        }
        expect(
          await readOthers(
            accountId,
            callers.map(({ keyId }) => keyId),
          ),
        ).toEqual(others)
      }
    }),
    { numRuns: 30, endOnFailure: true },
  )
}, 300_000)

test('the root key can remove its own restrictions, and its successor is the oldest unrestricted key', async () => {
  const accountId = await stage.insertAccount()
  const operator = stage.callerWith('admin')
  const make = async (request: Partial<KeyRequest>) => {
    stage.nowMs += 1
    const { token } = await stage.keys.create(operator, accountId, { name: 'a key', ...request })
    return stage.keys.authenticate(token)
  }
  const restricted = await make({ limitNanoUsd: 5n })
  const root = await make({})
  const heir = await make({})
  await make({})
  const isRoot = async ({ keyId }: Caller) => (await stage.keys.read(accountId, keyId)).isRoot
  expect([await isRoot(restricted), await isRoot(root), await isRoot(heir)]).toEqual([false, true, false])
  await stage.keys.update(root, accountId, root.keyId, { limitNanoUsd: 1n, allowedModels: [] })
  await stage.keys.update(root, accountId, root.keyId, { limitNanoUsd: null, allowedModels: null })
  await stage.keys.revoke(root, accountId, root.keyId)
  expect([await isRoot(root), await isRoot(heir)]).toEqual([false, true])
})

async function perform(
  action: typeof step extends fc.Arbitrary<infer Value> ? Value : never,
  callers: readonly Caller[],
  targets: readonly string[],
): Promise<Caller | null> {
  const caller = callers[action.by % callers.length]
  if (caller === undefined) return null
  try {
    if (action.act === 'create') {
      const request = { name: 'made', ...toRequest(action.asked) }
      const { token } = await stage.keys.create(caller, caller.accountId, request)
      return await stage.keys.authenticate(token)
    }
    const target = targets[action.of % targets.length] ?? ''
    if (action.act === 'revoke') await stage.keys.revoke(caller, caller.accountId, target)
    else {
      const { environment: _fixed, ...changes } = toRequest(action.asked)
      await stage.keys.update(caller, caller.accountId, target, changes)
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    expect(['forbidden', 'invalid_api_key']).toContain(error.code)
  }
  return null
}

function toRequest({ days: lifetime, ...rest }: Asked): Omit<KeyRequest, 'name'> {
  if (lifetime === undefined) return rest
  return { ...rest, expiresAtMs: lifetime === null ? null : stage.nowMs + lifetime * DAY_MS }
}

async function readOthers(accountId: string, own: readonly string[]): Promise<Map<string, KeyRecord>> {
  const { items } = await stage.keys.list(accountId, { limit: 10_000, afterId: null })
  return new Map(items.filter(({ id }) => !own.includes(id)).map((key) => [key.id, key]))
}

/** Returns the rights of the key that the held key does not have, computed independently of the code under test. */
function excessOf(key: KeyRecord, held: KeyRecord): string[] {
  const calls = MODELS.filter((model) => key.allowedModels?.includes(model) ?? true)
  const unknown = [...(key.allowedModels ?? ['any other'])].filter((model) => !MODELS.includes(model))
  const allowed = new Set(held.allowedModels ?? [...MODELS, 'any other'])
  return [
    ...key.scopes.filter((scope) => !held.scopes.includes(scope)),
    ...[...calls, ...unknown].filter((model) => !allowed.has(model)),
    ...(Number(key.limitNanoUsd ?? Infinity) > Number(held.limitNanoUsd ?? Infinity) ? ['limit'] : []),
    ...((key.requestsPerMinute ?? Infinity) > (held.requestsPerMinute ?? Infinity) ? ['rate'] : []),
    ...((key.expiresAtMs ?? Infinity) > (held.expiresAtMs ?? Infinity) ? ['expiry'] : []),
    ...(key.environment === held.environment ? [] : ['environment']),
  ]
}
