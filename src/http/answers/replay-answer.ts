import type { FastifyReply, FastifyRequest } from 'fastify'
import type { KeptAnswer } from '../../modules/idempotency/idempotency.ts'
import type { Exchange } from '../exchange.ts'
import { IDEMPOTENCY_HEADER, type RunOnce } from '../idempotency.ts'

/** Replays a stored answer on hot routes. A stream is replayed as a stream, without its delays. */
export function replayDirectly(exchange: Exchange, headers: string[], answer: KeptAnswer): void {
  headers.push(...answer.headers)
  if (!isEventStream(answer)) headers.push('content-length', String(answer.body.length))
  exchange.response.writeHead(answer.status, headers).end(answer.body)
}

/** Runs the work of a framework route, once per idempotency key if there is one. */
export function handleOnce(
  runOnce: RunOnce,
  request: FastifyRequest,
  reply: FastifyReply,
  { sent, work }: { readonly sent: unknown; readonly work: () => Promise<unknown> },
): Promise<unknown> {
  const { exchange } = request
  const key = request.headers[IDEMPOTENCY_HEADER]
  if (key === undefined) return work()
  const keyed = {
    exchange,
    key,
    body: typeof sent === 'string' || Buffer.isBuffer(sent) ? sent : '',
    replay: (answer: KeptAnswer): unknown => replayThrough(reply, answer),
  }
  return runOnce(keyed, () => {
    void reply.header('x-request-id', exchange.id)
    return work()
  })
}

/** Replays a stored answer through the framework. Returns undefined, because it sends the reply itself. */
function replayThrough(reply: FastifyReply, { status, headers, body }: KeptAnswer): void {
  void reply.code(status)
  for (let index = 0; index + 1 < headers.length; index += 2) {
    void reply.header(headers[index] ?? '', headers[index + 1] ?? '')
  }
  void reply.send(body.length === 0 ? undefined : body)
}

function isEventStream({ headers }: KeptAnswer): boolean {
  return headers.some((value) => value.startsWith('text/event-stream'))
}
