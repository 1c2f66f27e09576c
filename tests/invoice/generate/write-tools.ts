import type { Case, ToolChoice } from '../case.ts'

const LOOK = { name: 'look', description: 'Looks', parameters: { type: 'object', properties: {} } }

/** Tools of OpenAI's chat wire. */
export function writeTools({ tools }: Case, hasCalls: boolean): object {
  const written = [
    ...(hasCalls ? [{ type: 'function', function: LOOK }] : []),
    ...tools.map(({ type }) => (type === 'function' ? { type, function: LOOK } : { type, [type]: {} })),
  ]
  return written.length === 0 ? {} : { tools: written }
}

/** Tools of Anthropic's wire. */
export function writeMessageTools({ tools }: Case, hasCalls: boolean): object {
  const { name, description, parameters } = LOOK
  const written = [
    ...(hasCalls ? [{ name, description, input_schema: parameters }] : []),
    ...tools.map(({ type }) =>
      type === 'function'
        ? { name: 'other', description, input_schema: parameters }
        : { type, name: type.replace(/_\d+$/, '') },
    ),
  ]
  return written.length === 0 ? {} : { tools: written }
}

/** Tools of the Responses wire, at the top and among the items of the input. */
export function writeItems({ tools }: Case): { tools: object[]; items: object[] } {
  const top: object[] = []
  const items: object[] = []
  for (const choice of tools) {
    const tool = choice.type === 'function' ? { type: 'function', ...LOOK } : { type: choice.type }
    place(choice, tool, top, items)
  }
  return { tools: top, items }
}

function place({ place: where }: ToolChoice, tool: object, top: object[], items: object[]): void {
  const namespace = (tools: object[]) => ({ type: 'namespace', name: 'space', description: 'Tools', tools })
  switch (where) {
    case 'tools':
      top.push(tool)
      return
    case 'namespace':
      top.push(namespace([tool]))
      return
    case 'nested namespace':
      top.push(namespace([namespace([tool])]))
      return
    case 'tool_search_output':
      items.push({
        type: 'tool_search_output',
        call_id: null,
        execution: 'server',
        status: 'completed',
        tools: [tool],
      })
      return
    case 'additional_tools':
      items.push({ type: 'additional_tools', role: 'developer', tools: [tool] })
      return
    case 'message':
      items.push({ type: 'message', role: 'user', content: 'use it', tools: [tool] })
  }
}
