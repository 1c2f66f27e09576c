import { expect, test } from 'vitest'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import { nameOfTool, selectTools } from './select-tools.ts'

const tools: ChatRequest['tools'] = [
  { type: 'function', function: { name: 'weather' } },
  { type: 'custom', custom: { name: 'shell' } },
  { type: 'function', function: { name: 'stocks' } },
]

const select = (tool_choice?: ChatRequest['tool_choice']) => {
  const selection = selectTools({ model: 'm', messages: [], tools, ...(tool_choice ? { tool_choice } : {}) })
  return { ...selection, tools: selection.tools.map(nameOfTool) }
}

const allow = (mode: 'auto' | 'required', ...allowed: { type: string }[]) =>
  select({ type: 'allowed_tools', allowed_tools: { mode, tools: allowed } })

const reference = (type: string, name: string) => ({ type, [type]: { name } })

test('a plain choice keeps every tool', () => {
  expect(select()).toEqual({ tools: ['weather', 'shell', 'stocks'], choice: null, unknownName: null })
  expect(select('required')).toMatchObject({ tools: ['weather', 'shell', 'stocks'], choice: 'required' })
})

test('a named tool is identified by its name, of either kind', () => {
  const named = select({ type: 'custom', custom: { name: 'shell' } })
  expect(named).toMatchObject({ choice: { toolName: 'shell' }, unknownName: null })
  expect(select({ type: 'function', function: { name: 'nowhere' } })).toMatchObject({
    unknownName: 'nowhere',
  })
})

test('allowed tools exclude the others and keep the order of the request', () => {
  expect(allow('auto', reference('function', 'stocks'), reference('custom', 'shell'))).toEqual({
    tools: ['shell', 'stocks'],
    choice: 'auto',
    unknownName: null,
  })
  expect(allow('required', reference('function', 'weather'))).toMatchObject({
    tools: ['weather'],
    choice: 'required',
  })
})

test('an unknown allowed tool is reported', () => {
  expect(allow('auto', reference('function', 'weather'), reference('function', 'nowhere'))).toMatchObject({
    unknownName: 'nowhere',
  })
})
