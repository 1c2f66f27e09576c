import { beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import type { Queryable } from '../../storage/database.ts'
import type { MessageHandler } from '../../storage/message-bus.ts'
import { KeyAuthenticator } from './authenticate-key.ts'
import type { KeyChangeBus } from './key-change.ts'
import { createKeyToken, hashKey } from './key-form.ts'

const START_MS = Date.UTC(2030, 0, 1)
const token = createKeyToken('dev')
const keyId = createId()
const accountId = createId()

let nowMs: number
let row: Record<string, unknown> | null
let reads: number
let database: ReturnType<typeof createControlledDatabase>
let bus: ReturnType<typeof createFakeBus>
let uses: string[]
let authenticator: KeyAuthenticator

beforeEach(() => {
  nowMs = START_MS
  reads = 0
  row = keyRow()
  database = createControlledDatabase()
  bus = createFakeBus()
  uses = []
  authenticator = new KeyAuthenticator({
    database,
    clock: { nowMs: () => nowMs },
    messageBus: bus,
    noteUse: (id) => uses.push(id),
  })
})

describe('a key in memory', () => {
  test('is answered at once, without a promise and without the database', async () => {
    const caller = await authenticator.authenticate(token)
    expect(authenticator.authenticate(token)).toBe(caller)
    expect(caller).toMatchObject({ accountId, keyId, environment: 'dev', requestsPerMinute: 60 })
    expect([...caller.scopes]).toEqual(['inference'])
    expect(reads).toBe(1)
    expect(uses).toEqual([keyId, keyId])
  })

  test('stops at the very moment it expires', async () => {
    row = keyRow({ expires_at: new Date(START_MS + 1000) })
    await authenticator.authenticate(token)
    nowMs = START_MS + 999
    expect(authenticator.authenticate(token)).toMatchObject({ keyId })
    nowMs = START_MS + 1000
    expect(() => authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
    expect(reads).toBe(1)
  })

  test('is read again after a message about it, and not after one about another', async () => {
    await authenticator.authenticate(token)
    bus.deliver(`key ${createId()}`)
    await authenticator.authenticate(token)
    expect(reads).toBe(1)
    row = null
    bus.deliver(`key ${keyId}`)
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(reads).toBe(2)
  })

  test('is read again after a message about its account', async () => {
    await authenticator.authenticate(token)
    row = keyRow({ account_status: 'suspended' })
    bus.deliver(`account ${accountId}`)
    await expect(authenticate()).rejects.toMatchObject({ code: 'account_suspended' })
  })

  test('is read again after a message that nobody understands', async () => {
    await authenticator.authenticate(token)
    bus.deliver('from the future')
    await authenticator.authenticate(token)
    expect(reads).toBe(2)
  })

  test('keeps working while the database is away', async () => {
    await authenticator.authenticate(token)
    database.failWith(new Error('connection refused'))
    nowMs += 60_000
    expect(authenticator.authenticate(token)).toMatchObject({ keyId })
    await database.settled()
    expect(authenticator.authenticate(token)).toMatchObject({ keyId })
  })

  test('is checked against the database again in time even if no message came', async () => {
    await authenticator.authenticate(token)
    row = null
    nowMs += 30_000
    expect(authenticator.authenticate(token)).toMatchObject({ keyId })
    await database.settled()
    expect(() => authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
  })
})

describe('without the bus', () => {
  test('memory is not trusted: every request reads the database', async () => {
    await authenticator.authenticate(token)
    bus.disconnect()
    await authenticator.authenticate(token)
    await Promise.all([authenticator.authenticate(token), authenticator.authenticate(token)])
    expect(reads).toBe(4)
    bus.connect()
    await authenticator.authenticate(token)
    expect(authenticator.authenticate(token)).toMatchObject({ keyId })
    expect(reads).toBe(5)
  })

  test('and without the database the answer is to try again', async () => {
    await authenticator.authenticate(token)
    bus.disconnect()
    database.failWith(new Error('connection refused'))
    await expect(authenticate()).rejects.toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 })
  })

  test('a read that began without the bus is not remembered', async () => {
    bus.disconnect()
    database.hold()
    const running = authenticator.authenticate(token)
    bus.connect()
    database.release()
    await running
    await authenticator.authenticate(token)
    expect(reads).toBe(2)
  })
})

describe('reads', () => {
  test('of the same key at the same time are one', async () => {
    const callers = await Promise.all(Array.from({ length: 50 }, () => authenticate()))
    expect(new Set(callers).size).toBe(1)
    expect(reads).toBe(1)
  })

  test('that a change overtakes are neither remembered nor shared with who asks later', async () => {
    database.hold()
    const early = authenticator.authenticate(token)
    row = null
    bus.deliver(`key ${keyId}`)
    const late = authenticate()
    database.release()
    await expect(early).resolves.toMatchObject({ keyId })
    await expect(late).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(reads).toBe(2)
    expect(() => authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
  })

  test('that a change overtakes are not remembered when nobody asks in between', async () => {
    database.hold()
    const early = authenticator.authenticate(token)
    row = null
    bus.deliver(`key ${keyId}`)
    database.release()
    await expect(early).resolves.toMatchObject({ keyId })
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('beyond a bound are refused instead of queued', async () => {
    database.hold()
    const running = Array.from({ length: 1000 }, () => authenticate(createKeyToken('dev')))
    await expect(authenticate()).rejects.toMatchObject({ code: 'service_unavailable' })
    database.release()
    const outcomes = await Promise.allSettled(running)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    await expect(authenticate()).resolves.toMatchObject({ keyId })
  })
})

describe('an unknown key', () => {
  test('is read once, then refused from memory for a moment', async () => {
    row = null
    await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(() => authenticator.authenticate(token)).toThrow()
    expect(reads).toBe(1)
    row = keyRow()
    nowMs += 5000
    await expect(authenticate()).resolves.toMatchObject({ keyId })
  })

  test('is refused without naming it, and says how to authenticate', async () => {
    row = null
    const error: unknown = await authenticate().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ headers: { 'www-authenticate': 'Bearer' } })
    expect(JSON.stringify(error) + String(error)).not.toContain(token.slice(0, 12))
  })

  test('that does not have the form of a key never reaches the database', () => {
    for (const text of ['', 'secret', 'Bearer x', `sk-${token}`, 'x'.repeat(100_000)]) {
      expect(() => authenticator.authenticate(text)).toThrow(
        expect.objectContaining({ code: 'invalid_api_key' }),
      )
    }
    expect(reads).toBe(0)
  })
})

test('a row whose hash differs is refused even if the database returned it', async () => {
  row = keyRow({ key_hash: Buffer.from(hashKey('another'), 'hex') })
  await expect(authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
})

test('the balance is known with the key and forgotten with its account', async () => {
  expect(authenticator.cachedBalanceNanoUsd(accountId)).toBe(undefined)
  await authenticator.authenticate(token)
  expect(authenticator.cachedBalanceNanoUsd(accountId)).toBe(5_000_000_000n)
  bus.deliver(`account ${accountId}`)
  expect(authenticator.cachedBalanceNanoUsd(accountId)).toBe(undefined)
})

async function authenticate(presented = token) {
  return authenticator.authenticate(presented)
}

function keyRow(overrides: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    id: keyId,
    account_id: accountId,
    name: 'a key',
    environment: 'dev',
    key_hash: Buffer.from(hashKey(token), 'hex'),
    key_prefix: 'pk-dev-AbCd…',
    scopes: ['inference'],
    allowed_models: null,
    limit_nano_usd: null,
    requests_per_minute: 60,
    expires_at: null,
    revoked_at: null,
    created_at: new Date(START_MS),
    last_used_at: null,
    account_status: 'active',
    balance_nano_usd: 5_000_000_000n,
    ...overrides,
  }
}

/** Answers with the row as it was when the question arrived, as a database does, and can be made to wait. */
function createControlledDatabase() {
  let gate = Promise.withResolvers<void>()
  gate.resolve()
  let failure: Error | null = null
  const running = new Set<Promise<unknown>>()
  const answer = async (values: readonly unknown[]): Promise<unknown[]> => {
    reads += 1
    const asked = Buffer.isBuffer(values[0]) ? values[0].toString('hex') : ''
    const rows = row !== null && asked === hashKey(token) ? [row] : []
    await gate.promise
    if (failure !== null) throw failure
    return rows
  }
  const query = (_sql: string, values: readonly unknown[] = []) => {
    const answering = answer(values)
    running.add(answering)
    return answering
  }
  return {
    query: query as Queryable['query'],
    hold: () => (gate = Promise.withResolvers<void>()),
    release: () => gate.resolve(),
    failWith: (error: Error) => (failure = error),
    settled: async () => {
      await Promise.allSettled(running)
      await new Promise((resolve) => setImmediate(resolve))
    },
  }
}

function createFakeBus() {
  let connected = true
  const handlers: MessageHandler[] = []
  const lostHandlers: (() => void)[] = []
  const fake: KeyChangeBus = {
    subscribe: (_topic, handler) => {
      handlers.push(handler)
      return () => undefined
    },
    publishAndConfirm: async () => ({ confirmed: true }),
    onConnectionLost: (handler) => {
      lostHandlers.push(handler)
      return () => undefined
    },
    isConnected: () => connected,
  }
  return {
    ...fake,
    deliver: (payload: string) => handlers.forEach((handler) => void handler(payload)),
    connect: () => (connected = true),
    disconnect: () => {
      connected = false
      lostHandlers.forEach((handler) => handler())
    },
  }
}
