import { isRecord } from '../../kernel/is-record.ts'
import { findDeclaredTools } from '../declared-tools.ts'
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

/**
 * Returns the features of a request that run on OpenAI's servers and are not billed only by tokens. Tools may also be declared by
 * items, such as those that the client discovered during a conversation, and by groups.
 */
export function serverFeaturesOf(request: ResponsesRequest): ServerFeature[] {
  const { tools, input } = request
  const sounds = Array.isArray(input) ? input.flatMap(findHiddenAudio) : []
  const features = findDeclaredTools(request, '', OWN_DATA).flatMap(
    ({ tool, type, param }): ServerFeature[] => {
      // A spare search is not sent. Only those of the request itself can be spared.
      if (tools?.some((one) => one === tool) && isSpareSearch({ type }, tools)) return []
      const member = billedBy({ ...tool, type })
      const what = `The tool ${JSON.stringify(type ?? null)}`
      return member === undefined ? [] : [{ member, param: `${param}.type`, what }]
    },
  )
  return [...features, ...sounds]
}

/** Items whose sound the chat form has, where it is priced or refused. */
const HEARD_ITEMS: ReadonlySet<unknown> = new Set([
  undefined,
  'message',
  'function_call_output',
  'custom_tool_call_output',
])

/** Sound in an item that is only passed on, whose size and price are not known. */
function findHiddenAudio(item: object, index: number): ServerFeature[] {
  if (HEARD_ITEMS.has(Reflect.get(item, 'type')) || !hasAudio(item)) return []
  return [{ member: null, param: `input.${index}`, what: 'Sound in an item of this kind' }]
}

function hasAudio(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(hasAudio)
  if (!isRecord(value)) return false
  return value['type'] === 'input_audio' || Object.values(value).some(hasAudio)
}

/** The text of a call of a tool. */
const OWN_DATA: ReadonlySet<string> = new Set(['input'])

/** Tools that the client runs, that only search the tools of the request, or that group others. */
const CLIENT_TOOLS: ReadonlySet<unknown> = new Set([
  'function',
  'custom',
  'local_shell',
  'apply_patch',
  'computer',
  'computer_use_preview',
  'tool_search',
  'namespace',
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
