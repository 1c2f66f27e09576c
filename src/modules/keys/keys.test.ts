import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../../storage/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createMessageBus, type MessageBus } from '../../storage/message-bus.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { SCOPES, type Caller, type Scope } from './caller.ts'
import { createKeyToken } from './key-form.ts'
import { createKeys, type KeyChangeBus, type KeyDraft, type Keys } from './keys.ts'

const inferenceDraft: KeyDraft = { name: 'a key', environment: 'dev', scopes: ['inference'] }

let testDatabase: TestDatabase
let database: Database
let buses: MessageBus[]
let nowMs: number
let keys: Keys
let otherProcess: Keys
let accountId: string

beforeEach(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 4,
    statementTimeoutMs: 10_000,
  })
  buses = await Promise.all([connectBus(), connectBus()])
  nowMs = Date.UTC(2030, 0, 1)
  keys = createProcess(buses[0])
  otherProcess = createProcess(buses[1])
  accountId = await insertAccount()
})

afterEach(async () => {
  await Promise.all([keys.close(), otherProcess.close()])
  await Promise.all(buses.map((bus) => bus.close()))
  await database.close()
  await testDatabase.drop()
})

describe('a new key', () => {
  test('works at once and carries what it was created with', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, {
      ...inferenceDraft,
      environment: 'staging',
      allowedModels: ['gpt-5'],
      limitNanoUsd: 123_456_789_012n,
      requestsPerMinute: 7,
      expiresAtMs: nowMs + 1000,
    })
    const caller = await otherProcess.authenticate(token)
    expect(caller).toEqual({
      accountId,
      keyId: record.id,
      environment: 'staging',
      scopes: new Set(['inference']),
      allowedModels: new Set(['gpt-5']),
      requestsPerMinute: 7,
    })
    expect(await keys.read(accountId, record.id)).toEqual(record)
    expect(record.limitNanoUsd).toBe(123_456_789_012n)
  })

  test('leaves nothing in the database that it could be used from', async () => {
    const { token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    const rows = await database.query<{ text: string }>('SELECT api_keys::text AS text FROM api_keys')
    const secret = token.slice('pk-dev-'.length)
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain(secret.slice(0, 5))
  })

  test('cannot be given a scope that its maker lacks', async () => {
    const manager = callerWith('inference', 'manage')
    await expect(
      keys.create(manager, accountId, { ...inferenceDraft, scopes: ['inference', 'admin'] }),
    ).rejects.toMatchObject({ code: 'forbidden' })
    await keys.create(manager, accountId, { ...inferenceDraft, scopes: ['inference', 'manage'] })
  })

  test('cannot expire in the past', async () => {
    await expect(
      keys.create(callerWith('admin'), accountId, { ...inferenceDraft, expiresAtMs: nowMs }),
    ).rejects.toMatchObject({ code: 'invalid_value', param: 'expires_at' })
  })

  test('is refused once the account has as many active keys as it may', async () => {
    await database.query(
      `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes)
       SELECT gen_random_uuid(), $1, 'a key', 'dev', decode(md5(n::text), 'hex'), 'pk-dev-…', '{inference}'
       FROM generate_series(1, 1000) AS n`,
      [accountId],
    )
    await expect(keys.create(callerWith('admin'), accountId, inferenceDraft)).rejects.toMatchObject({
      code: 'conflict',
    })
    await keys.create(callerWith('admin'), await insertAccount(), inferenceDraft)
  })
})

describe('a revoked key', () => {
  test('is refused on every process by the time the answer leaves', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await keys.authenticate(token)
    await otherProcess.authenticate(token)
    await keys.revoke(callerWith('admin'), accountId, record.id)
    await expect(authenticate(keys, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await expect(authenticate(otherProcess, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('is refused by processes whose connection to the others was cut just before', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await otherProcess.authenticate(token)
    const cut = await database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'parkway-bus:%'`,
    )
    expect(cut.length).toBeGreaterThan(0)
    await keys.revoke(callerWith('admin'), accountId, record.id)
    await expect(authenticate(otherProcess, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('may be revoked again, and keeps the time it was revoked first', async () => {
    const { record } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    const first = await keys.revoke(callerWith('admin'), accountId, record.id)
    nowMs += 1000
    expect(await keys.revoke(callerWith('admin'), accountId, record.id)).toEqual(first)
  })

  test('stays revoked', async () => {
    const { record } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await keys.revoke(callerWith('admin'), accountId, record.id)
    await expect(
      keys.update(callerWith('admin'), accountId, record.id, { isActive: true }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(keys.isActive(await keys.read(accountId, record.id))).toBe(false)
  })

  test('is not reported as revoked while a process has not confirmed it', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    const failing = createProcess(deafBus)
    await expect(failing.revoke(callerWith('admin'), accountId, record.id)).rejects.toMatchObject({
      code: 'service_unavailable',
    })
    await expect(authenticate(failing, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await failing.close()
    await keys.revoke(callerWith('admin'), accountId, record.id)
  })
})

describe('an update', () => {
  test('changes what it names and nothing else', async () => {
    const { record } = await keys.create(callerWith('admin'), accountId, {
      ...inferenceDraft,
      requestsPerMinute: 5,
      limitNanoUsd: 1n,
      allowedModels: [],
    })
    const updated = await keys.update(callerWith('admin'), accountId, record.id, {
      name: 'another name',
      limitNanoUsd: null,
    })
    expect(updated).toEqual({ ...record, name: 'another name', limitNanoUsd: null })
    expect(await keys.read(accountId, record.id)).toEqual(updated)
  })

  test('is followed by every process by the time the answer leaves', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await otherProcess.authenticate(token)
    await keys.update(callerWith('admin'), accountId, record.id, { allowedModels: ['only-this'] })
    expect((await otherProcess.authenticate(token)).allowedModels).toEqual(new Set(['only-this']))
  })

  test.each(['update', 'revoke'] as const)(
    '%s of a key with more scopes than the caller is forbidden',
    async (act) => {
      const { record } = await keys.create(callerWith('admin'), accountId, {
        ...inferenceDraft,
        scopes: SCOPES,
      })
      const manager = callerWith('inference', 'manage')
      const attempt =
        act === 'update'
          ? keys.update(manager, accountId, record.id, { expiresAtMs: null })
          : keys.revoke(manager, accountId, record.id)
      await expect(attempt).rejects.toMatchObject({ code: 'forbidden' })
    },
  )

  test("of another account's key, or of no key, finds nothing", async () => {
    const { record } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    const another = await insertAccount()
    for (const [owner, keyId] of [
      [another, record.id],
      [accountId, createId()],
      [accountId, 'not-a-uuid'],
      ['not-a-uuid', record.id],
    ] as const) {
      const expected = { code: 'not_found' }
      await expect(keys.read(owner, keyId)).rejects.toMatchObject(expected)
      await expect(keys.update(callerWith('admin'), owner, keyId, { name: 'x' })).rejects.toMatchObject(
        expected,
      )
      await expect(keys.revoke(callerWith('admin'), owner, keyId)).rejects.toMatchObject(expected)
    }
    expect(await keys.read(accountId, record.id)).toEqual(record)
  })
})

test('pages of a list hold every key of the account once, newest first', async () => {
  const created: string[] = []
  for (let index = 0; index < 7; index += 1) {
    nowMs += 1
    created.unshift((await keys.create(callerWith('admin'), accountId, inferenceDraft)).record.id)
  }
  await keys.create(callerWith('admin'), await insertAccount(), inferenceDraft)
  const seen: string[] = []
  let afterId: string | null = null
  for (let page = 0; page < 3; page += 1) {
    const { items, total, hasMore } = await keys.list(accountId, { limit: 3, afterId })
    expect(total).toBe(7)
    expect(hasMore).toBe(page < 2)
    seen.push(...items.map(({ id }) => id))
    afterId = seen.at(-1) ?? null
  }
  expect(seen).toEqual(created)
})

describe('the time of the last use', () => {
  test('is written in one go for many uses', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    expect(record.lastUsedAtMs).toBe(null)
    for (let use = 0; use < 10; use += 1) {
      nowMs += 1
      await keys.authenticate(token)
    }
    await keys.flushLastUsed()
    expect((await keys.read(accountId, record.id)).lastUsedAtMs).toBe(nowMs)
  })

  test('never goes back, whichever process writes last', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await otherProcess.authenticate(token)
    nowMs += 5000
    await keys.authenticate(token)
    await keys.flushLastUsed()
    await otherProcess.flushLastUsed()
    expect((await keys.read(accountId, record.id)).lastUsedAtMs).toBe(nowMs)
  })

  test('is written when the process closes', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, inferenceDraft)
    await otherProcess.authenticate(token)
    await otherProcess.close()
    expect((await keys.read(accountId, record.id)).lastUsedAtMs).toBe(nowMs)
  })

  test('is not noted for a key that was refused', async () => {
    const { record, token } = await keys.create(callerWith('admin'), accountId, {
      ...inferenceDraft,
      expiresAtMs: nowMs + 1,
    })
    nowMs += 1
    await expect(authenticate(keys, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await keys.flushLastUsed()
    expect((await keys.read(accountId, record.id)).lastUsedAtMs).toBe(null)
  })
})

test('the first key has all scopes, and is the given one when there is one', async () => {
  const made = await keys.issueFirstKey(database, accountId)
  expect(made.token).toMatch(/^pk-dev-/)
  expect(made.record.scopes).toEqual(SCOPES)
  const token = createKeyToken('live')
  await keys.issueFirstKey(database, accountId, token)
  expect((await keys.authenticate(token)).environment).toBe('live')
})

function callerWith(...scopes: Scope[]): Caller {
  return {
    accountId,
    keyId: createId(),
    environment: 'dev',
    scopes: new Set(scopes),
    allowedModels: null,
    requestsPerMinute: null,
  }
}

async function authenticate(on: Keys, token: string): Promise<Caller> {
  return on.authenticate(token)
}

async function insertAccount(): Promise<string> {
  const id = createId()
  await database.query(`INSERT INTO accounts (id, name) VALUES ($1, 'an account')`, [id])
  return id
}

const deafBus: KeyChangeBus = {
  subscribe: () => () => undefined,
  publishAndConfirm: async () => ({ confirmed: false }),
  onConnectionLost: () => () => undefined,
  isConnected: () => true,
}

function createProcess(messageBus: KeyChangeBus | undefined): Keys {
  if (messageBus === undefined) throw new Error('a process needs a bus')
  return createKeys({ database, clock: { nowMs: () => nowMs }, messageBus })
}

function connectBus(): Promise<MessageBus> {
  return createMessageBus({ connectionString: testDatabase.connectionString, logger: silentLogger })
}
