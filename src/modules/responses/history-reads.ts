import { AppError } from '../../kernel/app-error.ts'
import type { Place } from '../../storage/place.ts'
import { FairTurns } from '../../kernel/turns/fair-turns.ts'
import type { InferenceRequest } from '../inference/inference.ts'
import { resolveInput, type ResolvedInput, type ResolveOptions } from './resolve-input.ts'

/** Counts the memory of stored texts before they are read. Throws if there is no room for them. */
export type CountRead = NonNullable<InferenceRequest<unknown>['countRead']>

type Continued = Parameters<typeof resolveInput>[2]

/** Reads stored conversations. They are large, and reading them is free, so accounts take turns. */
export interface HistoryReads {
  readonly inTurn: <Result>(accountId: string, read: () => Promise<Result>) => Promise<Result>
  readonly resolve: (place: Place, body: Continued, countRead?: CountRead) => Promise<ResolvedInput>
  /** Refuses nothing: the number of workers limits how many wait. */
  readonly resolveInBackground: (place: Place, body: Continued) => Promise<ResolvedInput>
}

/** Stored conversations that are read at the same time. Each takes one of the database's connections. */
const READS_MAX = 2
const BACKGROUND_READS_MAX = 1
const ACCOUNT_READS_WAITING_MAX = 16

export function createHistoryReads(resolving: ResolveOptions): HistoryReads {
  const requests = new FairTurns({
    runningMax: READS_MAX,
    ownerRunningMax: 1,
    ownerWaitingMax: ACCOUNT_READS_WAITING_MAX,
  })
  const background = new FairTurns({
    runningMax: BACKGROUND_READS_MAX,
    ownerRunningMax: 1,
    ownerWaitingMax: Number.POSITIVE_INFINITY,
  })
  const takeTurn = <Result>(
    turns: FairTurns,
    accountId: string,
    read: () => Promise<Result>,
  ): Promise<Result> => {
    const reading = turns.take(accountId, read)
    if (reading === null) throw tooManyReads()
    return reading
  }
  return {
    inTurn: async (accountId, read) => takeTurn(requests, accountId, read),
    resolve: async (place, body, countRead) =>
      takeTurn(requests, place.accountId, () => resolveInput({ ...resolving, countRead }, place, body)),
    resolveInBackground: async (place, body) =>
      takeTurn(background, place.accountId, () => resolveInput(resolving, place, body)),
  }
}

function tooManyReads(): AppError {
  const message = `This account has ${ACCOUNT_READS_WAITING_MAX} requests that wait to read stored responses. Try again shortly.`
  return new AppError('rate_limit_exceeded', message, { retryAfterSeconds: 1 })
}
