import { json } from '../openai-server.ts'
import type { ScriptedReply } from '../scripted-server.ts'
import { awsEvent } from './aws-event-stream.ts'
import { BEDROCK_STREAM, refuse } from './bedrock-replies.ts'

const USAGE = { inputTokens: 12, outputTokens: 6, totalTokens: 26, cacheReadInputTokens: 8 }
/** Of a request that marks what to keep. */
const WRITING_USAGE = { inputTokens: 4, outputTokens: 6, totalTokens: 26, cacheWriteInputTokens: 16 }

// oxlint-disable-next-line typescript/no-explicit-any -- a server of a test fails loudly on a wrong shape
type Body = any

/**
 * Converse and ConverseStream, from https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_Converse.html and its data types.
 * Refuses what Bedrock refuses in a conversation.
 */
export function answerConverse(body: Body, isStream: boolean): ScriptedReply {
  const problem = findProblem(body)
  if (problem !== null) return refuse(400, 'ValidationException', problem)
  const wantsTool = body.toolConfig?.toolChoice !== undefined || lastText(body) === 'use a tool'
  if (isStream) return { headers: BEDROCK_STREAM, chunks: converseEvents(wantsTool) }
  const content = wantsTool
    ? [{ toolUse: { toolUseId: 'tooluse_1', name: 'weather', input: { city: 'Oslo' } } }]
    : [{ reasoningContent: { reasoningText: { text: 'Let me see.' } } }, { text: 'Hello there' }]
  return json({
    output: { message: { role: 'assistant', content } },
    stopReason: wantsTool ? 'tool_use' : 'end_turn',
    usage: JSON.stringify(body).includes('cachePoint') ? WRITING_USAGE : USAGE,
    metrics: { latencyMs: 1 },
  })
}

function findProblem({ model, stream, messages, inferenceConfig, toolConfig }: Body): string | null {
  if (model !== undefined || stream !== undefined) return 'model and stream are extraneous keys'
  const roles = messages.map(({ role }: Body) => role)
  if (roles[0] !== 'user') return 'A conversation must start with a user message.'
  if (roles.some((role: string, index: number) => role === roles[index - 1]))
    return 'A conversation must alternate between user and assistant roles.'
  const blocks = messages.flatMap(({ content }: Body) => content)
  if (blocks.some((block: object) => Object.keys(block).length !== 1)) return 'A block has one member.'
  const hasCalls = blocks.some((block: object) => 'toolUse' in block || 'toolResult' in block)
  if (hasCalls && toolConfig === undefined)
    return 'The toolConfig field must be defined when using toolUse and toolResult content blocks.'
  return (inferenceConfig?.temperature ?? 0) > 1 ? 'temperature must be at most 1' : null
}

function lastText({ messages }: Body): string | undefined {
  return messages.at(-1).content.at(-1).text
}

/** The events of a stream, in which only calls of tools begin with an event. */
export function converseEvents(wantsTool = false): Buffer[] {
  const start = { toolUse: { toolUseId: 'tooluse_1', name: 'weather' } }
  const deltas = wantsTool
    ? ['{"city":', '"Oslo"}'].map((input) => ({ toolUse: { input } }))
    : ['Hello', ' there'].map((text) => ({ text }))
  const thought = { contentBlockIndex: 0, delta: { reasoningContent: { text: 'Let me see.' } } }
  return [
    awsEvent('messageStart', { role: 'assistant' }),
    awsEvent('contentBlockDelta', thought),
    awsEvent('contentBlockStop', { contentBlockIndex: 0 }),
    ...(wantsTool ? [awsEvent('contentBlockStart', { contentBlockIndex: 1, start })] : []),
    ...deltas.map((delta) => awsEvent('contentBlockDelta', { contentBlockIndex: 1, delta })),
    awsEvent('contentBlockStop', { contentBlockIndex: 1 }),
    awsEvent('messageStop', { stopReason: wantsTool ? 'tool_use' : 'end_turn' }),
    awsEvent('metadata', { usage: USAGE, metrics: { latencyMs: 1 } }),
  ]
}
