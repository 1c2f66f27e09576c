import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { createId } from '../../kernel/identifiers.ts'
import { silentLogger } from '../../kernel/logger.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../storage/testing/test-database.ts'
import { wholeAccount } from '../../storage/place.ts'
import {
  createIdempotency,
  type Claim,
  type ClaimOutcome,
  type Idempotency,
  type IdempotencyOptions,
  type KeyedRequest,
} from './idempotency.ts'

const answer = { status: 200, headers: ['content-type', 'text/plain'], body: Buffer.from('the answer') }

let testDatabase: TestDatabase
let database: Database
let opened: Idempotency[]

beforeEach(async () => {
  testDatabase = await createTestDatabase()
  database = connectDatabase({
    connectionString: testDatabase.connectionString,
    poolSize: 8,
    statementTimeoutMs: 5_000,
  })
  opened = []
})

afterEach(async () => {
  for (const idempotency of opened) await idempotency.close()
  await database.close()
  await testDatabase.drop()
})

/** Creates an instance like one of several processes on the same database. */
function open(options: Partial<IdempotencyOptions> = {}): Idempotency {
  const idempotency = createIdempotency({ database, logger: silentLogger, ...options })
  opened.push(idempotency)
  return idempotency
}

const accountId = createId()

function keyed(members: Partial<KeyedRequest> = {}): KeyedRequest {
  const requestId = `req_${createId()}`
  return {
    place: wholeAccount(accountId),
    key: 'order-1',
    method: 'POST',
    url: '/v1/things',
    body: '{"a":1}',
    requestId,
    ...members,
  }
}

function requireClaim(outcome: ClaimOutcome): Claim {
  if (outcome.kind !== 'claimed') throw new Error(`not claimed but ${outcome.kind}`)
  return outcome.claim
}

const rows = () => database.query('SELECT * FROM idempotency_keys')
const age = (column: 'lease_until' | 'expires_at') =>
  database.query(`UPDATE idempotency_keys SET ${column} = now() - interval '1 millisecond'`)

describe('a key', () => {
  test('is claimed by one of many concurrent requests, in any process', async () => {
    const processes = [open(), open(), open()]
    const outcomes = await Promise.all(
      processes.flatMap((process) => Array.from({ length: 20 }, () => process.claim(keyed()))),
    )
    const kinds = outcomes.map(({ kind }) => kind)
    expect(kinds.filter((kind) => kind === 'claimed')).toHaveLength(1)
    expect(kinds.filter((kind) => kind === 'running')).toHaveLength(59)
  })

  test('returns the first answer again, from any process, with the id of the first request', async () => {
    const first = keyed()
    await requireClaim(await open().claim(first)).keep(answer)
    expect(await open().claim(keyed())).toEqual({ kind: 'answered', answer, requestId: first.requestId })
  })

  test.each([
    ['body', { body: '{"a":2}' }],
    ['path', { url: '/v1/others' }],
    ['query', { url: '/v1/things?b=1' }],
    ['method', { method: 'PUT' }],
  ])('belongs to one %s', async (_name, members) => {
    const idempotency = open()
    const claim = requireClaim(await idempotency.claim(keyed()))
    expect(await idempotency.claim(keyed(members))).toEqual({ kind: 'reused' })
    await claim.keep(answer)
    expect(await idempotency.claim(keyed(members))).toEqual({ kind: 'reused' })
  })

  test('is separate for each account', async () => {
    const idempotency = open()
    await requireClaim(await idempotency.claim(keyed())).keep(answer)
    const other = await idempotency.claim(keyed({ place: wholeAccount(createId()), body: 'else' }))
    expect(other.kind).toBe('claimed')
  })

  test('is separate for each project of an account, and for the account', async () => {
    const idempotency = open()
    for (const projectId of [null, accountId, createId()]) {
      const outcome = await idempotency.claim(keyed({ place: { accountId, projectId } }))
      await requireClaim(outcome).keep(answer)
    }
  })

  test('is free again after a release, for a new request', async () => {
    const idempotency = open()
    await requireClaim(await idempotency.claim(keyed())).release()
    const second = keyed({ body: 'else' })
    expect(requireClaim(await idempotency.claim(second)).requestId).toBe(second.requestId)
  })

  test('is taken over at once after an interruption, under the first id', async () => {
    const idempotency = open()
    const first = keyed()
    await requireClaim(await idempotency.claim(first)).interrupt()
    expect(await idempotency.claim(keyed({ body: 'else' }))).toEqual({ kind: 'reused' })
    expect(requireClaim(await idempotency.claim(keyed())).requestId).toBe(first.requestId)
  })

  test('a key whose answer was too large reports that it was done', async () => {
    const idempotency = open()
    const first = keyed()
    await requireClaim(await idempotency.claim(first)).keepNothing()
    await age('lease_until')
    expect(await idempotency.claim(keyed())).toEqual({ kind: 'unkept', requestId: first.requestId })
  })

  test('a key whose answer was damaged reports that it was done', async () => {
    const idempotency = open()
    const first = keyed()
    await requireClaim(await idempotency.claim(first)).keep(answer)
    await database.query("UPDATE idempotency_keys SET answer = answer || '\\x00'")
    expect(await idempotency.claim(keyed())).toEqual({ kind: 'unkept', requestId: first.requestId })
  })

  test('is stored as bytes that reveal nothing of key, request or answer', async () => {
    const secret = { key: 'secret-key', body: 'secret prompt' }
    await requireClaim(await open().claim(keyed(secret))).keep({
      ...answer,
      body: Buffer.from('secret answer'),
    })
    const [row] = await rows()
    for (const value of Object.values(row ?? {})) {
      const text = Buffer.isBuffer(value) ? value.toString('latin1') : String(value)
      expect(text).not.toContain('secret')
    }
  })
})

describe('a request whose process died', () => {
  test('is taken over by one request when its lease has expired, under its request id', async () => {
    const first = keyed()
    await open({ leaseMs: 1_000_000 }).claim(first)
    await age('lease_until')
    const other = open()
    const outcomes = await Promise.all(Array.from({ length: 20 }, () => other.claim(keyed())))
    const claims = outcomes.filter(({ kind }) => kind === 'claimed').map(requireClaim)
    expect(claims.map(({ requestId }) => requestId)).toEqual([first.requestId])
  })

  test('a request whose process died but was alive can no longer store its result', async () => {
    const [slow, other] = [open({ leaseMs: 1_000_000 }), open()]
    const lost = requireClaim(await slow.claim(keyed()))
    await age('lease_until')
    const taken = requireClaim(await other.claim(keyed()))
    await lost.release()
    await lost.keep({ ...answer, body: Buffer.from('late') })
    expect((await other.claim(keyed())).kind).toBe('running')
    await taken.keep(answer)
    expect(await slow.claim(keyed())).toMatchObject({ kind: 'answered', answer })
  })

  test('is not assumed in the same process, even if its lease has expired', async () => {
    const idempotency = open({ leaseMs: 1_000_000 })
    const claim = requireClaim(await idempotency.claim(keyed()))
    await age('lease_until')
    expect((await idempotency.claim(keyed())).kind).toBe('running')
    expect((await idempotency.claim(keyed({ body: 'else' }))).kind).toBe('reused')
    await claim.keep(answer)
    expect((await idempotency.claim(keyed())).kind).toBe('answered')
  })

  test('is distinguished from a long one, which renews its lease', async () => {
    const idempotency = open({ leaseMs: 400 })
    await idempotency.claim(keyed())
    const leases = new Set<number>()
    await vi.waitFor(async () => {
      const [row] = await database.query<{ lease_until: Date }>('SELECT lease_until FROM idempotency_keys')
      leases.add(Number(row?.lease_until))
      expect(leases.size).toBeGreaterThan(4)
    }, 10_000)
    expect(await open().claim(keyed())).toMatchObject({ kind: 'running', runningMs: expect.any(Number) })
  })
})

describe('after a day', () => {
  test('the key can be used again, with any body', async () => {
    const idempotency = open()
    await requireClaim(await idempotency.claim(keyed())).keep(answer)
    await age('expires_at')
    const second = keyed({ body: 'else' })
    const claim = requireClaim(await idempotency.claim(second))
    expect(claim.requestId).toBe(second.requestId)
    await claim.keep({ ...answer, status: 201 })
    expect(await idempotency.claim(keyed({ body: 'else' }))).toMatchObject({ answer: { status: 201 } })
  })

  test('a day is the default', async () => {
    const idempotency = open()
    await idempotency.claim(keyed())
    const [row] = await database.query<{ hours: number }>(
      'SELECT (extract(epoch FROM expires_at - claimed_at) / 3600)::float8 AS hours FROM idempotency_keys',
    )
    expect(row?.hours).toBe(24)
  })

  test('a sweep deletes only expired keys, in batches, also concurrently', async () => {
    const [one, other] = [open({ retentionMs: 0 }), open()]
    await Promise.all(
      Array.from({ length: 700 }, async (_, index) =>
        requireClaim(await one.claim(keyed({ key: `old-${index}` }))).keep(answer),
      ),
    )
    await requireClaim(await other.claim(keyed({ key: 'new' }))).keep(answer)
    const deleted = await Promise.all([one.sweep(), other.sweep()])
    expect(deleted.reduce((sum, count) => sum + count)).toBe(700)
    expect(await rows()).toHaveLength(1)
  })
})
