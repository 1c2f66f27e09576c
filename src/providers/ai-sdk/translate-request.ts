import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'

import type { ChatRequest } from '../chat-wire.ts'
import type { InferenceCall } from '../provider.ts'
import { readNumber } from './read-json.ts'
import { translatePrompt } from './translate-prompt.ts'
import type { ReasoningLevel, Vendor } from './vendor.ts'

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no text around it and no code fence.'

/** One choice of an OpenAI chat request as a call of the vendor's language model. */
export function translateRequest(
  call: InferenceCall,
  vendor: Vendor,
  choiceIndex: number,
): LanguageModelV4CallOptions {
  const { body } = call
  const isJsonInstructed = asksForJsonWithoutSchema(body) && vendor.needsJsonInstruction(call)
  const options: LanguageModelV4CallOptions = {
    prompt: translatePrompt(body.messages, vendor, isJsonInstructed ? JSON_INSTRUCTION : undefined),
    ...withoutNothing({
      maxOutputTokens: body.max_completion_tokens ?? body.max_tokens,
      temperature: body.temperature,
      topP: body.top_p,
      topK: readNumber(body, 'top_k'),
      presencePenalty: body.presence_penalty,
      frequencyPenalty: body.frequency_penalty,
      seed: translateSeed(body.seed, choiceIndex),
      stopSequences: translateStop(body.stop, vendor),
      responseFormat: isJsonInstructed ? undefined : translateResponseFormat(body),
      tools: translateTools(body),
      toolChoice: translateToolChoice(body),
    }),
  }
  return vendor.refineOptions(options, { call, reasoning: chooseReasoning(call) })
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

// Clients send null for what they leave out, and the packages want such fields absent.
function withoutNothing<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>
}

const SEEDS = 2 ** 31

// Each choice gets its own seed, or all n would be the same.
function translateSeed(seed: number | null | undefined, choiceIndex: number): number | undefined {
  if (seed === null || seed === undefined) return undefined
  return (((seed + choiceIndex) % SEEDS) + SEEDS) % SEEDS
}

function translateStop(stop: ChatRequest['stop'], vendor: Vendor): string[] | undefined {
  if (stop === null || stop === undefined) return undefined
  const kept = vendor.selectStopSequences(
    (typeof stop === 'string' ? [stop] : stop).filter((text) => text !== ''),
  )
  return kept.length === 0 ? undefined : kept
}

function asksForJsonWithoutSchema({ response_format: format }: ChatRequest): boolean {
  return (
    format?.type === 'json_object' ||
    (format?.type === 'json_schema' && format.json_schema.schema === undefined)
  )
}

function translateResponseFormat({
  response_format: format,
}: ChatRequest): LanguageModelV4CallOptions['responseFormat'] {
  if (format?.type === 'json_object') return { type: 'json' }
  if (format?.type !== 'json_schema') return undefined
  const { name, description, schema } = format.json_schema
  return {
    type: 'json',
    name,
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema: toJsonSchema(schema) }),
  }
}

function translateTools({ tools }: ChatRequest): LanguageModelV4FunctionTool[] | undefined {
  if (!hasItems(tools)) return undefined
  return tools.map(({ function: { name, description, parameters, strict } }) => ({
    type: 'function',
    name,
    ...(description === undefined ? {} : { description }),
    inputSchema: toJsonSchema({ type: 'object', ...(parameters ?? { properties: {} }) }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
  }))
}

function translateToolChoice({
  tools,
  tool_choice: choice,
}: ChatRequest): LanguageModelV4ToolChoice | undefined {
  if (choice === null || choice === undefined || !hasItems(tools)) return undefined
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.function.name }
}

function hasItems<T>(items: readonly T[] | null | undefined): items is readonly T[] {
  return items !== null && items !== undefined && items.length > 0
}

// Any JSON object may stand where a schema is expected: the vendor is the one to judge it.
function toJsonSchema(schema: Record<string, unknown>): JSONSchema7 {
  return schema as JSONSchema7
}

const REASONING_LEVELS: ReadonlySet<string> = new Set<ReasoningLevel>([
  'none',
  'minimal',
  'low',
  'medium',
  'high',
  'xhigh',
  'max',
])

/** How much the client wants the model to reason; undefined leaves it to the vendor's default. */
function chooseReasoning({ body, canReason }: InferenceCall): ReasoningLevel | undefined {
  if (!canReason) return undefined
  if (body.think === false) return 'none'
  const effort = body.reasoning_effort?.toLowerCase()
  if (effort !== undefined && isReasoningLevel(effort) && !(effort === 'none' && body.think === true))
    return effort
  return body.think === true || effort !== undefined ? 'medium' : undefined
}

function isReasoningLevel(text: string): text is ReasoningLevel {
  return REASONING_LEVELS.has(text)
}
