import { isRecord } from '../../kernel/is-record.ts'
import { refuseAccountState, refuseCacheMark, type ServerFeature } from '../native-demands.ts'
import type { ResponsesRequest } from './responses-request.ts'
import { isSpareSearch } from './tool-names.ts'

/** Throws for members that refer to objects in the operator's account or have no price, whichever provider serves the request. */
export function refuseForeignState({ input }: ResponsesRequest): void {
  if (Array.isArray(input)) for (const [index, item] of input.entries()) refuseFiles(item, `input.${index}`)
}

/** The members in which the wire has files. Results and citations only mention them. */
const FILE_PLACES = ['content', 'output']

function refuseFiles(value: unknown, param: string): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) refuseFiles(one, `${param}.${index}`)
  } else if (isRecord(value)) {
    if (typeof value['file_id'] === 'string') throw refuseAccountState(`${param}.file_id`, 'A file')
    refuseCacheMark(value, param)
    if (value['type'] === 'item_reference') throw refuseAccountState(param, 'An item by its id')
    for (const name of FILE_PLACES) refuseFiles(value[name], `${param}.${name}`)
  }
}

/** Returns the features of a request that run on OpenAI's servers and are not billed only by tokens. */
export function serverFeaturesOf({ tools, input }: ResponsesRequest): ServerFeature[] {
  const features = featuresOfTools(tools, 'tools')
  // Tools that the client discovered during a conversation are among its items.
  if (Array.isArray(input))
    for (const [index, item] of input.entries())
      if ('tools' in item) features.push(...featuresOfTools(item.tools, `input.${index}.tools`))
  return features
}

function featuresOfTools(tools: unknown, param: string): ServerFeature[] {
  if (!Array.isArray(tools)) return []
  return tools.flatMap((tool: unknown, index): ServerFeature[] => {
    if (!isRecord(tool) || isSpareSearch(tool, tools)) return []
    const place = `${param}.${index}`
    if (tool['type'] === 'namespace') return featuresOfTools(tool['tools'], `${place}.tools`)
    const member = billedBy(tool)
    const what = `The tool ${JSON.stringify(tool['type'])}`
    return member === undefined ? [] : [{ member, param: `${place}.type`, what }]
  })
}

/** Tools that the client runs, or that only search the tools of the request. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
  'tool_search',
])

const BILLED_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^web_search(_preview)?(_\d{4}_\d{2}_\d{2})?$/, 'web_search'],
  [/^(code_interpreter|shell)$/, 'code_execution'],
  [/^mcp$/, 'mcp_servers'],
]

/** Returns undefined for tools that the client runs, and null for tools that are unknown or access the operator's account. */
function billedBy({ type, environment }: Record<string, unknown>): string | null | undefined {
  if (CLIENT_TOOLS.has(type)) return undefined
  if (type === 'shell' && isRecord(environment) && environment['type'] === 'local') return undefined
  return BILLED_TOOLS.find(([pattern]) => pattern.test(String(type)))?.[1] ?? null
}
