import { beforeEach, describe, expect, test } from 'vitest'
import { createId } from '../../../kernel/identifiers.ts'
import { hashKey } from '../key-form.ts'
import {
  accountId,
  createAuthenticatorStage,
  type AuthenticatorStage,
  keyId,
  keyRow,
  START_MS,
  token,
} from '../testing/authenticator-stage.ts'

let stage: AuthenticatorStage

beforeEach(() => {
  stage = createAuthenticatorStage()
})

describe('a key in memory', () => {
  test('is answered at once, without a promise and without the database', async () => {
    const caller = await stage.authenticator.authenticate(token)
    expect(stage.authenticator.authenticate(token)).toBe(caller)
    expect(caller).toMatchObject({ accountId, keyId, environment: 'dev', requestsPerMinute: 60 })
    expect([...caller.scopes]).toEqual(['inference'])
    expect(stage.reads).toBe(1)
    expect(stage.uses).toEqual([keyId])
  })

  test('stops working exactly when it expires', async () => {
    stage.row = keyRow({ expires_at: new Date(START_MS + 1000) })
    await stage.authenticator.authenticate(token)
    stage.nowMs = START_MS + 999
    expect(stage.authenticator.authenticate(token)).toMatchObject({ keyId })
    stage.nowMs = START_MS + 1000
    expect(() => stage.authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
    expect(stage.reads).toBe(1)
  })

  test('is read again after a message about it, and not after one about another key', async () => {
    await stage.authenticator.authenticate(token)
    stage.bus.deliver(`key ${createId()}`)
    await stage.authenticator.authenticate(token)
    expect(stage.reads).toBe(1)
    stage.row = null
    stage.bus.deliver(`key ${keyId}`)
    await expect(stage.authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(stage.reads).toBe(2)
  })

  test('is read again after a message about its account', async () => {
    await stage.authenticator.authenticate(token)
    stage.row = keyRow({ account_status: 'suspended' })
    stage.bus.deliver(`account ${accountId}`)
    await expect(stage.authenticate()).rejects.toMatchObject({ code: 'account_suspended' })
  })

  test('has its use recorded once a minute, also if it is read again in between', async () => {
    const usedAtSeconds: number[] = []
    for (let seconds = 0; seconds < 150; seconds += 5) {
      stage.nowMs = START_MS + seconds * 1000
      const before = stage.uses.length
      await stage.authenticator.authenticate(token)
      await stage.database.settled()
      if (stage.uses.length > before) usedAtSeconds.push(seconds)
    }
    expect(usedAtSeconds).toEqual([0, 60, 120])
    expect(stage.reads).toBeGreaterThan(1)
  })

  test('has its use recorded a minute after another process did', async () => {
    stage.row = keyRow({ last_used_at: new Date(START_MS - 20_000) })
    await stage.authenticator.authenticate(token)
    stage.nowMs += 39_999
    await stage.authenticator.authenticate(token)
    expect(stage.uses).toEqual([])
    stage.nowMs += 1
    await stage.authenticator.authenticate(token)
    expect(stage.uses).toEqual([keyId])
  })

  test('has its use recorded in time even if the clock of another process is ahead', async () => {
    stage.row = keyRow({ last_used_at: new Date(START_MS + 3_600_000) })
    await stage.authenticator.authenticate(token)
    stage.nowMs += 60_000
    await stage.authenticator.authenticate(token)
    expect(stage.uses).toEqual([keyId])
  })

  test('is read again after a message of unknown content', async () => {
    await stage.authenticator.authenticate(token)
    stage.bus.deliver('from the future')
    await stage.authenticator.authenticate(token)
    expect(stage.reads).toBe(2)
  })

  test('keeps working while the database is down', async () => {
    await stage.authenticator.authenticate(token)
    stage.database.failWith(new Error('connection refused'))
    stage.nowMs += 60_000
    expect(stage.authenticator.authenticate(token)).toMatchObject({ keyId })
    await stage.database.settled()
    expect(stage.authenticator.authenticate(token)).toMatchObject({ keyId })
  })

  test('is checked against the database again in time even without a message', async () => {
    await stage.authenticator.authenticate(token)
    stage.row = null
    stage.nowMs += 30_000
    expect(stage.authenticator.authenticate(token)).toMatchObject({ keyId })
    await stage.database.settled()
    expect(() => stage.authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
  })
})

describe('an unknown key', () => {
  test('is read once, then refused from memory for a moment', async () => {
    stage.row = null
    await expect(stage.authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(() => stage.authenticator.authenticate(token)).toThrow()
    expect(stage.reads).toBe(1)
    stage.row = keyRow()
    stage.nowMs += 5000
    await expect(stage.authenticate()).resolves.toMatchObject({ keyId })
  })

  test('is refused without repeating it, and the error says how to authenticate', async () => {
    stage.row = null
    const error: unknown = await stage.authenticate().catch((reason: unknown) => reason)
    expect(error).toMatchObject({ headers: { 'www-authenticate': 'Bearer' } })
    expect(JSON.stringify(error) + String(error)).not.toContain(token.slice(0, 12))
  })

  test('an unknown key that does not have the form of a key never reaches the database', () => {
    for (const text of ['', 'secret', 'Bearer x', `sk-${token}`, 'x'.repeat(100_000)]) {
      expect(() => stage.authenticator.authenticate(text)).toThrow(
        expect.objectContaining({ code: 'invalid_api_key' }),
      )
    }
    expect(stage.reads).toBe(0)
  })
})

test('a row whose hash differs is refused even if the database returned it', async () => {
  stage.row = keyRow({ key_hash: Buffer.from(hashKey('another'), 'hex') })
  await expect(stage.authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
})
