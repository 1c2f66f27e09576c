import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadConfig } from '../../src/app/settings/config.ts'
import { modelEntry, startChatGateway, type ChatGateway } from '../chat/start-chat-gateway.ts'
import { startAnthropicServer } from '../upstreams/anthropic-server.ts'
import type { ScriptedServer } from '../upstreams/scripted-server.ts'
import { MESSAGES, messagesBody } from './start-messages-gateway.ts'

let server: ScriptedServer
let gateway: ChatGateway

beforeEach(async () => {
  server = await startAnthropicServer()
})

afterEach(async () => {
  await gateway.close()
  await server.close()
})

async function send(settings: Record<string, string>) {
  gateway = await startChatGateway({
    models: [modelEntry('scripted', [{ provider: 'vllm', model: 'own-model' }])],
    settings: { VLLM_BASE_URL: server.baseUrl, VLLM_API_KEY: 'sk-own', ...settings },
  })
  return gateway.request('POST', MESSAGES, { body: messagesBody({ future: 1 }) })
}

test('an operator’s own server that speaks the wire gets requests in it', async () => {
  const { status, body } = await send({ VLLM_WIRES: 'anthropic-messages' })
  expect([status, body.content[0].text]).toEqual([200, 'Hello there'])
  const { path, headers, body: asked } = await server.requestNumber(0)
  expect([path, headers['authorization']]).toEqual(['/v1/messages', 'Bearer sk-own'])
  expect(asked).toMatchObject({ model: 'own-model', max_tokens: 100 })
  // Members that the gateway does not know could be of the engine.
  expect(asked).not.toHaveProperty('future')
})

test('an own server without the setting gets the chat form', async () => {
  await send({})
  const { path } = await server.requestNumber(0)
  expect(path).toBe('/v1/chat/completions')
})

test('an unknown wire is a configuration error', async () => {
  const environment = { VLLM_BASE_URL: 'http://127.0.0.1:1/v1', VLLM_WIRES: 'telegraph' }
  expect(() => loadConfig({ environment, file: null, directory: import.meta.dirname })).toThrow(
    /VLLM_WIRES names 'telegraph'; the wires are openai-chat, anthropic-messages, openai-responses/,
  )
  await send({})
})
