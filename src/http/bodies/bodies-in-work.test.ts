import { describe, expect, test } from 'vitest'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { Caller } from '../../modules/keys/keys.ts'
import { Exchange } from '../exchange.ts'
import { BodiesInWork } from './bodies-in-work.ts'

const MEBIBYTE = 1024 * 1024
const ROOM = 1024 * MEBIBYTE

function exchangeOf(accountId: string): Exchange {
  const incoming = { headers: {}, complete: true }
  const exchange = new Exchange('req_1', incoming as never, {} as never, '/v1/test', new Cancellation())
  exchange.caller = { accountId } as Caller
  return exchange
}

/** Adds bodies until one is refused. Returns the exchanges and the refusal. */
function fill(bodies: BodiesInWork, accountId: string, bytes: number) {
  const exchanges: Exchange[] = []
  for (;;) {
    const exchange = exchangeOf(accountId)
    try {
      bodies.count(exchange, bytes)
      exchanges.push(exchange)
    } catch (error) {
      return { exchanges, error }
    }
  }
}

describe('the memory of bodies in work', () => {
  test('the memory of bodies in work of one account is at most half of what is free', () => {
    const { exchanges, error } = fill(new BodiesInWork({ bytesMax: ROOM }), 'a', 8 * MEBIBYTE)
    expect(exchanges).toHaveLength(64)
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', retryAfterSeconds: 1 })
  })

  test('the memory of bodies in work of one account leaves room for others, however many ask for all of it', () => {
    const bodies = new BodiesInWork({ bytesMax: ROOM })
    const counts = ['a', 'b', 'c'].map((accountId) => fill(bodies, accountId, 8 * MEBIBYTE).exchanges.length)
    expect(counts).toEqual([64, 32, 16])
  })

  test('never exceeds what the process has', () => {
    const bodies = new BodiesInWork({ bytesMax: ROOM })
    const names = Array.from({ length: 500 }, (_, index) => `account ${index}`)
    const taken = names.reduce((sum, name) => sum + fill(bodies, name, MEBIBYTE).exchanges.length, 0)
    expect(taken).toBeLessThanOrEqual(1024)
    const { error } = fill(bodies, 'another', ROOM)
    expect(error).toMatchObject({ code: 'service_unavailable', retryAfterSeconds: 1 })
  })

  test('is given back when the requests end, also if they end before it is counted', () => {
    const bodies = new BodiesInWork({ bytesMax: ROOM })
    for (const exchange of fill(bodies, 'a', 8 * MEBIBYTE).exchanges) exchange.finish()
    const late = exchangeOf('a')
    late.finish()
    bodies.count(late, 512 * MEBIBYTE)
    expect(fill(bodies, 'a', 8 * MEBIBYTE).exchanges).toHaveLength(64)
  })

  test('does not count small bodies', () => {
    const bodies = new BodiesInWork({ bytesMax: 0 })
    expect(() => bodies.countRead(exchangeOf('a'), 16 * 1024)).not.toThrow()
    expect(() => bodies.countRead(exchangeOf('a'), 16 * 1024 + 1)).toThrow()
  })
})
