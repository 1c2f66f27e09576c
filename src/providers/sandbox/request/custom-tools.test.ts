import { expect, test } from 'vitest'
import { chatOnce, chatStream, userMessage } from '../testing/sandbox-client.ts'

const custom = (name: string, members: object = {}) => ({ type: 'custom', custom: { name, ...members } })
const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}

interface Call {
  id?: string
  type?: string
  custom?: { name?: string; input: string }
  function?: { name: string }
}

async function callsFor(content: string, members: object): Promise<Call[]> {
  const { choices } = await chatOnce({ messages: [userMessage(content)], ...members })
  const calls: readonly Call[] = choices[0]?.message.tool_calls ?? []
  return [...calls]
}

test('a custom tool is called with text from the message', async () => {
  const tools = [custom('run_shell', { description: 'Runs a command' })]
  expect(await callsFor('run_shell "ls -la" please', { tools })).toEqual([
    {
      id: expect.stringMatching(/^call_/),
      type: 'custom',
      custom: { name: 'run_shell', input: 'ls -la' },
    },
  ])
})

test('a custom tool with a regular expression gets text that matches it', async () => {
  const format = { type: 'grammar', grammar: { syntax: 'regex', definition: '[A-Z]{3}-\\d{4}' } }
  const [call] = await callsFor('Hello', { tools: [custom('ticket', { format })], tool_choice: 'required' })
  expect(call?.custom?.input).toMatch(/^[A-Z]{3}-\d{4}$/)
})

test('a custom tool is called by its name', async () => {
  const tools = [weather, custom('run_shell')]
  const tool_choice = { type: 'custom', custom: { name: 'run_shell' } }
  expect(await callsFor('What is the weather?', { tools, tool_choice })).toMatchObject([{ type: 'custom' }])
})

test('a streamed custom call has its input in fragments', async () => {
  const tools = [custom('run_shell')]
  const chunks = await chatStream({ messages: [userMessage('run_shell "git log --oneline"')], tools })
  const fragments: Call[] = chunks.flatMap(({ choices }) =>
    choices.flatMap(({ delta }): readonly Call[] => delta.tool_calls ?? []),
  )
  expect(fragments[0]).toMatchObject({ type: 'custom', custom: { name: 'run_shell', input: '' } })
  expect(fragments.map((fragment) => fragment.custom?.input).join('')).toBe('git log --oneline')
  expect(fragments.slice(1).some((fragment) => 'id' in fragment || fragment.custom?.name !== undefined)).toBe(
    false,
  )
})

test('the result of a custom call is used in the answer', async () => {
  const { choices } = await chatOnce({
    messages: [
      userMessage('run_shell "ls"'),
      {
        role: 'assistant',
        content: [],
        tool_calls: [{ id: 'c1', type: 'custom', custom: { name: 'run_shell', input: 'ls' } }],
      },
      { role: 'tool', tool_call_id: 'c1', content: 'README.md' },
    ],
    tools: [custom('run_shell')],
  })
  expect(choices[0]?.message.content).toContain('run_shell returned: README.md')
})

test('allowed_tools restricts the model to them', async () => {
  const tools = [weather, custom('run_shell')]
  const allow = (mode: string, ...allowed: object[]) => ({
    tools,
    tool_choice: { type: 'allowed_tools', allowed_tools: { mode, tools: allowed } },
  })
  const shell = { type: 'custom', custom: { name: 'run_shell' } }
  expect(await callsFor('What is the weather?', allow('auto', shell))).toEqual([])
  expect(await callsFor('What is the weather?', allow('required', shell))).toMatchObject([{ type: 'custom' }])
  const both = { type: 'function', function: { name: 'get_weather' } }
  expect(await callsFor('What is the weather?', allow('auto', shell, both))).toMatchObject([
    { function: { name: 'get_weather' } },
  ])
})
