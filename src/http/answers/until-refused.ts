import type { Exchange } from '../exchange.ts'

/**
 * Settles like the work, or rejects at once with the reason if the caller is refused meanwhile. The work then goes on without its
 * client, because a vendor bills it.
 */
export function untilRefused<Result>(
  exchange: Pick<Exchange, 'tellRefused'>,
  work: Promise<Result>,
): Promise<Result> {
  const { promise: refused, reject } = Promise.withResolvers<never>()
  exchange.tellRefused = reject
  return Promise.race([work, refused]).finally(() => {
    exchange.tellRefused = null
  })
}
