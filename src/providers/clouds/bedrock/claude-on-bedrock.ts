import type { NativeRequest } from '../../native-wire.ts'
import { readAnswer } from '../../openai-compatible/read-answer.ts'
import type { WireClient } from '../../openai-compatible/wire-client.ts'
import type { InferenceOperation } from '../../provider.ts'
import { selectClaudeHeaders, writeClaudeRequest } from '../claude-request.ts'
import { decodeEventStream } from '../decode-event-stream.ts'
import { CLAUDE_ON_BEDROCK, pathOfModel } from './bedrock-models.ts'

/** Forwards requests of Anthropic's wire to Claude on Bedrock, whose streams are binary. */
export function createClaudeOnBedrock(
  provider: string,
  client: WireClient,
): InferenceOperation<NativeRequest> {
  return async (call) => {
    const { upstreamModel, text, headers = [] } = call
    const body = writeClaudeRequest(text, headers, CLAUDE_ON_BEDROCK)
    const asked = { ...call, headers: selectClaudeHeaders(headers, CLAUDE_ON_BEDROCK) }
    if (call.body.stream !== true)
      return readAnswer(provider, await client.post(pathOfModel(upstreamModel, 'invoke'), body, asked), false)
    const path = pathOfModel(upstreamModel, 'invoke-with-response-stream')
    const answer = await client.open(path, body, asked)
    if (answer.kind === 'refusal') throw answer.error
    const stream = new EndedStream(decodeEventStream(provider, answer.chunks))
    return { kind: 'stream', batches: stream.batches(), isTerminated: () => stream.isTerminated }
  }
}

const LAST_EVENT = /^\s*\{\s*"type"\s*:\s*"(?:message_stop|error)"/
/** Enough characters for the type, which is written first. */
const TYPE_LENGTH_MAX = 64

/** Notes the last event, because the binary stream has no other sign of its end. */
class EndedStream {
  isTerminated = false
  readonly #batches: AsyncIterable<readonly Buffer[]>

  constructor(batches: AsyncIterable<readonly Buffer[]>) {
    this.#batches = batches
  }

  async *batches(): AsyncGenerator<readonly Buffer[], void> {
    for await (const batch of this.#batches) {
      const last = batch.at(-1)
      if (last !== undefined && LAST_EVENT.test(last.toString('latin1', 0, TYPE_LENGTH_MAX)))
        this.isTerminated = true
      yield batch
      if (this.isTerminated) return
    }
  }
}
