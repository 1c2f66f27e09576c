import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { SCOPES } from '../authenticate/caller.ts'
import type { KeyChangeBus } from '../keys.ts'
import {
  authenticate,
  inferenceDraft,
  startKeyProcesses,
  type KeyProcesses,
} from '../testing/key-processes.ts'

let stage: KeyProcesses

beforeEach(async () => {
  stage = await startKeyProcesses()
})

afterEach(async () => {
  await stage.close()
})

describe('a revoked key', () => {
  test('is refused by all processes before the answer is sent', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    await stage.keys.authenticate(token)
    await stage.otherProcess.authenticate(token)
    await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)
    await expect(authenticate(stage.keys, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await expect(authenticate(stage.otherProcess, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('is refused by processes whose connection to the others was cut just before', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    await stage.otherProcess.authenticate(token)
    const cut = await stage.database.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND application_name LIKE 'parkway-bus:%'`,
    )
    expect(cut.length).toBeGreaterThan(0)
    await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)
    await expect(authenticate(stage.otherProcess, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('may be revoked again, and keeps its first revocation time', async () => {
    const { record } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft)
    const first = await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)
    stage.nowMs += 1000
    expect(await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)).toEqual(first)
  })

  test('stays revoked', async () => {
    const { record } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft)
    await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)
    await expect(
      stage.keys.update(stage.callerWith('admin'), stage.accountId, record.id, { isActive: true }),
    ).rejects.toMatchObject({ code: 'conflict' })
    expect(stage.keys.isActive(await stage.keys.read(stage.accountId, record.id))).toBe(false)
  })

  test('is not reported as revoked while a process has not confirmed it', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    const failing = stage.createProcess(deafBus)
    await expect(failing.revoke(stage.callerWith('admin'), stage.accountId, record.id)).rejects.toMatchObject(
      {
        code: 'service_unavailable',
      },
    )
    await expect(authenticate(failing, token)).rejects.toMatchObject({ code: 'invalid_api_key' })
    await failing.close()
    await stage.keys.revoke(stage.callerWith('admin'), stage.accountId, record.id)
  })
})

describe('an update', () => {
  test('changes the given members and nothing else', async () => {
    const { record } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, {
      ...inferenceDraft,
      requestsPerMinute: 5,
      limitNanoUsd: 1n,
      allowedModels: [],
    })
    const updated = await stage.keys.update(stage.callerWith('admin'), stage.accountId, record.id, {
      name: 'another name',
      limitNanoUsd: null,
    })
    expect(updated).toEqual({ ...record, name: 'another name', limitNanoUsd: null })
    expect(await stage.keys.read(stage.accountId, record.id)).toEqual(updated)
  })

  test('applies in all processes before the answer is sent', async () => {
    const { record, token } = await stage.keys.create(
      stage.callerWith('admin'),
      stage.accountId,
      inferenceDraft,
    )
    await stage.otherProcess.authenticate(token)
    await stage.keys.update(stage.callerWith('admin'), stage.accountId, record.id, {
      allowedModels: ['only-this'],
    })
    expect((await stage.otherProcess.authenticate(token)).allowedModels).toEqual(new Set(['only-this']))
  })

  test.each(['update', 'revoke'] as const)(
    '%s of a key with more scopes than the caller is forbidden',
    async (act) => {
      const { record } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, {
        ...inferenceDraft,
        scopes: SCOPES,
      })
      const manager = await stage.managerWith({ scopes: ['inference', 'manage'] })
      const attempt =
        act === 'update'
          ? stage.keys.update(manager, stage.accountId, record.id, { expiresAtMs: null })
          : stage.keys.revoke(manager, stage.accountId, record.id)
      await expect(attempt).rejects.toMatchObject({ code: 'forbidden' })
    },
  )

  test("an update of another account's key, or of an unknown key, gives not found", async () => {
    const { record } = await stage.keys.create(stage.callerWith('admin'), stage.accountId, inferenceDraft)
    const another = await stage.insertAccount()
    for (const [owner, keyId] of [
      [another, record.id],
      [stage.accountId, createId()],
      [stage.accountId, 'not-a-uuid'],
      ['not-a-uuid', record.id],
    ] as const) {
      const expected = { code: 'not_found' }
      await expect(stage.keys.read(owner, keyId)).rejects.toMatchObject(expected)
      await expect(
        stage.keys.update(stage.callerWith('admin'), owner, keyId, { name: 'x' }),
      ).rejects.toMatchObject(expected)
      await expect(stage.keys.revoke(stage.callerWith('admin'), owner, keyId)).rejects.toMatchObject(expected)
    }
    expect(await stage.keys.read(stage.accountId, record.id)).toEqual(record)
  })
})

const deafBus: KeyChangeBus = {
  subscribe: () => () => undefined,
  publishAndConfirm: async () => ({ confirmed: false }),
  onConnectionLost: () => () => undefined,
  isConnected: () => true,
}
