import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4ToolChoice,
} from '@ai-sdk/provider'

import type { ChatRequest } from '../../../wires/openai-chat/chat-request.ts'
import type { InferenceCall } from '../../provider.ts'
import { selectTools, type ToolSelection } from '../../requests/select-tools.ts'
import { readNumber } from '../exchange/read-json.ts'
import { CUSTOM_TOOL_REFUSAL } from './translate-assistant-message.ts'
import { translatePrompt } from './translate-prompt.ts'
import { UntranslatableRequest } from './untranslatable-request.ts'
import type { ReasoningLevel, Vendor } from '../vendor.ts'

const JSON_INSTRUCTION =
  'Answer with one valid JSON object and nothing else: no text around it and no code fence.'

/** Translates one choice of an OpenAI chat request into a call of the vendor's language model. */
export function translateRequest(
  call: InferenceCall,
  vendor: Vendor,
  choiceIndex: number,
): LanguageModelV4CallOptions {
  const { body } = call
  const isJsonInstructed = asksForJsonWithoutSchema(body) && vendor.needsJsonInstruction(call)
  refuseCustomTools(body)
  const selection = selectTools(body)
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
      tools: translateTools(selection),
      toolChoice: translateToolChoice(selection),
    }),
  }
  return vendor.refineOptions(options, { call, reasoning: chooseReasoning(call) })
}

type Present<T> = { [K in keyof T]?: NonNullable<T[K]> }

// Clients send null for omitted members, but the packages require them to be absent.
function withoutNothing<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== null && value !== undefined),
  ) as Present<T>
}

const SEEDS = 2 ** 31

// Each choice has its own seed, so that the choices differ.
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
    (format?.type === 'json_schema' && (format.json_schema.schema ?? null) === null)
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
    ...withoutNothing({ description, schema: schema && toJsonSchema(schema) }),
  }
}

function refuseCustomTools({ tools }: ChatRequest): void {
  const index = tools?.findIndex((tool) => tool.type === 'custom') ?? -1
  if (index !== -1)
    throw new UntranslatableRequest(`tools.${index}`, CUSTOM_TOOL_REFUSAL, 'unsupported_parameter')
}

function translateTools({ tools }: ToolSelection): LanguageModelV4FunctionTool[] | undefined {
  const translated = tools.flatMap((tool): LanguageModelV4FunctionTool[] => {
    if (tool.type !== 'function') return []
    const { name, description, parameters, strict } = tool.function
    const inputSchema = toJsonSchema({ type: 'object', ...(parameters ?? { properties: {} }) })
    return [{ type: 'function', name, ...withoutNothing({ description, strict }), inputSchema }]
  })
  return translated.length === 0 ? undefined : translated
}

function translateToolChoice(selection: ToolSelection): LanguageModelV4ToolChoice | undefined {
  const { tools, choice, unknownName } = selection
  if (unknownName !== null)
    throw new UntranslatableRequest('tool_choice', `Tool choice '${unknownName}' is not among the tools.`)
  if (choice === null || tools.length === 0) return undefined
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', toolName: choice.toolName }
}

// Any JSON object is accepted as a schema. The vendor validates it.
function toJsonSchema(schema: Record<string, unknown>): JSONSchema7 {
  return schema
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

/** Returns the requested amount of reasoning. Undefined selects the vendor's default. */
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
