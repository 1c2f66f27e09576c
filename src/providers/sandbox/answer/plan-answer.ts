import { stringifyJson } from '../../../kernel/json/stringify-json.ts'
import type { ChatRequest, ChatTool } from '../../../wires/openai-chat/chat-request.ts'
import { selectTools } from '../../requests/select-tools.ts'
import { UpstreamError } from '../../failures/upstream-error.ts'
import { callTools, type ToolCallDraft } from '../request/call-tools.ts'
import { checkSchemas } from '../schemas/check-schemas.ts'
import { composeFiller, composeJsonObject, composeReasoning, composeText } from './compose-text.ts'
import { findDescribedSchema } from '../schemas/find-described-schema.ts'
import { jsonFromSchema } from '../schemas/json-from-schema.ts'
import type { Conversation } from '../request/read-conversation.ts'
import { createRandomFromText, type SeededRandom } from '../../../kernel/seeded-random.ts'
import { signThoughts } from './sign-thoughts.ts'
import { splitTokens, type TokenPiece } from './split-tokens.ts'
import { createTurns, type TakeTurn } from '../take-turns.ts'

/** A choice to deliver, complete or in pieces. */
export interface PlannedChoice {
  readonly index: number
  readonly reasoning: readonly TokenPiece[]
  /** Null if there is no reasoning, or it was cut off. */
  readonly signature: string | null
  /** Null if the answer consists of tool calls. */
  readonly content: readonly TokenPiece[] | null
  readonly toolCalls: readonly PlannedToolCall[]
  readonly finishReason: 'stop' | 'length' | 'tool_calls' | 'function_call'
  /** The stop sequence at which the text was cut. */
  readonly stopSequence: string | null
  /** Whether the call is written as `function_call`. */
  readonly isLegacyCall: boolean
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
  /** Whether the client offered its tools as `functions`. */
  readonly isLegacy: boolean
  readonly signal: AbortSignal
}

/** Maximum number of additional drafts in one request, to replace choices that are equal. */
const DISTINCT_ATTEMPTS_MAX = 32
/** Characters of a draft to process before yielding to other requests. */
const WORK_PER_TURN = 4096

/** Plans the complete answer from the request alone: the same request and seed give the same answer. */
export async function planAnswer(request: AnswerRequest): Promise<PlannedChoice[]> {
  checkSchemas(request.body)
  refuseUnknownTool(request.body)
  const takeTurn = createTurns(WORK_PER_TURN, request.signal)
  const choices: PlannedChoice[] = []
  const seen = new Set<string>()
  let attemptsLeft = DISTINCT_ATTEMPTS_MAX
  for (let index = 0; index < (request.body.n ?? 1); index += 1) {
    let draft = draftChoice(request, createRandomFromText(`${index}\n${request.conversation.fingerprint}`))
    for (let attempt = 1; seen.has(draft.content ?? '') && attemptsLeft > 0; attempt += 1) {
      attemptsLeft -= 1
      await takeTurn(WORK_PER_TURN)
      draft = draftChoice(
        request,
        createRandomFromText(`${index}.${attempt}\n${request.conversation.fingerprint}`),
      )
    }
    seen.add(draft.content ?? '')
    await takeTurn(WORK_PER_TURN)
    choices.push(await measureChoice(index, draft, request, takeTurn))
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

/** Returns null if the answer has no reasoning. */
function readEffort(body: ChatRequest, canReason: boolean): string | null {
  if (!canReason || body.think === false || body.reasoning_effort === 'none') return null
  return body.reasoning_effort ?? (body.think === true ? 'medium' : null)
}

function composeContent(body: ChatRequest, conversation: Conversation, random: SeededRandom): string {
  const format = body.response_format
  if (format?.type === 'json_object') {
    const described = findDescribedSchema(conversation.described)
    return described === null
      ? JSON.stringify(composeJsonObject(conversation, random))
      : stringifyJson(jsonFromSchema({ type: 'object', ...described }, { random }))
  }
  if (format?.type === 'json_schema')
    return stringifyJson(jsonFromSchema(format.json_schema.schema ?? {}, { random }))
  return composeText(conversation, random)
}

/** Cuts a draft at stop sequences and at the token limit. */
async function measureChoice(
  index: number,
  draft: ChoiceDraft,
  { body, conversation, isLegacy }: AnswerRequest,
  takeTurn: TakeTurn,
): Promise<PlannedChoice> {
  const budget = createBudget(Math.min(body.max_completion_tokens ?? Infinity, body.max_tokens ?? Infinity))
  const reasoning = budget.take(await splitTokens(draft.reasoning, takeTurn))
  const reasoningTokens = budget.spentTokens()
  const isThoughtOut = draft.reasoning !== '' && !budget.isExceeded()

  let content: readonly TokenPiece[] | null = null
  let stopSequence: string | null = null
  if (draft.content !== null) {
    const cut = cutAtStop(draft.content, body.stop ?? [])
    stopSequence = cut.sequence
    const pieces = await splitTokens(cut.text, takeTurn)
    content = budget.take(limitPieces(pieces, conversation.directives.tokenCount))
  }

  const toolCalls: PlannedToolCall[] = []
  for (const { argumentsText, ...call } of draft.toolCalls) {
    if (budget.take(await splitTokens(call.name, takeTurn)).length === 0) break
    toolCalls.push({ ...call, argumentPieces: budget.take(await splitTokens(argumentsText, takeTurn)) })
  }
  const called = isLegacy ? 'function_call' : 'tool_calls'
  const complete = toolCalls.length > 0 ? called : 'stop'
  return {
    index,
    reasoning,
    signature: isThoughtOut ? signThoughts(draft.reasoning) : null,
    content: content ?? (toolCalls.length > 0 ? null : []),
    toolCalls,
    isLegacyCall: isLegacy,
    finishReason: budget.isExceeded() ? 'length' : complete,
    stopSequence: budget.isExceeded() ? null : stopSequence,
    reasoningTokens,
    completionTokens: budget.spentTokens(),
  }
}

function limitPieces(pieces: readonly TokenPiece[], tokensMax: number | null): readonly TokenPiece[] {
  return tokensMax === null ? pieces : createBudget(tokensMax).take(pieces)
}

interface TokenBudget {
  /** Returns the pieces that fit. After the first piece that does not fit, none do. */
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

interface CutText {
  readonly text: string
  /** Null if the text has none of the sequences. */
  readonly sequence: string | null
}

/** Returns the text before the first stop sequence. */
function cutAtStop(text: string, stop: string | readonly string[]): CutText {
  let end = text.length
  let met: string | null = null
  for (const sequence of typeof stop === 'string' ? [stop] : stop) {
    const found = sequence === '' ? -1 : text.indexOf(sequence)
    if (found === -1 || found >= end) continue
    end = found
    met = sequence
  }
  // A stop sequence may begin with the second half of a surrogate pair.
  const last = end > 0 && end < text.length ? text.charCodeAt(end - 1) : 0
  return { text: text.slice(0, last >= 0xd800 && last <= 0xdbff ? end - 1 : end), sequence: met }
}
