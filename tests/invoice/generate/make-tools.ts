import type { ToolChoice, WireName } from '../case.ts'
import type { Random } from './random.ts'

const HOSTED: Readonly<Partial<Record<WireName, readonly string[]>>> = {
  chat: ['function'],
  messages: [
    'function',
    'web_search_20250305',
    'web_fetch_20250910',
    'code_execution_20250825',
    'mcp_toolset',
    'advisor_20260301',
  ],
  responses: [
    'function',
    'web_search',
    'web_search_preview',
    'code_interpreter',
    'file_search',
    'image_generation',
    'shell',
    'mcp',
  ],
}

const PLACES: readonly ToolChoice['place'][] = [
  'tools',
  'namespace',
  'nested namespace',
  'tool_search_output',
  'additional_tools',
  'message',
]

/** Makes tools, also such as run at the vendor and in places where few look. */
export function makeTools(random: Random, wire: WireName): ToolChoice[] {
  const types = HOSTED[wire === 'background' ? 'responses' : wire]
  if (types === undefined || random.chance(0.75)) return []
  return [
    {
      type: random.chance(0.5) ? 'function' : random.pick(types),
      place: random.chance(0.3) ? 'tools' : random.pick(PLACES),
    },
  ]
}
