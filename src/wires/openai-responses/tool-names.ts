import { AppError, invalidValue } from '../../kernel/app-error.ts'
import { isRecord } from '../../kernel/is-record.ts'
import type { ChatTool } from '../openai-chat/chat-request.ts'
import { Untranslatable } from '../untranslatable.ts'

/** A tool of the wire, for models that support only functions. */
export interface KnownTool {
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** For a tool in a group. */
  readonly namespace: string | null
}

/** The tools of one request by the names under which the model calls them. */
export interface ToolNames {
  readonly tools: readonly ChatTool[]
  readonly known: ReadonlyMap<string, KnownTool>
  nameOf(tool: { readonly name: string; readonly namespace?: string | null }): string
}

const NAME_LENGTH_MAX = 64
const TOOLS_MAX = 1_024

export function readTools(given: readonly unknown[]): ToolNames {
  const tools: ChatTool[] = []
  const known = new Map<string, KnownTool>()
  const names = new Map<string, string>()
  const add = (tool: Record<string, unknown>, param: string, namespace: string | null): void => {
    const name = requireText(tool['name'], `${param}.name`)
    const kind = tool['type'] === 'custom' ? 'custom' : 'function'
    if (tools.length === TOOLS_MAX)
      throw invalidValue('tools', `A request has ${TOOLS_MAX} tools at most, with those of namespaces.`)
    const called = uniqueName(namespace === null ? name : `${namespace}__${name}`, known)
    known.set(called, { kind, name, namespace })
    names.set(keyOf({ name, namespace }), called)
    tools.push(kind === 'custom' ? toTextFunction(called, tool) : toFunction(called, tool))
  }
  for (const [index, tool] of given.entries()) {
    const param = `tools.${index}`
    if (!isRecord(tool)) continue
    if (tool['type'] === 'function' || tool['type'] === 'custom') add(tool, param, null)
    else if (tool['type'] === 'namespace') {
      const namespace = requireText(tool['name'], `${param}.name`)
      const inner: readonly unknown[] = Array.isArray(tool['tools']) ? tool['tools'] : []
      for (const [at, one] of inner.entries()) if (isRecord(one)) add(one, `${param}.tools.${at}`, namespace)
    } else if (!isSpareSearch(tool, given)) {
      const message = `The tool ${JSON.stringify(tool['type'])} runs at OpenAI and cannot be used with this model.`
      throw new Untranslatable(message, `${param}.type`)
    }
  }
  return { tools, known, nameOf: (tool) => names.get(keyOf(tool)) ?? tool.name }
}

/**
 * Whether a web search can be dropped. Agents send it with every request beside their own tools, and still work without it. A
 * request without other tools needs it.
 */
export function isSpareSearch({ type }: { readonly type?: unknown }, given: readonly unknown[]): boolean {
  const isSearch = type === 'web_search' || type === 'web_search_preview'
  return isSearch && given.some((tool) => isRecord(tool) && OWN_KINDS.has(tool['type']))
}

const OWN_KINDS: ReadonlySet<unknown> = new Set(['function', 'custom', 'namespace'])

function keyOf({ name, namespace }: { name: string; namespace?: string | null | undefined }): string {
  return JSON.stringify([namespace ?? null, name])
}

function uniqueName(wanted: string, taken: ReadonlyMap<string, unknown>): string {
  const short = wanted.slice(0, NAME_LENGTH_MAX)
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? short : `${short.slice(0, NAME_LENGTH_MAX - 5)}_${number}`
    if (!taken.has(name)) return name
  }
}

function toFunction(name: string, { description, parameters, strict }: Record<string, unknown>): ChatTool {
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      ...(isRecord(parameters) ? { parameters } : {}),
      ...(typeof strict === 'boolean' ? { strict } : {}),
    },
  }
}

/** Converts a tool that takes plain text for models that support only functions. A single argument holds the text. */
function toTextFunction(name: string, { description, format }: Record<string, unknown>): ChatTool {
  const grammar = isRecord(format) && typeof format['definition'] === 'string' ? format['definition'] : null
  return {
    type: 'function',
    function: {
      name,
      ...(typeof description === 'string' ? { description } : {}),
      parameters: {
        type: 'object',
        properties: {
          [TEXT_ARGUMENT]: {
            type: 'string',
            ...(grammar === null ? {} : { description: `Text of this grammar:\n${grammar}` }),
          },
        },
        required: [TEXT_ARGUMENT],
        additionalProperties: false,
      },
    },
  }
}

export const TEXT_ARGUMENT = 'input'

function requireText(value: unknown, param: string): string {
  if (typeof value === 'string' && value !== '') return value
  throw new AppError('missing_required_parameter', `${param} is required.`, { param })
}
