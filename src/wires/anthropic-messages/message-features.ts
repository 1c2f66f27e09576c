import { AppError } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import { foldName } from '../../kernel/fold-name.ts'
import { findDeclaredTools } from '../declared-tools.ts'
import { refuseAccountState, refuseCacheMark, refuseFeature, type ServerFeature } from '../native-demands.ts'
import type { CountTokensRequest } from './messages-request.ts'

/** Throws for members that must not be sent to any upstream. */
export function refuseForeignState(request: CountTokensRequest): void {
  if (isRecord(Reflect.get(request, 'thread'))) throw threadUnsupported()
  for (const [name, value] of Object.entries(request)) {
    const ordinary = UNPRICED_MEMBERS.get(foldName(name))
    if (ordinary === undefined || value === undefined || value === null || value === ordinary) continue
    throw refuseFeature({ member: null, param: name, what: `'${name}'` })
  }
  refuseFiles(request.messages, 'messages')
  refuseFiles(request.system, 'system')
}

/** Members that change the price, with the value that has the normal price. */
const UNPRICED_MEMBERS: ReadonlyMap<string, string> = new Map([
  ['speed', 'standard'],
  ['inference_geo', 'global'],
])

/** Anthropic's SDKs ask for threads by default. With these details they send the whole conversation without one. */
function threadUnsupported(): AppError {
  const message = 'Conversations are not stored here for this wire. Send all messages, without `thread`.'
  return new AppError('unsupported_parameter', message, {
    param: 'thread',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  })
}

/** Returns the features of a request that run on Anthropic's servers and are not billed only by tokens. */
export function serverFeaturesOf(request: CountTokensRequest): ServerFeature[] {
  return findDeclaredTools(request, '', OWN_DATA).flatMap(({ tool, type, param }) => {
    const member = tool === null ? null : billedBy(type)
    const what = `The tool ${JSON.stringify(type ?? null)}`
    return member === undefined ? [] : [{ member, param: `${param}.type`, what }]
  })
}

/** The arguments of a call of a tool. */
const OWN_DATA: ReadonlySet<string> = new Set(['input'])

/** Returns undefined for tools that the client runs, and null for unknown tools. */
function billedBy(type: unknown): string | null | undefined {
  if (type === undefined || type === null || type === 'custom') return undefined
  if (typeof type !== 'string') return null
  if (CLIENT_TOOL.test(type)) return undefined
  return BILLED_TOOLS.find(([pattern]) => pattern.test(type))?.[1] ?? null
}

/** Tools that the client runs, or that only search the tools of the request. */
const CLIENT_TOOL =
  /^(bash|text_editor|computer|memory|computer_toolset|browser_toolset|tool_search_tool_\w+?)(_\d{8})?$/

const BILLED_TOOLS: readonly (readonly [RegExp, string])[] = [
  [/^web_(search|fetch)_\d{8}$/, 'web_search'],
  [/^code_execution_\d{8}$/, 'code_execution'],
  [/^mcp_toolset$/, 'mcp_servers'],
]

/**
 * Refuses files, which any block may name by `file_id`. Does not search the input of tool calls, which is the client's own data.
 */
function refuseFiles(value: unknown, param: string): void {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) refuseFiles(one, `${param}.${index}`)
  } else if (isRecord(value)) {
    if (typeof value['file_id'] === 'string') throw refuseAccountState(param, 'A file')
    refuseCacheMark(value, param)
    for (const name of ['content', 'source']) refuseFiles(value[name], `${param}.${name}`)
  }
}
