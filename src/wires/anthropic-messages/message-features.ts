import { isRecord } from '../../kernel/is-record.ts'
import { refuseAccountState, refuseCacheMark, refuseFeature, type ServerFeature } from '../native-demands.ts'
import type { CountTokensRequest, MessagesTool } from './messages-request.ts'

/** Throws for members that no upstream may be sent, whoever serves the request. */
export function refuseForeignState(request: CountTokensRequest): void {
  const thread: unknown = Reflect.get(request, 'thread')
  if (isRecord(thread)) throw refuseAccountState('thread', 'A conversation that is kept on the server')
  for (const [name, ordinary] of UNPRICED_MEMBERS) {
    const value: unknown = Reflect.get(request, name)
    if (value === undefined || value === null || value === ordinary) continue
    throw refuseFeature({ member: null, param: name, what: `'${name}'` })
  }
  refuseFiles(request.messages, 'messages')
  refuseFiles(request.system, 'system')
}

/** Members with prices of their own, and the value of each that has the usual price. */
const UNPRICED_MEMBERS: readonly (readonly [string, string | null])[] = [
  ['speed', 'standard'],
  ['inference_geo', 'global'],
  ['fallback_credit_token', null],
]

/** What of a request runs on Anthropic's servers and is not only paid by tokens. */
export function serverFeaturesOf({ tools }: CountTokensRequest): ServerFeature[] {
  return (tools ?? []).flatMap((tool, index) => {
    const member = billedBy(tool)
    const param = `tools.${index}.type`
    return member === undefined ? [] : [{ member, param, what: `The tool ${JSON.stringify(tool.type)}` }]
  })
}

/** Undefined for tools that a client runs itself; null for those that are not known. */
function billedBy({ type }: MessagesTool): string | null | undefined {
  if (type === undefined || type === null || type === 'custom' || CLIENT_TOOL.test(type)) return undefined
  return BILLED_TOOLS.find(([pattern]) => pattern.test(type))?.[1] ?? null
}

/** Run by the client, or only a search among the tools of the request. */
const CLIENT_TOOL =
  /^(bash|text_editor|computer|memory|computer_toolset|browser_toolset|tool_search_tool_\w+?)(_\d{8})?$/

const BILLED_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^web_(search|fetch)_\d{8}$/, 'web_search'],
  [/^code_execution_\d{8}$/, 'code_execution'],
  [/^mcp_toolset$/, 'mcp_servers'],
]

/** Files are named by `file_id`, in whichever block. What a model gave a tool is the client's own. */
function refuseFiles(value: unknown, param: string): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) refuseFiles(one, `${param}.${index}`)
  } else if (isRecord(value)) {
    if (typeof value['file_id'] === 'string') throw refuseAccountState(param, 'A file')
    refuseCacheMark(value, param)
    for (const name of ['content', 'source']) refuseFiles(value[name], `${param}.${name}`)
  }
}
