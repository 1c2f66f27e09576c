import type { InferenceRecord, InferenceRequest } from '../../modules/inference/inference.ts'
import type { DirectRequest } from '../route.ts'

/** Converts a request of a hot route to the input of the inference modules. */
export function toInference<Body>(
  { caller, body, text, exchange }: Pick<DirectRequest<Body>, 'caller' | 'body' | 'text' | 'exchange'>,
  record: InferenceRecord,
  headers?: readonly string[],
): InferenceRequest<Body> {
  const { id: requestId, requestBytes: bytes, cancellation } = exchange
  // Read only if it can influence the choice of the upstream.
  const sessionId = () => readText(exchange.incoming.headers[SESSION_HEADER])
  const wakeTimeout = () => readText(exchange.incoming.headers[WAKE_HEADER])
  const countRead = (readBytes: number) => exchange.countRead(readBytes)
  const inference = {
    caller,
    body,
    text,
    bytes,
    requestId,
    record,
    cancellation,
    sessionId,
    wakeTimeout,
    countRead,
  }
  return headers === undefined ? inference : { ...inference, headers }
}

/** Claude Code sends it with every request of a session. */
const SESSION_HEADER = 'x-claude-code-session-id'

/** How long a request to a deployment waits for its engine to start. */
const WAKE_HEADER = 'x-wake-timeout'

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined
}
