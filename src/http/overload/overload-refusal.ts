import { AppError } from '../../kernel/app-error.ts'
import type { Wire } from '../../wires/wire.ts'
import { errorBodyOf, toErrorAnswer } from '../answers/error-envelope.ts'
import type { ResponseMessage } from '../message.ts'

const RETRY_SECONDS_MAX = 4
let refusals = 0

/** The pauses differ, so that clients do not all come back in the same moment. */
export function overloaded(): AppError {
  refusals += 1
  const message = 'The gateway has more requests than it can answer. Try again shortly.'
  return new AppError('service_unavailable', message, {
    retryAfterSeconds: 1 + (refusals % RETRY_SECONDS_MAX),
  })
}

/** Answers a request that is refused for overload. */
export type RefuseOverload = (
  response: ResponseMessage,
  refusal: { readonly id: string; readonly wire: Wire; readonly headers: string[] },
) => void

/** Returns a function that refuses with bytes that are formatted once for each wire, because it is called when time is scarce. */
export function createOverloadRefusals(): RefuseOverload {
  const prepared = new Map<Wire, readonly PreparedRefusal[]>()
  let next = 0
  return (response, { id, wire, headers }) => {
    let variants = prepared.get(wire)
    if (variants === undefined) {
      variants = Array.from({ length: RETRY_SECONDS_MAX }, () => prepare(wire, id.length))
      prepared.set(wire, variants)
    }
    next = (next + 1) % variants.length
    const refusal = variants[next]
    if (refusal === undefined) throw new Error('a refusal has at least one form')
    headers.push(...refusal.headers)
    response.writeHead(refusal.status, headers).end(refusal.before + id + refusal.after, 'latin1')
  }
}

interface PreparedRefusal {
  readonly status: number
  readonly headers: readonly string[]
  /** The body around the id of the request. */
  readonly before: string
  readonly after: string
}

function prepare(wire: Wire, idLength: number): PreparedRefusal {
  const placeholder = '?'.repeat(idLength)
  const answer = toErrorAnswer(overloaded(), placeholder)
  const text = JSON.stringify(errorBodyOf(answer, wire))
  // Some wires have no place for the id in the body.
  const at = text.indexOf(placeholder)
  if (at === -1) throw new Error(`errors of ${wire.id} name no request`)
  return {
    status: answer.status,
    headers: [
      ...Object.entries(answer.headers).flat(),
      'content-type',
      'application/json; charset=utf-8',
      'content-length',
      String(Buffer.byteLength(text)),
    ],
    before: text.slice(0, at),
    after: text.slice(at + idLength),
  }
}
