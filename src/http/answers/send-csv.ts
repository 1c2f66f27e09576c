import type { FastifyReply } from 'fastify'
import { sendPieces, type PiecedFile } from './send-pieces.ts'

/** Streams lines with their ends, some at a time. */
export function sendCsv(reply: FastifyReply, file: Omit<PiecedFile, 'contentType'>): Promise<void> {
  return sendPieces(reply, { ...file, contentType: 'text/csv; charset=utf-8' })
}
