import type { FastifyReply } from 'fastify'
import { toTimestamp } from '../../kernel/clock.ts'

/** Runs work whose reads may be old. Calls `note` first if they are, with the moment up to which they know everything. */
export type ReadOld = <Result>(
  accountId: string,
  note: (asOfMs: number) => void,
  work: () => Promise<Result>,
) => Promise<Result>

const HEADER = 'x-gateway-data-as-of'

/** Returns a function that says how old the data of an answer is. */
export function tellAsOf(reply: FastifyReply): (asOfMs: number) => void {
  return (asOfMs) => void reply.header(HEADER, toTimestamp(asOfMs))
}
