import { systemClock, type Clock } from '../../kernel/clock.ts'
import { createToken } from '../../kernel/identifiers.ts'
import type { InferenceAnswer, InferenceCall, Provider, StreamAnswer } from '../provider.ts'
import { createChunkWriter, type Chunk, type ChunkWriter } from './answer/chunk-stream.ts'
import { countPromptTokens } from './request/count-prompt-tokens.ts'
import type { Directives, Fault } from './request/directives.ts'
import { createFaultAttempts } from './faults/fault-attempts.ts'
import { damagePayload, damageStream, delayAnswer, failAtOnce } from './faults/inject-fault.ts'
import { createMediaOperations } from './media/media-operations.ts'
import { paceChunks } from './answer/pace-chunks.ts'
import { planAnswer, type PlannedChoice } from './answer/plan-answer.ts'
import { readConversation } from './request/read-conversation.ts'
import { readLegacyFunctions } from './request/read-legacy-functions.ts'
import { sleep as sleepInTime, type Sleep } from './sleep.ts'
import { sumUsage, writeCompletion, type AnswerIdentity } from './answer/write-completion.ts'

const JOB_DURATION_MS = 1000

interface SandboxOptions {
  readonly clock?: Clock
  /** Speed of streams. Zero means no delay. */
  readonly paceTokensPerSecond?: number
  /** Simulated duration of work that runs as a job. */
  readonly jobDurationMs?: number
  readonly sleep?: Sleep
}

/**
 * Creates a provider that answers without an upstream: its answers are deterministic, say that they come from the sandbox, and
 * can fail on request.
 */
export function createSandboxProvider(options: SandboxOptions = {}): Provider {
  const {
    clock = systemClock,
    paceTokensPerSecond = 0,
    jobDurationMs = JOB_DURATION_MS,
    sleep = sleepInTime,
  } = options
  const faultAttempts = createFaultAttempts()

  const chat = async (call: InferenceCall): Promise<InferenceAnswer> => {
    const { body, isLegacy } = readLegacyFunctions(call.body)
    const { timeouts } = call
    const { signal } = call.cancellation
    signal.throwIfAborted()
    const conversation = readConversation(body)
    const { directives } = conversation
    const scheduled = directives.fault
    const fault = scheduled !== null && faultAttempts.isDue(scheduled, call.requestId) ? scheduled : null
    const faultContext = { timeouts, sleep, signal }
    await delayAnswer(directives.latencyMs, faultContext)
    if (fault) await failAtOnce(fault, faultContext)

    const choices = await planAnswer({ body, conversation, canReason: call.canReason, isLegacy, signal })
    const promptTokens = await countPromptTokensIfAsked({ ...call, body }, directives)
    const usage = promptTokens === null ? null : sumUsage(promptTokens, choices)
    const identity: AnswerIdentity = {
      id: createToken('chatcmpl-'),
      createdSeconds: Math.floor(clock.nowMs() / 1000),
      model: call.upstreamModel,
      topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : null,
    }
    if (body.stream !== true) {
      const payload = await writeCompletion(identity, choices, usage, signal)
      return {
        kind: 'complete',
        payload: fault ? await damagePayload(fault, payload, faultContext) : payload,
      }
    }
    const writer = createChunkWriter(identity, body.stream_options?.include_usage === true)
    const chunks = listChunks(writer, choices, usage === null ? null : writer.usage(usage))
    const tokensPerSecond = directives.tokensPerSecond ?? paceTokensPerSecond
    const paced = paceChunks(chunks, { tokensPerSecond, clock, sleep, signal })
    return answerWithStream(
      fault ? damageStream(fault, paced, (text) => writer.text(text).payload, faultContext) : paced,
      fault,
    )
  }

  const media = createMediaOperations({ clock, sleep, faultAttempts, jobDurationMs })
  return { id: 'sandbox', isConfigured: true, refundsCancelled: true, onDisconnect: 'stops', chat, ...media }
}

/** Returns null if no usage will be sent, because counting a long prompt is the most expensive part of an answer. */
async function countPromptTokensIfAsked(
  { body, cancellation }: InferenceCall,
  directives: Directives,
): Promise<number | null> {
  const isAsked = body.stream !== true || body.stream_options?.include_usage === true
  if (!isAsked || directives.isUsageHidden) return null
  return countPromptTokens(body, cancellation.signal)
}

function* listChunks(
  writer: ChunkWriter,
  choices: readonly PlannedChoice[],
  usage: Chunk | null,
): Generator<Chunk> {
  yield* writer.answer(choices)
  if (usage !== null) yield usage
}

/** Signals the end after the last batch, unless a fault prevents it. */
function answerWithStream(batches: AsyncGenerator<Buffer[], void>, fault: Fault | null): StreamAnswer {
  let hasEnded = false
  const watched = async function* (): AsyncGenerator<Buffer[], void> {
    yield* batches
    hasEnded = true
  }
  return {
    kind: 'stream',
    batches: watched(),
    isTerminated: () => hasEnded && (fault === null || fault.kind === 'huge-line'),
  }
}
