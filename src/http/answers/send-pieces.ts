import type { FastifyReply } from 'fastify'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Logger } from '../../kernel/logger.ts'
import { drained } from './send-events.ts'
import { writeHeadOf } from './send-event-reply.ts'

export interface PiecedFile {
  readonly name: string
  readonly contentType: string
  /** Parts of the file. */
  readonly pieces: AsyncIterable<string>
  readonly logger: Logger
  /** Of the request: the file ends where the right to read it ends. */
  readonly cancellation: Cancellation
}

/** Streams a file at the client's pace. An interrupted one closes the connection without a proper end. */
export async function sendPieces(
  reply: FastifyReply,
  { name, contentType, pieces, logger, cancellation }: PiecedFile,
): Promise<void> {
  const response = reply.raw
  reply
    .header('content-type', contentType)
    .header('content-disposition', `attachment; filename="${name}"`)
    .header('cache-control', 'no-store')
  writeHeadOf(reply)
  try {
    for await (const piece of pieces) {
      if (response.destroyed) return
      if (cancellation.isCancelled) {
        response.destroy()
        return
      }
      if (piece.length > 0 && !response.write(piece)) await drained(response)
    }
    response.end()
  } catch (error) {
    if (response.destroyed) return
    logger.error({ err: error, file: name }, 'a file could not be written to its end')
    response.destroy()
  }
}
