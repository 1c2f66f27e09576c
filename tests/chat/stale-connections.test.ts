import type { Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import {
  plainAnswer,
  startRawUpstream,
} from '../../src/providers/openai-compatible/upstream-http1/testing/raw-upstream.ts'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { completion } from '../upstreams/openai-server.ts'
import { CHAT, chatBody } from './start-chat-gateway.ts'
import { randomShare } from '../support/random-share.ts'

const ANSWER = plainAnswer(completion().chunks.join(''), 'content-type: application/json\r\n')
const LANES = 5
const REQUESTS_PER_LANE = 50

test.each<[string, (socket: Socket) => void]>([
  ['right after each answer', (socket) => socket.end()],
  ['a moment after each answer', (socket) => setTimeout(() => socket.destroy(), 2)],
  [
    'with a reset, when it pleases',
    (socket) => setTimeout(() => socket.resetAndDestroy(), randomShare() * 20),
  ],
])('an upstream that closes connections %s fails no request and is never retried', async (_name, leave) => {
  const upstream = await startRawUpstream(({ socket }) => socket.write(ANSWER, () => leave(socket)))
  onTestFinished(() => upstream.close())
  const gateway = await startTestGateway({
    settings: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `${upstream.origin}/v1` },
  })
  onTestFinished(() => gateway.close())
  const lanes = await Promise.all(
    Array.from({ length: LANES }, async () => {
      const statuses: number[] = []
      while (statuses.length < REQUESTS_PER_LANE)
        statuses.push((await gateway.request('POST', CHAT, { body: chatBody() })).status)
      return statuses
    }),
  )
  expect(lanes.flat().filter((status) => status !== 200)).toEqual([])
  const { body: metrics } = await gateway.request('GET', '/metrics')
  expect(metrics).toContain(
    `parkway_upstream_attempts_total{provider="openai",outcome="ok"} ${LANES * REQUESTS_PER_LANE}`,
  )
  expect(metrics).not.toContain('parkway_upstream_errors_total{')
  expect(metrics).not.toContain('parkway_upstream_retries_total{')
})

test('an upstream that ends its lines with bare LF is refused at once', async () => {
  const upstream = await startRawUpstream(({ socket }) => {
    socket.write('HTTP/1.1 200 OK\ncontent-type: application/json\ncontent-length: 2\n\n{}')
  })
  onTestFinished(() => upstream.close())
  const gateway = await startTestGateway({
    settings: {
      OPENAI_API_KEY: 'sk-test',
      OPENAI_BASE_URL: `${upstream.origin}/v1`,
      PARKWAY_UPSTREAM_FIRST_BYTE_TIMEOUT_MS: '3600000',
    },
  })
  onTestFinished(() => gateway.close())
  const { status, body } = await gateway.request('POST', CHAT, { body: chatBody() })
  expect([status, body.error.code]).toEqual([502, 'provider_error'])
  const speech = { model: 'gpt-4o-mini-tts', input: 'Hello', voice: 'alloy' }
  const spoken = await gateway.request('POST', '/v1/audio/speech', { body: speech })
  expect([spoken.status, spoken.body.error.code]).toEqual([502, 'provider_error'])
})
