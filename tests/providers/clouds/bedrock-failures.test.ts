import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT } from '../../chat/start-chat-gateway.ts'
import { readEvents } from '../../chat/read-events.ts'
import { awsChunk, awsException } from '../../upstreams/clouds/aws-event-stream.ts'
import { ACCOUNT, BEDROCK_STREAM, refuse } from '../../upstreams/clouds/bedrock-replies.ts'
import { claudeEvents } from '../../upstreams/clouds/bedrock-server.ts'
import { KEYS, message, PROFILE_ARN, startBedrockStage } from './bedrock-stage.ts'

const { bedrock, gateway, ask, streamChat, add, reset, close } = await startBedrockStage()
beforeEach(() => reset())
afterAll(close)

describe('a failure of Bedrock', () => {
  test.each([
    ['a wrong secret', { secret_access_key: 'another' }],
    ['a wrong region', { region: 'us-east-1' }],
  ])('a key with %s tells the client nothing of the account', async (_what, members) => {
    await gateway.request('DELETE', '/v1/admin/providers/bedrock-wrong')
    await add('wrong', { api_key: JSON.stringify({ ...KEYS, ...members }) })
    const answer = await ask('by-wrong')
    expect([answer.status, bedrock.requests.length]).toEqual([502, 1])
    expect(JSON.stringify(answer.body)).not.toMatch(/AKIA|scoped|signature/)
  })

  test('an expired session is an error of the upstream', async () => {
    reset({ endsAtMs: 0 })
    expect((await ask('claude')).status).toBe(502)
  })

  test('throttling is tried again, and told if it lasts', async () => {
    const throttled = refuse(429, 'ThrottlingException', 'Too many tokens', { 'retry-after': '1' })
    bedrock.respondWith(throttled, bedrock.answer)
    expect((await ask('claude')).status).toBe(200)
    bedrock.respondWith(throttled)
    expect((await ask('claude')).status).toBe(429)
  })

  test('errors of access and of the request do not name the account or its roles', async () => {
    const text = `User: arn:aws:sts::${ACCOUNT}:assumed-role/gateway/i-1 may not use ${PROFILE_ARN}. Use another model.`
    for (const path of [CHAT, '/v1/messages']) {
      bedrock.respondWith(refuse(400, 'ValidationException', text))
      const blamed = await gateway.request('POST', path, { body: message() })
      expect([blamed.status, blamed.body.error.message]).toEqual([
        400,
        expect.stringContaining('another model'),
      ])
      expect(JSON.stringify(blamed.body)).not.toMatch(/123456789012|assumed-role|a1b2c3/)
      bedrock.respondWith(refuse(403, 'AccessDeniedException', text))
      const denied = await gateway.request('POST', path, { body: message() })
      expect(denied.status).toBe(502)
      expect(JSON.stringify(denied.body)).not.toMatch(/123456789012|arn:/)
    }
  })

  test.each([
    ['an exception', [awsException('modelStreamErrorException', `broken in ${ACCOUNT}`)], 'end'],
    ['half a frame', [awsChunk({ type: 'ping' }).subarray(0, 40)], 'end'],
    ['a cut connection', [], 'cut'],
    ['a wrong checksum', [awsChunk({ type: 'ping' }).fill(0, 30, 31)], 'hang'],
    ['an impossible length', [Buffer.from('ffffffff00000000', 'hex')], 'hang'],
  ] as const)('in the middle of a stream by %s ends it with one error', async (_what, rest, ending) => {
    const begin = claudeEvents().slice(0, 3).map(awsChunk)
    const reply = { headers: BEDROCK_STREAM, chunks: [...begin, ...rest], ending }
    bedrock.respondWith(reply)
    const chat = await streamChat('claude')
    expect([chat.isDone, chat.chunks.at(-1).error.type]).toEqual([false, expect.any(String)])
    bedrock.respondWith(reply)
    const natively = await readEvents(
      await gateway.fetch('POST', '/v1/messages', { body: message({ stream: true }) }),
    )
    expect(natively.chunks.at(-1)).toMatchObject({ type: 'error' })
    expect(chat.text + natively.text).not.toContain(ACCOUNT)
  })
})
