import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { PERMISSIONS_OF_SCOPES } from './permissions/permissions.ts'
import { SCOPES } from './authenticate/caller.ts'
import { createKeyToken } from './key-form.ts'
import {
  authenticate,
  inferenceDraft,
  startKeyProcesses,
  type KeyProcesses,
} from './testing/key-processes.ts'

let stage: KeyProcesses

beforeEach(async () => {
  stage = await startKeyProcesses()
})

afterEach(async () => {
  await stage.close()
})

describe('a new key', () => {
  test('works at once and has the properties it was created with', async () => {
    const { record, token } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, {
      ...inferenceDraft,
      environment: 'staging',
      allowedModels: ['gpt-5'],
      limitNanoUsd: 123_456_789_012n,
      requestsPerMinute: 7,
      expiresAtMs: stage.nowMs + 1000,
    })
    const caller = await stage.otherProcess.authenticate(token)
    expect(caller).toEqual({
      accountId: stage.accountId,
      projectId: null,
      userId: null,
      serviceAccountId: null,
      keyId: record.id,
      secretMark: expect.stringMatching(/^[0-9a-f]{16}$/),
      environment: 'staging',
      scopes: new Set(['inference']),
      permissions: new Set(PERMISSIONS_OF_SCOPES.inference),
      groupIds: [],
      project: null,
      allowedModels: new Set(['gpt-5']),
      requestsPerMinute: 7,
      limitNanoUsd: 123_456_789_012n,
      isOperator: false,
      expiresAtMs: stage.nowMs + 1000,
      parent: null,
    })
    expect(await stage.keys.read(stage.accountId, record.id)).toEqual(record)
    expect(record.limitNanoUsd).toBe(123_456_789_012n)
  })

  test('leaves nothing in the database from which it could be used', async () => {
    const { token } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft)
    const rows = await stage.database.query<{ text: string }>('SELECT api_keys::text AS text FROM api_keys')
    const secret = token.slice('pk-dev-'.length)
    expect(JSON.stringify(rows)).not.toContain(secret)
    expect(JSON.stringify(rows)).not.toContain(secret.slice(0, 5))
  })

  test('cannot get a scope that its creator lacks', async () => {
    const manager = await stage.managerWith({ scopes: ['inference', 'manage'] })
    await expect(
      stage.keys.create(manager, stage.accountId, { ...inferenceDraft, scopes: ['inference', 'admin'] }),
    ).rejects.toMatchObject({ code: 'forbidden' })
    await stage.keys.create(manager, stage.accountId, { ...inferenceDraft, scopes: ['inference', 'manage'] })
  })

  test('cannot expire in the past', async () => {
    await expect(
      stage.keys.create(stage.callerWith('admin'), stage.accountId, {
        ...inferenceDraft,
        expiresAtMs: stage.nowMs,
      }),
    ).rejects.toMatchObject({ code: 'invalid_value', param: 'expires_at' })
  })

  test('is refused if the account has the maximum number of active keys', async () => {
    await stage.database.query(
      `INSERT INTO api_keys (id, account_id, name, environment, key_hash, key_prefix, scopes)
       SELECT gen_random_uuid(), $1, 'a key', 'dev', decode(md5(n::text), 'hex'), 'pk-dev-…', '{inference}'
       FROM generate_series(1, 1000) AS n`,
      [stage.accountId],
    )
    await expect(
      stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft),
    ).rejects.toMatchObject({
      code: 'conflict',
    })
    await stage.keys.create(stage.callerWith('admin'), await stage.insertAccount(), inferenceDraft)
  })
})

test('pages of a list have every key of the account once, newest first', async () => {
  const created: string[] = []
  for (let index = 0; index < 7; index += 1) {
    stage.nowMs += 1
    created.unshift(
      (await stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft)).record.id,
    )
  }
  await stage.keys.create(stage.callerWith('admin'), await stage.insertAccount(), inferenceDraft)
  const seen: string[] = []
  let afterId: string | null = null
  for (let page = 0; page < 3; page += 1) {
    const { items, total, hasMore } = await stage.keys.list(stage.accountId, { limit: 3, afterId })
    expect(total).toBe(7)
    expect(hasMore).toBe(page < 2)
    seen.push(...items.map(({ id }) => id))
    afterId = seen.at(-1) ?? null
  }
  expect(seen).toEqual(created)
})

describe('the time of the last use', () => {
  test('is known to the minute, however many uses there are', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    expect(record.lastUsedAtMs).toBe(null)
    for (let use = 0; use < 10; use += 1) {
      stage.nowMs += 10_000
      await stage.keys.authenticate(token)
    }
    await stage.keys.flushLastUsed()
    const { lastUsedAtMs } = await stage.keys.read(stage.accountId, record.id)
    expect(stage.nowMs - (lastUsedAtMs ?? 0)).toBeLessThan(60_000)
  })

  test('never goes back, whichever process writes last', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    await stage.otherProcess.authenticate(token)
    stage.nowMs += 5000
    await stage.keys.authenticate(token)
    await stage.keys.flushLastUsed()
    await stage.otherProcess.flushLastUsed()
    expect((await stage.keys.read(stage.accountId, record.id)).lastUsedAtMs).toBe(stage.nowMs)
  })

  test('is written when the process closes', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    await stage.otherProcess.authenticate(token)
    await stage.otherProcess.close()
    expect((await stage.keys.read(stage.accountId, record.id)).lastUsedAtMs).toBe(stage.nowMs)
  })

  test('is not recorded for a refused key', async () => {
    const { record, token } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, {
      ...inferenceDraft,
      expiresAtMs: stage.nowMs + 1,
    })
    stage.nowMs += 1
    await expect(authenticate(stage.keys, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await stage.keys.flushLastUsed()
    expect((await stage.keys.read(stage.accountId, record.id)).lastUsedAtMs).toBe(null)
  })
})

test('the first key has all scopes, and is the given one if there is one', async () => {
  const made = await stage.keys.issueFirstKey(stage.database, stage.accountId)
  expect(made.token).toMatch(/^pk-dev-/)
  expect(made.record.scopes).toEqual(SCOPES)
  const token = createKeyToken('live')
  await stage.keys.issueFirstKey(stage.database, stage.accountId, token)
  expect((await stage.keys.authenticate(token)).environment).toBe('live')
})
