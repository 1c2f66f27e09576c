import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { MESSAGES, messagesBody } from './start-messages-gateway.ts'

let anthropic: ScriptedServer
let ownServer: ScriptedServer
let gateway: ChatGateway

beforeAll(async () => {
  anthropic = await startAnthropicServer()
  ownServer = await startAnthropicServer()
  gateway = await startChatGateway({
    models: [
      modelEntry('claude', [{ provider: 'anthropic', model: 'claude-upstream' }]),
      modelEntry('own', [{ provider: 'vllm', model: 'own-model' }]),
      modelEntry('scripted', [{ provider: 'openai', model: 'upstream-model' }]),
    ],
    settings: {
      ANTHROPIC_API_KEY: 'sk-ant-of-the-operator',
      ANTHROPIC_BASE_URL: anthropic.baseUrl,
      VLLM_BASE_URL: ownServer.baseUrl,
      VLLM_WIRES: 'anthropic-messages',
    },
  })
})

afterAll(async () => {
  await gateway.close()
  await ownServer.close()
  await anthropic.close()
})

beforeEach(() => {
  for (const server of [anthropic, ownServer, gateway.upstream]) server.requests.length = 0
})

const lineOf = (hash: string) =>
  `x-anthropic-billing-header: cc_version=2.1.325.48f; cc_entrypoint=cli; cch=${hash};`
const RULES = { type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } }
const blocks = (hash: string) => [{ type: 'text', text: lineOf(hash) }, RULES]

async function send(model: string, system: unknown) {
  const { status } = await gateway.request('POST', MESSAGES, { body: messagesBody({ model, system }) })
  expect(status).toBe(200)
}

describe('the line that Claude Code writes before its instructions', () => {
  test('reaches Anthropic byte for byte', async () => {
    const text = JSON.stringify(messagesBody({ model: 'claude', system: blocks('71fea') }))
    expect((await gateway.request('POST', MESSAGES, { body: text })).status).toBe(200)
    const { text: arrived } = await anthropic.requestNumber(0)
    expect(arrived).toBe(text.replace('"claude"', '"claude-upstream"'))
  })

  test('does not reach another server that speaks the wire, which gets the same bytes each time', async () => {
    await send('own', blocks('71fea'))
    await send('own', blocks('0aaa9'))
    const [first, second] = [await ownServer.requestNumber(0), await ownServer.requestNumber(1)]
    expect(first.body).toMatchObject({ system: [RULES] })
    expect(first.text).toBe(second.text)
    expect(first.text).not.toContain('x-anthropic-billing-header')
  })

  test('does not reach an upstream of the chat form, which gets the same bytes each time', async () => {
    await send('scripted', blocks('71fea'))
    await send('scripted', `${lineOf('0aaa9')}\nBe brief`)
    const [first, second] = [await gateway.upstream.requestNumber(0), await gateway.upstream.requestNumber(1)]
    expect(first.body).toMatchObject({
      messages: [
        { role: 'system', content: 'Be brief' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(first.text).toBe(second.text)
  })

  test('leaves no instructions behind where there are no others', async () => {
    const alone = [{ type: 'text', text: lineOf('71fea') }]
    await send('own', alone)
    await send('scripted', alone)
    expect((await ownServer.requestNumber(0)).body).not.toHaveProperty('system')
    expect((await gateway.upstream.requestNumber(0)).body).toMatchObject({
      messages: [{ role: 'user', content: 'Hi' }],
    })
  })

  test('is a part of the prompt if it is too long to be one, and is not looked for elsewhere', async () => {
    const long = `${lineOf('71fea')}${'x'.repeat(300)}`
    await send('scripted', long)
    await send('scripted', [RULES, { type: 'text', text: lineOf('71fea') }])
    expect((await gateway.upstream.requestNumber(0)).body).toMatchObject({
      messages: [{ role: 'system', content: long }, {}],
    })
    expect((await gateway.upstream.requestNumber(1)).text).toContain('x-anthropic-billing-header')
  })

  test('changes no count of tokens that the gateway makes', async () => {
    const count = async (system: unknown) => {
      const body = { model: 'scripted', messages: [{ role: 'user', content: 'Hi' }], system }
      return (await gateway.request('POST', '/v1/messages/count_tokens', { body })).body.input_tokens
    }
    const plain = await count([RULES])
    expect([await count(blocks('71fea')), await count(blocks('0aaa9'))]).toEqual([plain, plain])
  })
})
