import type { FastifyReply } from 'fastify'
import type { Wire } from '../../wires/wire.ts'
import type { Exchange } from '../exchange.ts'
import { EVENT_STREAM_HEADERS, sendEvents } from './send-events.ts'

/**
 * Sends Server-Sent Events on a framework route, after the headers of its reply. Batches that end because the request was
 * cancelled, such as for a revoked key, are followed by an error frame, so that no client takes them for complete.
 */
export async function sendEventReply(
  reply: FastifyReply,
  batches: AsyncIterable<readonly Buffer[]>,
  exchange: Pick<Exchange, 'id' | 'cancellation'>,
  wire?: Wire,
): Promise<void> {
  for (let index = 0; index + 1 < EVENT_STREAM_HEADERS.length; index += 2)
    reply.header(EVENT_STREAM_HEADERS[index] ?? '', EVENT_STREAM_HEADERS[index + 1])
  writeHeadOf(reply)
  // The first event may take a while, and the client should know by then that the stream is open.
  reply.raw.flushHeaders()
  await sendEvents(reply.raw, failIfCancelled(batches, exchange), {
    requestId: exchange.id,
    onError: () => {},
    ...(wire === undefined ? {} : { wire }),
  })
}

async function* failIfCancelled(
  batches: AsyncIterable<readonly Buffer[]>,
  { cancellation }: Pick<Exchange, 'cancellation'>,
): AsyncGenerator<readonly Buffer[], void> {
  yield* batches
  cancellation.throwIfCancelled()
}

/** Writes the status and the headers of the reply. The route must write the body itself. */
export function writeHeadOf(reply: FastifyReply): void {
  reply.hijack()
  const headers: Record<string, string | number | string[]> = {}
  for (const [name, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) headers[name] = value
  reply.raw.writeHead(200, headers)
}
