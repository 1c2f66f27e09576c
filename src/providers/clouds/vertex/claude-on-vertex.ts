import type { NativeRequest } from '../../native-wire.ts'
import { forwardNatively } from '../../openai-compatible/native.ts'
import type { WireClient } from '../../openai-compatible/wire-client.ts'
import type { InferenceOperation } from '../../provider.ts'
import { selectClaudeHeaders, writeClaudeRequest } from '../claude-request.ts'
import { CLAUDE_ON_VERTEX, pathOfClaude } from './vertex-models.ts'

/** Forwards requests of Anthropic's wire to Claude on Vertex, whose streams are those of Anthropic. */
export function createClaudeOnVertex(
  provider: string,
  client: WireClient,
): InferenceOperation<NativeRequest> {
  return (call) => {
    const { upstreamModel, text, headers = [] } = call
    return forwardNatively(
      { provider, client, wire: 'anthropic-messages' },
      {
        path: pathOfClaude(upstreamModel, call.body.stream === true),
        body: writeClaudeRequest(text, headers, CLAUDE_ON_VERTEX),
      },
      { ...call, headers: selectClaudeHeaders(headers, CLAUDE_ON_VERTEX) },
    )
  }
}
