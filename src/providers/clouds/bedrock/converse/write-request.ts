import type { LanguageModelV4CallOptions } from '@ai-sdk/provider'
import { writeCachePoint, writeMessages } from './write-content.ts'

/** Converse takes no higher temperature. */
const TEMPERATURE_MAX = 1

/**
 * Writes the body of Converse and ConverseStream, which are the same. Members that not all models have are not sent.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html
 */
export function writeConverseRequest(
  options: LanguageModelV4CallOptions,
  { hasCachePoints }: { readonly hasCachePoints: boolean },
): string {
  const { prompt } = options
  const system = prompt.flatMap((turn) =>
    turn.role === 'system' ? [{ text: turn.content }, ...(hasCachePoints ? writeCachePoint(turn) : [])] : [],
  )
  const toolConfig = writeTools(options)
  const outputConfig = writeFormat(options.responseFormat)
  return JSON.stringify({
    messages: writeMessages(prompt, hasCachePoints),
    ...(system.length === 0 ? {} : { system }),
    inferenceConfig: writeInference(options),
    ...(toolConfig === undefined ? {} : { toolConfig }),
    ...(outputConfig === undefined ? {} : { outputConfig }),
  })
}

/** Members that are undefined disappear when the request is written. */
function writeInference({ maxOutputTokens, temperature, topP, stopSequences }: LanguageModelV4CallOptions) {
  return {
    maxTokens: maxOutputTokens,
    temperature: temperature === undefined ? undefined : Math.min(temperature, TEMPERATURE_MAX),
    topP,
    stopSequences,
  }
}

function writeTools({ prompt, tools = [], toolChoice }: LanguageModelV4CallOptions): object | undefined {
  const offered = tools.flatMap((tool) =>
    tool.type === 'function'
      ? [{ name: tool.name, description: tool.description, schema: tool.inputSchema }]
      : [],
  )
  const isOffered = toolChoice?.type !== 'none' && offered.length > 0
  // A conversation with calls must say of which tools they are, even if none may be called now.
  const named = isOffered ? offered : calledTools(prompt)
  if (named.length === 0) return undefined
  return {
    tools: named.map(({ name, description, schema }) => ({
      toolSpec: { name, description, inputSchema: { json: schema } },
    })),
    ...(isOffered ? { toolChoice: writeChoice(toolChoice) } : {}),
  }
}

interface NamedTool {
  readonly name: string
  readonly description: string | undefined
  readonly schema: object
}

function calledTools(prompt: LanguageModelV4CallOptions['prompt']): NamedTool[] {
  const names = prompt.flatMap((turn) =>
    turn.role === 'assistant'
      ? turn.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolName] : []))
      : [],
  )
  return [...new Set(names)].map((name) => ({ name, description: undefined, schema: { type: 'object' } }))
}

function writeChoice(choice: LanguageModelV4CallOptions['toolChoice']): object | undefined {
  if (choice?.type === 'required') return { any: {} }
  return choice?.type === 'tool' ? { tool: { name: choice.toolName } } : undefined
}

/** Models without structured outputs refuse it, which is told to the client. */
function writeFormat(format: LanguageModelV4CallOptions['responseFormat']): object | undefined {
  if (format?.type !== 'json' || format.schema === undefined) return undefined
  const { name, description, schema } = format
  const jsonSchema = { name, description, schema: JSON.stringify(schema) }
  return { textFormat: { type: 'json_schema', structure: { jsonSchema } } }
}
