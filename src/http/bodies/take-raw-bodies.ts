import type { FastifyInstance, FastifyRequest } from 'fastify'
import { AppError } from '../../kernel/app-error.ts'
import type { Route } from '../route.ts'

/** What is read of a body that is too large, so that its client gets an answer and not a cut connection. */
const DISCARDED_BYTES_MAX = 64 * 1024 * 1024
const NO_BYTES = Buffer.alloc(0)

/** Bodies of any type come as they are. */
export function takeRawBodies(scope: FastifyInstance, { discardsLargeBody, bodyLimitBytes }: Route): void {
  scope.removeAllContentTypeParsers()
  if (discardsLargeBody === true && bodyLimitBytes !== undefined) return discardLarge(scope, bodyLimitBytes)
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (request, body, done) => {
    request.exchange.requestBytes = body.length
    done(null, body)
  })
}

function discardLarge(scope: FastifyInstance, bytesMax: number): void {
  scope.addContentTypeParser('*', async ({ exchange }: FastifyRequest, payload: AsyncIterable<Buffer>) => {
    let chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of payload) {
      bytes += chunk.length
      if (bytes > DISCARDED_BYTES_MAX)
        throw new AppError(
          'request_too_large',
          `The body has more than ${DISCARDED_BYTES_MAX / 1024 / 1024} MiB.`,
        )
      if (bytes <= bytesMax) chunks.push(chunk)
      else chunks = []
    }
    exchange.requestBytes = bytes
    return bytes > bytesMax ? NO_BYTES : Buffer.concat(chunks, bytes)
  })
}
