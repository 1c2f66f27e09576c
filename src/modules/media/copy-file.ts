import { setTimeout as delay } from 'node:timers/promises'
import { AppError } from '../../kernel/app-error.ts'
import { OutboundFailed, OutboundRefused, type Outbound } from '../../outbound/outbound.ts'
import { bytesMaxOf } from './media-limits.ts'
import type { MediaRecord } from './media-record.ts'
import type { CopyOrder, KeepOrder } from './media-order.ts'

/** A client waits while its input is fetched. A result gets a longer timeout and more attempts, because it has been paid for. */
const TIMEOUT_MS = { input: 30_000, result: 600_000 }
const ATTEMPTS_MAX = { input: 1, result: 3 }
const PAUSE_MS = 500
const REDIRECTS_MAX = 5

/** The response had a status that is not a success. */
class BadStatus extends Error {
  readonly status: number

  constructor(status: number) {
    super(`the address answers ${status}`)
    this.status = status
  }
}

export async function copyFile(
  outbound: Outbound,
  order: CopyOrder,
  keep: (order: KeepOrder) => Promise<MediaRecord>,
): Promise<MediaRecord> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await copyOnce(outbound, order, keep)
    } catch (error) {
      order.cancellation?.throwIfCancelled()
      if (attempt >= ATTEMPTS_MAX[order.purpose] || !mayPass(error)) throw explain(order, error)
      await pause(order, PAUSE_MS * 2 ** attempt)
    }
  }
}

async function copyOnce(
  outbound: Outbound,
  order: CopyOrder,
  keep: (order: KeepOrder) => Promise<MediaRecord>,
): Promise<MediaRecord> {
  const { url, headers, trustedHosts, cancellation, purpose } = order
  const answer = await outbound.fetch({
    url,
    bytesMax: bytesMaxOf(order),
    timeoutMs: TIMEOUT_MS[purpose],
    redirectsMax: REDIRECTS_MAX,
    ...(headers && { headers }),
    ...(trustedHosts && { trustedHosts }),
    ...(cancellation && { cancellation }),
  })
  if (answer.status < 200 || answer.status > 299) {
    answer.discard()
    throw new BadStatus(answer.status)
  }
  const { place, kind, bytesMax, param } = order
  try {
    return await keep({
      place,
      purpose,
      kind,
      source: answer.body,
      ...(answer.contentType === null ? {} : { contentType: answer.contentType }),
      ...(bytesMax === undefined ? {} : { bytesMax }),
      ...(param === undefined ? {} : { param }),
    })
  } finally {
    answer.discard()
  }
}

function mayPass(error: unknown): boolean {
  if (error instanceof BadStatus) return error.status === 408 || error.status === 429 || error.status >= 500
  return error instanceof OutboundFailed && error.reason === 'unreachable'
}

async function pause({ cancellation }: CopyOrder, pauseMs: number): Promise<void> {
  await delay(pauseMs, undefined, cancellation ? { signal: cancellation.signal } : {}).catch(() => {})
  cancellation?.throwIfCancelled()
}

/** The error depends on the origin of the URL: the client or the provider. */
function explain({ purpose, kind, param }: CopyOrder, error: unknown): unknown {
  const why = describe(error)
  if (why === null) return error
  if (purpose === 'result')
    return new AppError('provider_error', `The upstream's ${kind} could not be copied: ${why}`, {
      cause: error,
    })
  const options = { cause: error, ...(param === undefined ? {} : { param }) }
  return new AppError('invalid_value', `The ${kind} could not be fetched: ${why}`, options)
}

function describe(error: unknown): string | null {
  if (error instanceof BadStatus) return `its address answers ${error.status}.`
  if (error instanceof OutboundFailed && error.reason === 'closed') return null
  if (error instanceof OutboundFailed || error instanceof OutboundRefused) return error.message
  // A file at a URL is not an upload, so a too large one is reported as an invalid value.
  return error instanceof AppError && error.code === 'request_too_large' ? error.message : null
}
