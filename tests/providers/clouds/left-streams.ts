import {
  anthropicBlock,
  anthropicMessageEnd,
  anthropicMessageStart,
  anthropicStream,
} from '../../upstreams/anthropic-server.ts'
import { awsChunk } from '../../upstreams/clouds/aws-event-stream.ts'
import { BEDROCK_STREAM } from '../../upstreams/clouds/bedrock-replies.ts'
import { claudeEvents } from '../../upstreams/clouds/bedrock-server.ts'
import { googleChunk, googleStream } from '../../upstreams/google-server.ts'
import { chunksOf, stream } from '../../upstreams/openai-server.ts'
import type { ScriptedReply } from '../../upstreams/scripted-server.ts'
import type { TestedCloud } from './tested-clouds.ts'

/** A stream that a client leaves, in one of the wires of a cloud. */
export interface LeftStream {
  readonly model: string
  readonly path: '/v1/chat/completions' | '/v1/messages'
  readonly cloud: TestedCloud['id']
  readonly reply: ScriptedReply
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number }
}

const CLAUDE_USAGE = { prompt_tokens: 20, completion_tokens: 6 }
const cached = { input_tokens: 12, cache_read_input_tokens: 8, output_tokens: 6 }
const claudeOnVertex = anthropicStream([
  anthropicMessageStart({ ...cached, output_tokens: 1 }),
  ...anthropicBlock(0, { type: 'text', text: '' }, [
    { type: 'text_delta', text: 'Hello' },
    { type: 'text_delta', text: ' there' },
  ]),
  ...anthropicMessageEnd('end_turn'),
])
const claudeOnBedrock = { headers: BEDROCK_STREAM, chunks: claudeEvents().map(awsChunk) }

export const LEFT_STREAMS: readonly LeftStream[] = [
  {
    model: 'azure',
    path: '/v1/chat/completions',
    cloud: 'azure',
    reply: stream(chunksOf('Hello', ' there')),
    usage: { prompt_tokens: 11, completion_tokens: 7 },
  },
  {
    model: 'bedrock',
    path: '/v1/chat/completions',
    cloud: 'bedrock',
    reply: claudeOnBedrock,
    usage: CLAUDE_USAGE,
  },
  { model: 'bedrock', path: '/v1/messages', cloud: 'bedrock', reply: claudeOnBedrock, usage: CLAUDE_USAGE },
  {
    model: 'vertex',
    path: '/v1/chat/completions',
    cloud: 'vertex',
    reply: googleStream([
      googleChunk([{ text: 'Hello' }], { finishReason: undefined }),
      googleChunk([{ text: ' there' }], { finishReason: undefined }),
      googleChunk([{ text: '!' }]),
    ]),
    usage: { prompt_tokens: 9, completion_tokens: 4 },
  },
  {
    model: 'vertex-claude',
    path: '/v1/chat/completions',
    cloud: 'vertex',
    reply: claudeOnVertex,
    usage: CLAUDE_USAGE,
  },
  {
    model: 'vertex-claude',
    path: '/v1/messages',
    cloud: 'vertex',
    reply: claudeOnVertex,
    usage: CLAUDE_USAGE,
  },
]
