import type { ChatRequest, ChatTool } from '../chat-wire.ts'
import { selectTools } from '../select-tools.ts'
import { UpstreamError } from '../upstream-error.ts'
import { callTools, type ToolCallDraft } from './call-tools.ts'
import { composeFiller, composeJsonObject, composeReasoning, composeText } from './compose-text.ts'
import { cutAtStop } from './cut-at-stop.ts'
import { jsonFromSchema } from './json-from-schema.ts'
import type { Conversation } from './read-conversation.ts'
import { createSeededRandom, type SeededRandom } from './seeded-random.ts'
import { splitTokens, type TokenPiece } from './split-tokens.ts'

/** A choice as it will be delivered, whole or piece by piece. */
export interface PlannedChoice {
  readonly index: number
  readonly reasoning: readonly TokenPiece[]
  /** Null where the answer is made of tool calls. */
  readonly content: readonly TokenPiece[] | null
  readonly toolCalls: readonly PlannedToolCall[]
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  readonly reasoningTokens: number
  readonly completionTokens: number
}

interface PlannedToolCall {
  readonly id: string
  readonly type: ChatTool['type']
  readonly name: string
  readonly argumentPieces: readonly TokenPiece[]
}

export interface AnswerRequest {
  readonly body: ChatRequest
  readonly conversation: Conversation
  readonly canReason: boolean
}

const DISTINCT_ATTEMPTS_MAX = 8

/** Decides the whole answer from the request alone: the same request and seed give the same answer. */
export function planAnswer(request: AnswerRequest): PlannedChoice[] {
  refuseUnknownTool(request.body)
  const choices: PlannedChoice[] = []
  const seen = new Set<string>()
  for (let index = 0; index < (request.body.n ?? 1); index += 1) {
    let draft = draftChoice(request, createSeededRandom(`${index}\n${request.conversation.fingerprint}`))
    for (let attempt = 1; seen.has(draft.content ?? '') && attempt < DISTINCT_ATTEMPTS_MAX; attempt += 1) {
      draft = draftChoice(
        request,
        createSeededRandom(`${index}.${attempt}\n${request.conversation.fingerprint}`),
      )
    }
    seen.add(draft.content ?? '')
    choices.push(measureChoice(index, draft, request))
  }
  return choices
}

function refuseUnknownTool(body: ChatRequest): void {
  const { unknownName } = selectTools(body)
  if (unknownName === null) return
  throw new UpstreamError(`sandbox: no tool is named ${unknownName}`, {
    failure: 'status',
    provider: 'sandbox',
    status: 400,
    upstreamMessage: `Tool choice '${unknownName}' is not among the tools.`,
    upstreamParam: 'tool_choice',
    upstreamCode: 'invalid_value',
  })
}

interface ChoiceDraft {
  readonly reasoning: string
  readonly content: string | null
  readonly toolCalls: readonly ToolCallDraft[]
}

function draftChoice({ body, conversation, canReason }: AnswerRequest, random: SeededRandom): ChoiceDraft {
  const effort = readEffort(body, canReason)
  const reasoning = effort === null ? '' : composeReasoning(conversation, effort, random)
  const { echoText, tokenCount } = conversation.directives
  if (echoText !== null) return { reasoning, content: echoText, toolCalls: [] }
  if (tokenCount !== null) return { reasoning, content: composeFiller(tokenCount, random), toolCalls: [] }

  const toolCalls = callTools(body, conversation, random)
  if (toolCalls.length > 0) return { reasoning, content: null, toolCalls }
  return { reasoning, content: composeContent(body, conversation, random), toolCalls: [] }
}

/** Null leaves reasoning out. */
function readEffort(body: ChatRequest, canReason: boolean): string | null {
  if (!canReason || body.think === false || body.reasoning_effort === 'none') return null
  return body.reasoning_effort ?? (body.think === true ? 'medium' : null)
}

function composeContent(body: ChatRequest, conversation: Conversation, random: SeededRandom): string {
  const format = body.response_format
  if (format?.type === 'json_object') return JSON.stringify(composeJsonObject(conversation, random))
  if (format?.type === 'json_schema')
    return JSON.stringify(jsonFromSchema(format.json_schema.schema ?? {}, { random }))
  return composeText(conversation, random)
}

/** Cuts a draft to what stop sequences and the token limit leave of it. */
function measureChoice(
  index: number,
  draft: ChoiceDraft,
  { body, conversation }: AnswerRequest,
): PlannedChoice {
  const budget = createBudget(Math.min(body.max_completion_tokens ?? Infinity, body.max_tokens ?? Infinity))
  const reasoning = budget.take(splitTokens(draft.reasoning))
  const reasoningTokens = budget.spentTokens()

  let content: readonly TokenPiece[] | null = null
  if (draft.content !== null) {
    const pieces = splitTokens(cutAtStop(draft.content, body.stop ?? []))
    content = budget.take(limitPieces(pieces, conversation.directives.tokenCount))
  }

  const toolCalls: PlannedToolCall[] = []
  for (const { argumentsText, ...call } of draft.toolCalls) {
    if (budget.take(splitTokens(call.name)).length === 0) break
    toolCalls.push({ ...call, argumentPieces: budget.take(splitTokens(argumentsText)) })
  }
  const complete = toolCalls.length > 0 ? 'tool_calls' : 'stop'
  return {
    index,
    reasoning,
    content: content ?? (toolCalls.length > 0 ? null : []),
    toolCalls,
    finishReason: budget.isExceeded() ? 'length' : complete,
    reasoningTokens,
    completionTokens: budget.spentTokens(),
  }
}

function limitPieces(pieces: readonly TokenPiece[], tokensMax: number | null): readonly TokenPiece[] {
  return tokensMax === null ? pieces : createBudget(tokensMax).take(pieces)
}

interface TokenBudget {
  /** The pieces that still fit. Once one did not, nothing fits any more. */
  take(pieces: readonly TokenPiece[]): readonly TokenPiece[]
  spentTokens(): number
  isExceeded(): boolean
}

function createBudget(tokensMax: number): TokenBudget {
  let spent = 0
  let isExceeded = false
  return {
    take(pieces) {
      if (isExceeded) return []
      let count = 0
      for (const { tokenCount } of pieces) {
        if (spent + tokenCount > tokensMax) {
          isExceeded = true
          break
        }
        spent += tokenCount
        count += 1
      }
      return pieces.slice(0, count)
    },
    spentTokens: () => spent,
    isExceeded: () => isExceeded,
  }
}
