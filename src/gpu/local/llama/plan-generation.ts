import {
  LlamaText,
  type ChatHistoryItem,
  type ChatModelFunctions,
  type GbnfJsonSchema,
  type Llama,
  type LlamaGrammar,
  type Token,
} from 'node-llama-cpp'
import type { ChatRequest, ChatTool } from './chat-request.ts'
import { EngineError, invalidRequest } from './engine-error.ts'
import type { LoadedModel } from './load-model.ts'
import { toChatHistory } from './to-chat-history.ts'
import { toGrammarSchema } from './to-grammar-schema.ts'
import { writeGrammar } from './write-grammar.ts'

/** The prompt, limits and constraints of one generation. */
export interface GenerationPlan {
  readonly history: ChatHistoryItem[]
  readonly prompt: readonly Token[]
  readonly tokensMax: number
  /** Tools that the model may call, or null. */
  readonly functions: ChatModelFunctions | null
  /** Grammar that the generated text must match, or null. */
  readonly grammar: LlamaGrammar | null
  /** Set if the text must be a tool call: of a given tool, or of any tool, which the text then names. */
  readonly forced: ForcedCall | null
}

type ForcedCall = { readonly kind: 'one'; readonly name: string } | { readonly kind: 'any' }

/** Tokens reserved for the syntax of tool calls, which is not included in the counted tokens. */
const CALL_TOKENS_RESERVED = 64
const ANSWER_TOKENS_MIN = 1

/** Plans the generation for a request. Throws an error for the client, for example if the prompt exceeds the context. */
export async function planGeneration(loaded: LoadedModel, request: ChatRequest): Promise<GenerationPlan> {
  const { llama, chatWrapper, model, contextSize } = loaded
  const tools = request.tool_choice === 'none' ? [] : (request.tools ?? [])
  const forced = findForced(request, tools)
  const functions = toFunctions(tools, { isForced: forced !== null })
  const schema = forced === null ? schemaOf(request) : forcedSchema(forced, functions)
  if (schema !== null && forced === null && tools.length > 0)
    throw invalidRequest('response_format', 'With tools this needs a tool_choice of none or required.')
  const asked = toChatHistory(request.messages)
  const isCalling = tools.length > 0
  // A generation cannot use both a grammar and tools. For a forced call, the tools are only described in the prompt.
  const history =
    forced === null
      ? asked
      : [
          ...chatWrapper.addAvailableFunctionsSystemMessageToHistory(asked, functions, {
            documentParams: true,
          }),
        ]
  const isOffered = isCalling && forced === null
  const { contextText } = chatWrapper.generateContextState({
    chatHistory: history,
    ...(isOffered ? { availableFunctions: functions, documentFunctionParams: true } : {}),
  })
  const prompt = LlamaText(contextText).tokenize(model.tokenizer)
  const reserved = isOffered ? CALL_TOKENS_RESERVED : 1
  const left = contextSize - prompt.length - reserved
  if (left < ANSWER_TOKENS_MIN) throw tooLong(contextSize, prompt.length)
  const asks = request.max_completion_tokens ?? request.max_tokens ?? left
  return {
    history,
    prompt,
    tokensMax: Math.min(asks, left),
    functions: isOffered ? functions : null,
    grammar:
      schema === null
        ? null
        : await createGrammar(llama, schema, forced === null ? 'response_format' : 'tools'),
    forced,
  }
}

function toFunctions(
  tools: readonly ChatTool[],
  { isForced }: { readonly isForced: boolean },
): ChatModelFunctions {
  // The grammar of a call that the model decides on is not ours, and cannot contain large bounds.
  const use = isForced ? 'own_grammar' : 'other_grammar'
  return Object.fromEntries(
    tools.map(({ function: { name, description, parameters } }, index) => {
      const hasParameters = parameters !== null && parameters !== undefined
      const params = hasParameters
        ? toGrammarSchema(parameters, { param: `tools.${index}.function.parameters`, use })
        : null
      return [name, { ...(description ? { description } : {}), ...(params === null ? {} : { params }) }]
    }),
  )
}

function findForced({ tool_choice: choice }: ChatRequest, tools: readonly ChatTool[]): ForcedCall | null {
  if (choice === null || choice === undefined || choice === 'auto' || choice === 'none') return null
  const names = tools.map(({ function: { name } }) => name)
  if (choice === 'required') {
    const [first] = names
    if (first === undefined) throw invalidRequest('tool_choice', 'There are no tools to choose from.')
    return names.length === 1 ? { kind: 'one', name: first } : { kind: 'any' }
  }
  const { name } = choice.function
  if (!names.includes(name)) throw invalidRequest('tool_choice', 'There is no such tool.')
  return { kind: 'one', name }
}

const NO_PARAMETERS: GbnfJsonSchema = { type: 'object', properties: {} }

function forcedSchema(forced: ForcedCall, functions: ChatModelFunctions): GbnfJsonSchema {
  if (forced.kind === 'one') return functions[forced.name]?.params ?? NO_PARAMETERS
  return {
    oneOf: Object.entries(functions).map(([name, { params }]) => ({
      type: 'object',
      properties: { name: { const: name }, arguments: params ?? NO_PARAMETERS },
    })),
  }
}

function schemaOf({ response_format: format }: ChatRequest): GbnfJsonSchema | null {
  if (format?.type === 'json_schema')
    return toGrammarSchema(format.json_schema.schema, { param: 'response_format', use: 'own_grammar' })
  return format?.type === 'json_object' ? { type: 'object', additionalProperties: true } : null
}

/** Throws a client error for schemas that no text can satisfy, such as a definition that refers only to itself. */
async function createGrammar(llama: Llama, schema: GbnfJsonSchema, param: string): Promise<LlamaGrammar> {
  try {
    return await llama.createGrammar({ grammar: writeGrammar(schema), trimWhitespaceSuffix: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new EngineError(400, `The schema cannot be followed: ${reason}`, { param })
  }
}

function tooLong(contextSize: number, promptTokens: number): EngineError {
  const message = `This model's maximum context length is ${contextSize} tokens. However, your messages resulted in ${promptTokens} tokens.`
  return new EngineError(400, message, { param: 'messages', code: 'context_length_exceeded' })
}
