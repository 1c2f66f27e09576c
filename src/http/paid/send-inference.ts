import {
  demandOf,
  OPERATION_TRAITS,
  usedUp,
  type AskedMembers,
  type InferenceRecord,
  type InferenceResult,
  type WholeAnswer,
} from '../../modules/inference/inference.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import { followUntilShutdown } from '../answers/follow-until-shutdown.ts'
import { sendError } from '../answers/send-error.ts'
import { admitRequest } from '../answers/rate-headers.ts'
import type { DirectRequest } from '../route.ts'
import { keepAliveUntilBegun } from '../answers/begin-stream.ts'
import { endWithError, EVENT_STREAM_HEADERS, sendEvents } from '../answers/send-events.ts'
import { nameByClient } from './name-by-client.ts'
import { pushGatewayHeaders } from './gateway-headers.ts'

export type SendInference = <Body extends AskedMembers>(
  request: DirectRequest<Body>,
  record: InferenceRecord,
  start: () => Promise<InferenceResult>,
) => Promise<void>

interface SendInferenceOptions {
  readonly limits: Limits
  readonly onStreamError: (error: unknown, requestId: string) => void
}

/** Wraps the work of every hot route: admit, run, and answer in one piece or as a stream, with the headers of both. */
export function createSendInference(options: SendInferenceOptions): SendInference {
  return async (request, record, start) => {
    const { body, caller, exchange, headers } = request
    const { writesText } = OPERATION_TRAITS[record.operation]
    exchange.inference = record
    nameByClient(record, exchange.incoming.headers)
    if (writesText) record.asked = body
    const { category, tokens } = demandOf(record.operation, body, exchange.requestBytes)
    const admitting = admitRequest(options.limits, { caller, category, tokens }, headers)
    const admission = admitting instanceof Promise ? await admitting : admitting
    try {
      if (exchange.isRefused) throw exchange.cancellation.reason
      const tell = (reason: Error) => tellRefused(request, reason)
      exchange.tellRefused = tell
      const running = start()
      if (writesText && body.stream === true) {
        await sendStream(request, record, running, (error) => options.onStreamError(error, exchange.id))
        return
      }
      const result = await running
      if (result.kind !== 'complete') throw new Error('a stream came back that was not asked for')
      if (!exchange.isRefused) sendComplete(request, record, result.payload)
    } finally {
      exchange.tellRefused = null
      admission.finish(usedUp(record))
    }
  }
}

/** Ends an answer that has not begun, or of which only keep-alives were sent. */
function tellRefused(
  { exchange, headers }: Pick<DirectRequest<unknown>, 'exchange' | 'headers'>,
  reason: Error,
): void {
  const { response, id, wire } = exchange
  if (response.destroyed) return
  if (response.headersSent) endWithError(response, reason, id, wire.openStream())
  else sendError(exchange, reason, headers)
}

function sendComplete(
  { exchange, headers }: Pick<DirectRequest<unknown>, 'exchange' | 'headers'>,
  record: InferenceRecord,
  payload: WholeAnswer['payload'],
): void {
  const bytes = typeof payload === 'string' ? Buffer.byteLength(payload) : countBytes(payload)
  headers.push('content-type', 'application/json; charset=utf-8', 'content-length', String(bytes))
  pushGatewayHeaders(headers, exchange, record, record.costNanoUsd ?? 0n)
  const response = exchange.response.writeHead(200, headers)
  if (typeof payload === 'string') {
    // Text with only one-byte characters is the same in both encodings, and Latin-1 is cheaper.
    response.end(payload, bytes === payload.length ? 'latin1' : 'utf8')
    return
  }
  // Corked, the headers and all pieces leave in one write.
  response.cork()
  for (const piece of payload) response.write(piece)
  response.end()
}

function countBytes(pieces: readonly Buffer[]): number {
  let bytes = 0
  for (const piece of pieces) bytes += piece.length
  return bytes
}

/** Answers with a stream. Throws if the work fails before the stream begins, so that the client gets an error status. */
export async function sendStream(
  { exchange, headers }: Pick<DirectRequest<unknown>, 'exchange' | 'headers'>,
  record: InferenceRecord,
  running: Promise<InferenceResult>,
  onError: (error: unknown) => void,
): Promise<void> {
  const { response, id: requestId, wire, recording } = exchange
  const writeHead = () => {
    if (response.destroyed || exchange.isRefused) return
    pushGatewayHeaders(headers, exchange, record, null)
    response.writeHead(200, [...headers, ...EVENT_STREAM_HEADERS])
  }
  const stopWaiting = keepAliveUntilBegun({
    response,
    wire,
    // Start no stream before credit is held, so that a refusal is an HTTP status.
    mayBegin: () => record.balanceNanoUsd !== null && !exchange.isRefused,
    writeHead,
  })
  const { tellRefused: tellNow } = exchange
  const tell = (reason: Error) => {
    stopWaiting()
    tellNow?.(reason)
  }
  exchange.tellRefused = tell
  let result: InferenceResult
  try {
    result = await running
  } catch (error) {
    stopWaiting()
    if (!response.headersSent || exchange.isRefused) throw error
    onError(error)
    endWithError(response, error, requestId, wire.openStream())
    return
  }
  stopWaiting()
  if (result.kind !== 'stream') throw new Error('a whole answer came back where a stream was asked for')
  if (!response.headersSent) writeHead()
  const batches = exchange.goesOnAlone ? followUntilShutdown(result.batches, exchange) : result.batches
  await sendEvents(response, batches, { requestId, onError, recording, wire, exchange })
}
