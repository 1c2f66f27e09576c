import { expect, test } from 'vitest'
import { AppError } from '../../../kernel/app-error.ts'
import { Cancellation } from '../../../kernel/cancellation.ts'
import type { Caller } from '../../keys/keys.ts'
import type { BatchEndpoint } from '../endpoint.ts'
import { HandedLine } from '../handed/handed-lines.ts'
import type { LineEnd } from './line-writer.ts'
import { runLine } from './run-line.ts'

const LINE = {
  number: 1,
  wasAsked: false,
  countedNanoUsd: 0n,
  tries: 0,
  requestId: 'req_1',
  isSingle: false,
  content: Buffer.from('{"body":{}}'),
}

/** Runs a line whose vendor answers at once, with this status, and whose first charges fail. */
async function run(status: number, failures: number, refusals = 0) {
  let refused = 0
  const seen = { handed: 0, left: 0, asked: 0, ends: [] as LineEnd['status'][], leftAtEnds: [] as number[] }
  const hand = (): HandedLine => {
    seen.handed += 1
    return new HandedLine({
      providerId: 'vendor',
      vendorMillionths: 500_000n,
      pricedAtMs: null,
      onPosted: () => {},
      post: async (_, line) => {
        line.begin(() => (seen.left += 1))
        return { status, body: Buffer.from('the answer') }
      },
    })
  }
  const endpoint: BatchEndpoint = {
    path: '/v1/chat/completions',
    check: () => {},
    quote: () => null,
    handingOf: () => null,
    describeError: () => ({ status: 503, body: '{}' }),
    ask: async ({ handed }) => {
      if ((refused += 1) <= refusals) throw new AppError('service_unavailable', 'Credit cannot be reserved.')
      const answer = await handed?.handOver.post({ path: '/chat', body: '{}' })
      seen.asked += 1
      if (seen.asked <= failures) throw new AppError('service_unavailable', 'This process lost its credit.')
      return String(answer?.body)
    },
  }
  const ran = await runLine(LINE, {
    endpoint,
    hand,
    writer: {
      begin: async () => 'req_1',
      beginAll: async () => new Map(),
      giveBack: async () => {},
      end: async (end) => {
        seen.ends.push(end.status)
        seen.leftAtEnds.push(seen.left)
        return true
      },
    },
    baseUrl: undefined,
    caller: { current: async () => ({}) as Caller, isNotKept: false },
    findCharge: null,
    cancellation: new Cancellation(),
    withdrawal: new Cancellation(),
    onAnswered: () => {},
    onRates: () => {},
  })
  return { ...seen, ran }
}

test('an answer of a vendor that could not be charged is taken again, and left once its end is written', async () => {
  const { ran, handed, left, ends, leftAtEnds } = await run(200, 1)
  expect([ran.status, handed, left]).toEqual(['completed', 1, 1])
  expect([ends, leftAtEnds]).toEqual([
    ['pending', 'completed'],
    [0, 0],
  ])
})

test('a line whose vendor answered with an error that may pass is asked by itself', async () => {
  const { ran, handed, left, asked } = await run(503, 1)
  expect([ran.status, ran.again?.isSingle]).toEqual(['pending', true])
  expect([handed, left, asked]).toEqual([1, 1, 1])
})

test('a line for which no credit could be held in this moment still gets the answer of its vendor', async () => {
  const { ran, handed, left, asked } = await run(200, 0, 1)
  expect([ran.status, handed, left, asked]).toEqual(['completed', 1, 1, 1])
})
