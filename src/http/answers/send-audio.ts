import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'
import { writeHeadOf } from './send-event-reply.ts'
import { drained } from './send-events.ts'

/**
 * Writes the headers of the reply and then the audio when it arrives, at the client's pace. If the audio breaks off, the
 * connection is closed without a proper end, so that clients do not take it for complete.
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
  // Do not cork: a corked response can wait for a `drain` event that never comes. Node joins the writes of one turn anyway.
  for (const piece of batch) hasRoom = response.write(piece)
  return hasRoom
}
