import { chunksOf, completion, json, stream } from '../openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from '../scripted-server.ts'
import { awsChunk } from './aws-event-stream.ts'
import { answerConverse } from './bedrock-converse.ts'
import { answerList } from './bedrock-lists.ts'
import { BEDROCK_STREAM, REGION, refuse } from './bedrock-replies.ts'
import { findSignatureProblem, type AwsIdentity } from './verify-sigv4.ts'

export const BEDROCK_KEY = 'ABSKQmVkcm9ja0FQSUtleS0wMTIzNDU2Nzg5'

/** Tests move the clock of the gateway. */
const SKEW_MS_MAX = 24 * 60 * 60_000

export interface BedrockServer extends ScriptedServer {
  readonly identities: Map<string, AwsIdentity>
  readonly answer: (request: RecordedRequest) => ScriptedReply
}

/**
 * The runtime endpoint of Bedrock in one region, from https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_InvokeModel.html
 * and the pages of the models. It verifies each signature.
 */
export async function startBedrockServer(): Promise<BedrockServer> {
  const identities = new Map<string, AwsIdentity>()
  const answer = (request: RecordedRequest): ScriptedReply => {
    if (request.headers['authorization'] !== `Bearer ${BEDROCK_KEY}`) {
      const verification = {
        identities,
        region: REGION,
        service: 'bedrock',
        nowMs: Date.now(),
        skewMsMax: SKEW_MS_MAX,
      }
      const problem = findSignatureProblem(request, verification)
      if (problem !== null) return refuse(403, ...problem)
    }
    return answerList(request) ?? answerModel(request)
  }
  const server = await startScriptedServer(answer)
  return { ...server, requests: server.requests, identities, answer }
}

// oxlint-disable-next-line typescript/no-explicit-any -- a server of a test fails loudly on a wrong shape
type Body = any

const OPERATION = /^\/model\/([^/]+)\/(invoke|invoke-with-response-stream|converse|converse-stream)$/

function answerModel(request: RecordedRequest): ScriptedReply {
  const body = request.body as Body
  if (request.path === '/openai/v1/chat/completions')
    return body.stream === true ? stream(chunksOf('Hello', ' there')) : completion()
  const [, encoded = '', operation] = OPERATION.exec(request.path) ?? []
  const model = decodeURIComponent(encoded)
  if (operation === undefined) return refuse(404, 'UnknownOperationException', '')
  if (operation.startsWith('converse')) return answerConverse(body, operation === 'converse-stream')
  if (model.startsWith('amazon.titan-embed'))
    return typeof body.inputText === 'string'
      ? json({ embedding: [body.inputText.length, 0.5], inputTextTokenCount: 3 })
      : refuse(400, 'ValidationException', 'Malformed input request')
  if (model.startsWith('cohere.embed'))
    return json(
      {
        id: 'e',
        response_type: 'embeddings_by_type',
        embeddings: { float: body.texts.map(() => [0.5, 0.25]) },
      },
      200,
      { 'x-amzn-bedrock-input-token-count': '7' },
    )
  return answerClaude(model, body, operation === 'invoke-with-response-stream')
}

function answerClaude(model: string, body: Body, isStream: boolean): ScriptedReply {
  // Members that belong to the path are refused, as is a request without its version.
  const extra = ['model', 'stream'].find((name) => name in body)
  if (extra !== undefined)
    return refuse(400, 'ValidationException', `${extra}: Extra inputs are not permitted`)
  if (body.anthropic_version !== 'bedrock-2023-05-31')
    return refuse(400, 'ValidationException', 'anthropic_version: Field required')
  if (!/anthropic\.claude|application-inference-profile/.test(model))
    return refuse(400, 'ValidationException', 'The provided model identifier is invalid.')
  const wantsTool = Array.isArray(body.tools) && body.messages.length === 1
  return isStream
    ? { headers: BEDROCK_STREAM, chunks: claudeEvents(wantsTool).map(awsChunk) }
    : json(claudeMessage(wantsTool))
}

const USAGE = {
  input_tokens: 12,
  cache_read_input_tokens: 8,
  cache_creation_input_tokens: 0,
  output_tokens: 6,
}

function claudeMessage(wantsTool = false): object {
  const content = wantsTool
    ? [{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } }]
    : [{ type: 'text', text: 'Hello there' }]
  return {
    id: 'msg_bdrk_1',
    type: 'message',
    role: 'assistant',
    model: 'claude',
    content,
    stop_reason: wantsTool ? 'tool_use' : 'end_turn',
    stop_sequence: null,
    usage: USAGE,
  }
}

export function claudeEvents(wantsTool = false): object[] {
  const message = {
    ...claudeMessage(),
    content: [],
    stop_reason: null,
    usage: { ...USAGE, output_tokens: 1 },
  }
  const block = wantsTool
    ? { type: 'tool_use', id: 'toolu_1', name: 'weather', input: {} }
    : { type: 'text', text: '' }
  const deltas = wantsTool
    ? ['{"city":', '"Oslo"}'].map((partial_json) => ({ type: 'input_json_delta', partial_json }))
    : ['Hello', ' there'].map((text) => ({ type: 'text_delta', text }))
  return [
    { type: 'message_start', message },
    { type: 'content_block_start', index: 0, content_block: block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index: 0, delta })),
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: wantsTool ? 'tool_use' : 'end_turn', stop_sequence: null },
      usage: { output_tokens: 6 },
    },
    {
      type: 'message_stop',
      'amazon-bedrock-invocationMetrics': { inputTokenCount: 12, outputTokenCount: 6, invocationLatency: 1 },
    },
  ]
}
