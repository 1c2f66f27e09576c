import { expect, test } from 'vitest'
import { UpstreamRoom } from './upstream-room.ts'

function enterUntilFull(room: UpstreamRoom, provider: string, accountId: string) {
  const places: { release(): void }[] = []
  try {
    for (;;) places.push(room.enter(provider, accountId))
  } catch (error) {
    return { places, error }
  }
}

function startRoom(requestsMax: number) {
  const state = { refused: 0 }
  const room = new UpstreamRoom({ requestsMax, onRefused: () => (state.refused += 1) })
  return { room, state }
}

test('an account with thousands of requests at a provider leaves room for others', () => {
  const { room, state } = startRoom(4_000)
  const busy = enterUntilFull(room, 'openai', 'busy')
  expect(busy.places).toHaveLength(3_240)
  expect(busy.error).toMatchObject({ code: 'queue_full', retryAfterSeconds: 1 })
  expect(state.refused).toBe(1)
  for (let quiet = 0; quiet < 100; quiet += 1) room.enter('openai', `quiet-${quiet}`)
})

test('a provider that never answers leaves room for other providers', () => {
  const { room } = startRoom(1_000)
  const accounts = Array.from({ length: 20 }, (_, index) => `account-${index}`)
  const taken = accounts.flatMap((account) => enterUntilFull(room, 'slow', account).places)
  expect(taken).toHaveLength(900)
  expect(() => room.enter('slow', 'another')).toThrow('as many as one provider may take')
  room.enter('quick', 'another')
})

test('a place that was left is free again, once', () => {
  const { room } = startRoom(8)
  const { places } = enterUntilFull(room, 'openai', 'busy')
  expect(places).toHaveLength(7)
  places[0]?.release()
  places[0]?.release()
  expect(enterUntilFull(room, 'openai', 'busy').places).toHaveLength(1)
})
