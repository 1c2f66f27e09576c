import { beforeEach, describe, expect, test, vi } from 'vitest'
import { createKeyToken } from '../key-form.ts'
import {
  createAuthenticatorStage,
  type AuthenticatorStage,
  keyId,
  token,
} from '../testing/authenticator-stage.ts'

let stage: AuthenticatorStage

beforeEach(() => {
  stage = createAuthenticatorStage()
})

describe('without the message bus', () => {
  test('memory is not trusted: every request reads the database', async () => {
    await stage.authenticator.authenticate(token)
    stage.bus.disconnect()
    await stage.authenticator.authenticate(token)
    await Promise.all([stage.authenticator.authenticate(token), stage.authenticator.authenticate(token)])
    expect(stage.reads).toBe(4)
    stage.bus.connect()
    await stage.authenticator.authenticate(token)
    expect(stage.authenticator.authenticate(token)).toMatchObject({ keyId })
    expect(stage.reads).toBe(5)
  })

  test('without the message bus and without the database the answer is to try again', async () => {
    await stage.authenticator.authenticate(token)
    stage.bus.disconnect()
    stage.database.failWith(new Error('connection refused'))
    await expect(stage.authenticate()).rejects.toMatchObject({
      code: 'service_unavailable',
      retryAfterSeconds: 1,
    })
  })

  test('a read that began without the message bus is not remembered', async () => {
    stage.bus.disconnect()
    stage.database.hold()
    const running = stage.authenticator.authenticate(token)
    stage.bus.connect()
    stage.database.release()
    await running
    await stage.authenticator.authenticate(token)
    expect(stage.reads).toBe(2)
  })
})

describe('reads', () => {
  test('reads of the same key at the same time are shared', async () => {
    const callers = await Promise.all(Array.from({ length: 50 }, () => stage.authenticate()))
    expect(new Set(callers).size).toBe(1)
    expect(stage.reads).toBe(1)
  })

  test('reads that a change overtakes are neither remembered nor shared with later requests', async () => {
    stage.database.hold()
    const early = stage.authenticator.authenticate(token)
    await vi.waitUntil(() => stage.reads === 1)
    stage.row = null
    stage.bus.deliver(`key ${keyId}`)
    const late = stage.authenticate()
    stage.database.release()
    await expect(early).resolves.toMatchObject({ keyId })
    await expect(late).rejects.toMatchObject({ code: 'invalid_api_key' })
    expect(stage.reads).toBe(2)
    expect(() => stage.authenticator.authenticate(token)).toThrow(
      expect.objectContaining({ code: 'invalid_api_key' }),
    )
  })

  test('reads that a change overtakes are not remembered if there is no request in between', async () => {
    stage.database.hold()
    const early = stage.authenticator.authenticate(token)
    await vi.waitUntil(() => stage.reads === 1)
    stage.row = null
    stage.bus.deliver(`key ${keyId}`)
    stage.database.release()
    await expect(early).resolves.toMatchObject({ keyId })
    await expect(stage.authenticate()).rejects.toMatchObject({ code: 'invalid_api_key' })
  })

  test('beyond a limit are refused instead of queued', async () => {
    stage.database.hold()
    const running = Array.from({ length: 1000 }, () => stage.authenticate(createKeyToken('dev')))
    await expect(stage.authenticate()).rejects.toMatchObject({ code: 'service_unavailable' })
    stage.database.release()
    const outcomes = await Promise.allSettled(running)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    await expect(stage.authenticate()).resolves.toMatchObject({ keyId })
  })
})
