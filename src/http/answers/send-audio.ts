import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { writeHeadOf } from './send-event-reply.ts'
import { drained } from './send-events.ts'

/**
 * Writes audio as it comes, at the pace of the client, behind the headers of the reply. Audio that breaks off ends its connection
 * without an end, so that nobody takes it for whole.
 */
export async function sendAudio(
  reply: FastifyReply,
  batches: AsyncIterable<readonly Uint8Array[]>,
  onError: (error: unknown) => void,
): Promise<void> {
  const response = reply.raw
  writeHeadOf(reply)
  try {
    for await (const batch of batches) {
      if (response.destroyed) return
      if (!writeAll(response, batch)) await drained(response)
    }
    response.end()
  } catch (error) {
    if (response.destroyed) return
    onError(error)
    response.destroy()
  }
}

function writeAll(response: ServerResponse, batch: readonly Uint8Array[]): boolean {
  let hasRoom = true
  // Not corked by hand: a corked response can ask to wait for a drain that never comes. Node joins what is written in one turn.
  for (const piece of batch) hasRoom = response.write(piece)
  return hasRoom
}
