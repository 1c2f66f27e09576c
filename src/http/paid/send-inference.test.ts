import { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import { createInferenceRecord } from '../../modules/inference/inference.ts'
import { Exchange } from '../exchange.ts'
import { sendStream } from './send-inference.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] })
})
afterEach(() => {
  vi.useRealTimers()
})

const LONG_MS = 60_000

/** A stream that fails after a minute, with or without a hold. */
function startStream({ isHeld }: { isHeld: boolean }) {
  const incoming = new IncomingMessage(new Socket())
  const response = new ServerResponse(incoming)
  const exchange = new Exchange('req_0', incoming, response, '/v1/chat/completions', new Cancellation())
  const record = createInferenceRecord('chat')
  const fail = async () => {
    if (isHeld) record.balanceNanoUsd = 1n
    await new Promise((resolve) => setTimeout(resolve, LONG_MS))
    throw new AppError('insufficient_balance', 'No credit.')
  }
  const sent = sendStream({ exchange, headers: [] }, record, fail(), () => {})
  return { sent, response }
}

test('a stream does not start while it waits for credit, so a refusal is an HTTP status', async () => {
  const { sent, response } = startStream({ isHeld: false })
  const refused = expect(sent).rejects.toMatchObject({ code: 'insufficient_balance' })
  await vi.advanceTimersByTimeAsync(LONG_MS)
  await refused
  expect(response.headersSent).toBe(false)
})

test('a stream starts without its first chunk while it waits for its upstream', async () => {
  const { sent, response } = startStream({ isHeld: true })
  await vi.advanceTimersByTimeAsync(LONG_MS)
  await sent
  expect([response.headersSent, response.statusCode]).toEqual([true, 200])
})
