import { afterAll, beforeEach, expect, test } from 'vitest'
import { readPieces } from '../../chat/read-events.ts'
import { CHAT } from '../../chat/start-chat-gateway.ts'
import { eventually } from '../../support/eventually.ts'
import { awsChunk } from '../../upstreams/clouds/aws-event-stream.ts'
import { BEDROCK_STREAM, claudeEvents } from '../../upstreams/clouds/bedrock-server.ts'
import { message, startBedrockStage } from './bedrock-stage.ts'

/** AWS does not say that a closed stream is not billed, so it is read to its usage. */
const { bedrock, gateway, reset, close } = await startBedrockStage()
beforeEach(() => reset())
afterAll(close)

const usageOfChat = { prompt_tokens: 20, completion_tokens: 6 }

test.each([
  ['a chat', CHAT],
  ['Messages', '/v1/messages'],
])(
  'a client that leaves a stream of %s pays what Bedrock bills for the whole answer',
  async (_what, path) => {
    const before = (await gateway.request('GET', '/v1/usage/records')).body.data.length
    const events = claudeEvents().map(awsChunk)
    let finish = () => {}
    const mayFinish = new Promise<void>((resolve) => {
      finish = resolve
    })
    async function* rest() {
      await mayFinish
      yield* events.slice(3)
    }
    bedrock.respondWith({ headers: BEDROCK_STREAM, chunks: events.slice(0, 3), more: rest() })
    const client = new AbortController()
    const response = await gateway.fetch('POST', path, {
      body: message({ stream: true }),
      signal: client.signal,
    })
    await readPieces(response).until(/Hello/)
    client.abort()
    await eventually(async () => {
      const { body } = await gateway.request('GET', '/metrics', { key: null })
      expect(body).toMatch(/^parkway_drains_running(?:\{[^}]*\})? 1$/m)
    })
    finish()
    const record = await eventually(async () => {
      const { data } = (await gateway.request('GET', '/v1/usage/records')).body
      expect(data).toHaveLength(before + 1)
      return data[0]
    })
    expect(record).toMatchObject({ model: 'claude', ...usageOfChat })
  },
)
