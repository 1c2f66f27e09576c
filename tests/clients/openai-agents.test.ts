// The two packages that `@openai/agents` exports, without the one for speech.
import { Agent, Runner, tool } from '@openai/agents-core'
import { OpenAIResponsesModel } from '@openai/agents-openai'
import OpenAI from 'openai'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

let gateway: TestGateway
let model: OpenAIResponsesModel

beforeAll(async () => {
  gateway = await startTestGateway()
  const client = new OpenAI({ baseURL: `${gateway.baseUrl}/v1`, apiKey: gateway.key, maxRetries: 0 })
  model = new OpenAIResponsesModel(client, 'gpt-5.4-mini')
})

afterAll(() => gateway.close())

/** Creates an agent that must call the tool once and then answers. */
function createAgent(looked: string[]): Agent {
  const look = tool({
    name: 'get_weather',
    description: 'The weather of a city.',
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      looked.push(city)
      return 'Sunny'
    },
  })
  return new Agent({
    name: 'Weatherman',
    instructions: 'Look.',
    model,
    tools: [look],
    modelSettings: { toolChoice: 'required' },
  })
}

const runner = new Runner({ tracingDisabled: true })

test.each([false, true])('an agent calls its tool and answers, with a stream: %s', async (isStreamed) => {
  const looked: string[] = []
  const agent = createAgent(looked)
  const question = 'How is the weather in Paris?'
  const result = isStreamed
    ? await runner.run(agent, question, { stream: true, maxTurns: 4 })
    : await runner.run(agent, question, { maxTurns: 4 })
  if ('completed' in result) await result.completed
  expect(looked).toHaveLength(1)
  expect(result.finalOutput).toEqual(expect.any(String))
  expect(result.rawResponses).toHaveLength(2)
})

test('an agent continues a stored response', async () => {
  const looked: string[] = []
  const first = await runner.run(createAgent(looked), 'How is the weather in Paris?', { maxTurns: 4 })
  const agent = new Agent({ name: 'Weatherman', model })
  const next = await runner.run(agent, 'And now?', { previousResponseId: first.lastResponseId ?? '' })
  expect(next.finalOutput).toEqual(expect.any(String))
  expect(next.rawResponses[0]?.usage.inputTokens).toBeGreaterThan(
    first.rawResponses[0]?.usage.inputTokens ?? 0,
  )
})
