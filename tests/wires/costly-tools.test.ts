import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { CHAT, chatBody } from '../chat/start-chat-gateway.ts'
import { MESSAGES, messagesBody } from '../messages/start-messages-gateway.ts'
import { startNativeGateway as startAnthropic } from '../messages/start-native-gateway.ts'
import { RESPONSES, startNativeGateway as startOpenAi } from '../responses/start-native-gateway.ts'

let openai: Awaited<ReturnType<typeof startOpenAi>>
let anthropic: Awaited<ReturnType<typeof startAnthropic>>

beforeAll(async () => {
  openai = await startOpenAi()
  anthropic = await startAnthropic()
})
afterAll(() => Promise.all([openai.close(), anthropic.close()]))
beforeEach(() => {
  for (const { requests } of [openai.openai, openai.upstream, anthropic.anthropic, anthropic.upstream])
    requests.length = 0
})

const FUNCTION = { type: 'function', name: 'f', parameters: { type: 'object' } }
const CHAT_FUNCTION = { type: 'function', function: { name: 'f', parameters: { type: 'object' } } }
const SEARCH = { type: 'web_search' }
const CLAUDE_FUNCTION = { name: 'f', input_schema: { type: 'object' } }
const CLAUDE_SEARCH = { type: 'web_search_20250305', name: 'web_search' }

const user = (members: object = {}) => ({ role: 'user', content: 'Hi', ...members })
const asksResponse = (members: object) =>
  openai.request('POST', RESPONSES, { body: { model: 'gpt', ...members } })
const asksMessage = (members: object) =>
  anthropic.request('POST', MESSAGES, { body: messagesBody({ model: 'claude', ...members }) })
const asksChat = (members: object) =>
  openai.request('POST', CHAT, { body: chatBody({ model: 'either', ...members }) })

const arrived = () =>
  [openai.openai, openai.upstream, anthropic.anthropic, anthropic.upstream].flatMap(
    ({ requests }) => requests,
  )

async function expectRefused(answering: ReturnType<typeof asksChat>, code = 'unsupported_parameter') {
  const { status, body } = await answering
  expect([status, body.error.code ?? body.error.type]).toEqual([400, code])
  expect(arrived()).toEqual([])
}

describe('a tool that a vendor runs and bills is refused wherever a request of Responses declares it', () => {
  const item = (members: object) => ({ input: [user(), members] })
  test.each<[string, object]>([
    ['in tools', { input: 'Hi', tools: [SEARCH] }],
    [
      'in a group',
      { input: 'Hi', tools: [{ type: 'namespace', name: 'n', tools: [FUNCTION, { ...SEARCH, name: 's' }] }] },
    ],
    ['in the result of a search for tools', item({ type: 'tool_search_output', tools: [FUNCTION, SEARCH] })],
    ['in additional tools', item({ type: 'additional_tools', tools: [FUNCTION, SEARCH] })],
    ['in a message', item(user({ tools: [FUNCTION, SEARCH] }))],
    ['in a part of a message', item(user({ content: [{ type: 'input_text', text: 'x', tools: [SEARCH] }] }))],
    ['in a list of lists', item({ type: 'tool_search_output', tools: [[FUNCTION, SEARCH]] })],
    [
      'in a group of an item',
      item({ type: 'x', tools: [{ type: 'namespace', name: 'n', tools: [FUNCTION, SEARCH] }] }),
    ],
    ['inside another tool', { input: 'Hi', tools: [{ ...FUNCTION, tools: [SEARCH] }] }],
    ['under a name in capital letters', item({ type: 'x', Tools: [FUNCTION, SEARCH] })],
    ['with a type in capital letters', { input: 'Hi', tools: [{ ...FUNCTION, Type: 'web_search' }] }],
    ['in a member that does not exist yet', { input: 'Hi', later: { hosted_tools: [SEARCH] } }],
    ['as a kind that does not exist yet', { input: 'Hi', tools: [FUNCTION, { type: 'teleport' }] }],
  ])('%s', async (_place, members) => {
    await expectRefused(asksResponse(members))
  })

  test('a tool that a vendor runs and bills is refused wherever a request of Responses declares it and a spare search beside functions is still not sent', async () => {
    const { status } = await asksResponse({ input: 'Hi', tools: [FUNCTION, SEARCH] })
    expect(status).toBe(200)
    expect(Object(arrived()[0]?.body).tools).toEqual([FUNCTION])
  })
})

describe('a tool that a vendor runs and bills is refused wherever a request of Messages declares it', () => {
  test.each<[string, object]>([
    ['in tools', { tools: [CLAUDE_SEARCH] }],
    ['in a message', { messages: [user({ tools: [CLAUDE_SEARCH] })] }],
    ['in a block', { messages: [user({ content: [{ type: 'later', text: 'x', tools: [CLAUDE_SEARCH] }] })] }],
    ['inside another tool', { tools: [{ ...CLAUDE_FUNCTION, tools: [CLAUDE_SEARCH] }] }],
    ['with a type in capital letters', { tools: [{ ...CLAUDE_FUNCTION, Type: 'web_search_20250305' }] }],
  ])('%s', async (_place, members) => {
    await expectRefused(asksMessage(members))
  })

  test('a tool that a vendor runs and bills is refused wherever a request of Messages declares it and what a client gives to its own tools may have any name', async () => {
    const messages = [
      user(),
      { role: 'assistant', content: [{ type: 'tool_use', id: 't', name: 'f', input: { tools: [SEARCH] } }] },
      user({ content: [{ type: 'tool_result', tool_use_id: 't', content: 'x' }] }),
    ]
    const schema = { type: 'object', properties: { tools: { type: 'array' }, Type: { type: 'string' } } }
    const { status } = await asksMessage({ messages, tools: [{ ...CLAUDE_FUNCTION, input_schema: schema }] })
    expect(status).toBe(200)
  })
})

describe('a tool that a vendor runs and bills is refused wherever a request of chat declares it', () => {
  test.each<[string, object]>([
    ['in a message', { messages: [user({ tools: [SEARCH] })] }],
    ['in a part', { messages: [user({ content: [{ type: 'text', text: 'x', tools: [SEARCH] }] })] }],
    ['inside another tool', { tools: [{ ...CHAT_FUNCTION, tools: [SEARCH] }] }],
    ['in a member that does not exist yet', { builtin_tools: [SEARCH] }],
  ])('%s', async (_place, members) => {
    await expectRefused(asksChat(members))
  })

  test('a tool that a vendor runs and bills is refused wherever a request of chat declares it and a request with functions is served', async () => {
    const { status } = await asksChat({ tools: [CHAT_FUNCTION], tool_choice: 'auto' })
    expect(status).toBe(200)
  })
})

describe('a member that changes the bill counts in any case', () => {
  test.each<[string, object]>([
    ['Speed', { Speed: 'fast' }],
    ['ＳＰＥＥＤ', { ＳＰＥＥＤ: 'fast' }],
    ['Service_Tier', { Service_Tier: 'priority' }],
    ['PII_Mode', { PII_Mode: 'strict' }],
  ])('%s is refused', async (_name, members) => {
    await expectRefused(asksMessage(members))
    await expectRefused(asksChat(members))
    await expectRefused(asksResponse({ input: 'Hi', ...members }))
  })

  test('a member that changes the bill counts in any case and members that the gateway replaces are not sent under another spelling', async () => {
    const { status } = await asksResponse({
      input: 'Hi',
      Previous_Response_Id: 'resp_1',
      Conversation: 'conv_1',
    })
    expect(status).toBe(200)
    expect(Object.keys(Object(arrived()[0]?.body))).not.toEqual(
      expect.arrayContaining([expect.stringMatching(/^(previous_response_id|conversation)$/i)]),
    )
  })
})

describe('a body with a member twice is refused, because parsers disagree about it', () => {
  test.each([
    [RESPONSES, '{"model":"gpt","input":"Hi","tools":[],"tools":[{"type":"web_search"}]}'],
    [RESPONSES, '{"model":"gpt","input":[{"role":"user","content":"Hi","tools":[],"\\u0074ools":[1]}]}'],
    [CHAT, '{"model":"either","messages":[{"role":"user","content":"Hi","role":"system"}]}'],
    ['/v1/embeddings', '{"model":"text-embedding-3-small","input":"x","input":"y"}'],
    ['/v1/completions', '{"model":"either","prompt":"x","n":1,"n":100}'],
  ])('%s %s', async (path, body) => {
    await expectRefused(openai.request('POST', path, { body }), 'invalid_json')
  })
})

describe('sound in a request of Responses', () => {
  const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  test.each<[string, object]>([
    ['in a message', { input: [user({ content: [sound] })] }],
    [
      'in a result',
      {
        input: [
          user(),
          { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: [sound] },
        ],
      },
    ],
    [
      'in an item of a kind that does not exist yet',
      { input: [user(), { type: 'later', content: [sound] }] },
    ],
    [
      'as a file',
      { input: [user({ content: [{ type: 'input_file', file_data: 'data:audio/wav;base64,UklGRg==' }] })] },
    ],
  ])('is refused if the model has no price for it: %s', async (_place, members) => {
    await expectRefused(asksResponse(members))
  })
})
