import { readCharges, type ChargeRow } from '../ledger/start-fleet.ts'
import { verifyLedger } from '../../src/modules/ledger/ledger.ts'
import type { Ended } from './messages.ts'
import type { Stage } from './start-stage.ts'

/** What clients, the vendor and the books say of the requests from one number on. */
export interface Count {
  readonly sent: number
  /** Complete answers with status 200. */
  readonly complete: number
  readonly charges: number
  /** Answers of the vendor, by its own count. */
  readonly answered: number
  /** Answers of the vendor that were not charged, because no client got them: the operator pays them. */
  readonly unsold: number
  /** Refused with 503 and a time to try again. */
  readonly refused: number
  /** Told that the outcome is not known, or cut off. */
  readonly inDoubt: number
  readonly chargedInDoubt: number
  /** Each of these is a defect. */
  readonly defects: readonly string[]
  /** The longest time without a complete answer at any client. */
  readonly pauseMs: number
  /** From the first refused request to the last. */
  readonly refusingMs: number
  readonly slowestMs: number
}

const SHOWN_MAX = 5

/** Call it while no request is open. */
export async function countAnswers(stage: Stage, fromNumber = 0): Promise<Count> {
  const { cluster, load, accountId } = stage
  const database = cluster.connect(await cluster.primary())
  try {
    const charges = await readCharges(database, accountId)
    const broken = (await verifyLedger(database)).flatMap(({ rule, differences }) =>
      differences.map((difference) => `the ledger breaks ${rule}: ${difference}`),
    )
    const ended = load.ended.filter(({ number }) => number >= fromNumber)
    return {
      ...compare(stage, ended, charges, fromNumber),
      defects: [...broken, ...findDefects(stage, ended, charges)],
    }
  } finally {
    await database.close()
  }
}

function compare(
  { load }: Stage,
  ended: readonly Ended[],
  charges: readonly ChargeRow[],
  fromNumber: number,
) {
  const charged = new Set(charges.map(({ requestId }) => requestId))
  const answers = [...load.answered].filter(([number]) => number >= fromNumber).flatMap(([, all]) => all)
  const own = new Set(answers.map(({ requestId }) => requestId))
  const refused = ended.filter(isRefused)
  const doubted = ended.filter((one) => !isAnswered(one) && !isRefused(one))
  const isCharged = ({ number }: Ended) =>
    (load.answered.get(number) ?? []).some(({ requestId }) => charged.has(requestId))
  return {
    sent: ended.length,
    complete: ended.filter(isAnswered).length,
    charges: charges.filter(({ requestId }) => own.has(requestId)).length,
    answered: answers.length,
    unsold: answers.filter(({ requestId }) => !charged.has(requestId)).length,
    refused: refused.length,
    inDoubt: doubted.length,
    chargedInDoubt: doubted.filter(isCharged).length,
    ...measurePauses(ended, refused),
  }
}

function measurePauses(ended: readonly Ended[], refused: readonly Ended[]) {
  const ends = ended
    .filter(isAnswered)
    .map(({ endedAtMs }) => endedAtMs)
    .toSorted((one, other) => one - other)
  const gaps = ends.map((endMs, index) => endMs - (ends[index - 1] ?? endMs))
  const firstMs = Math.min(...refused.map(({ sentAtMs }) => sentAtMs))
  const lastMs = Math.max(...refused.map(({ endedAtMs }) => endedAtMs))
  return {
    pauseMs: gaps.reduce((longest, gap) => Math.max(longest, gap), 0),
    refusingMs: refused.length === 0 ? 0 : lastMs - firstMs,
    slowestMs: ended.reduce((longest, { sentAtMs, endedAtMs }) => Math.max(longest, endedAtMs - sentAtMs), 0),
  }
}

/** Every answer has one charge of its usage, no refused request has one, and each charge has an answer of the vendor. */
function findDefects({ load }: Stage, ended: readonly Ended[], charges: readonly ChargeRow[]): string[] {
  const times = new Map<string, number>()
  for (const { requestId } of charges) times.set(requestId, (times.get(requestId) ?? 0) + 1)
  const costs = new Map(charges.map(({ requestId, costNanoUsd }) => [requestId, costNanoUsd]))
  const answers = new Map([...load.answered.values()].flat().map((answer) => [answer.requestId, answer]))
  const isCharged = ({ number }: Ended) =>
    (load.answered.get(number) ?? []).some(({ requestId }) => costs.has(requestId))
  const isFree = (one: Ended) => isAnswered(one) && !costs.has(String(one.requestId))
  const kinds: [string, readonly unknown[]][] = [
    ['free: complete and not charged', ended.filter(isFree)],
    ['free: all of the text sent and not charged', ended.filter((one) => one.hasText && !isCharged(one))],
    ['charged although refused', ended.filter((one) => isRefused(one) && isCharged(one))],
    ['charged twice', [...times].filter(([, count]) => count > 1)],
    ['charged without an answer of the vendor', charges.filter(({ requestId }) => !answers.has(requestId))],
    [
      'charged something else than its usage',
      [...costs].filter(([id, cost]) => cost !== priceOf(answers.get(id))),
    ],
    ['refused without a time to try again', ended.filter((one) => isUnexplained(one))],
  ]
  return kinds
    .filter(([, found]) => found.length > 0)
    .map(
      ([kind, found]) =>
        `${found.length} ${kind}, as ${JSON.stringify(found.slice(0, SHOWN_MAX), showBigint)}`,
    )
}

function isAnswered({ status, isComplete }: Ended): boolean {
  return status === 200 && isComplete
}

function isRefused({ status, isComplete, retryAfter }: Ended): boolean {
  return status === 503 && isComplete && retryAfter !== null
}

/** A 503 without a time to try again says that the outcome is not known. Anything else is no answer to give. */
function isUnexplained({ status, isComplete }: Ended): boolean {
  return isComplete && status !== 200 && status !== 503
}

function priceOf(answer: { promptTokens: number; completionTokens: number } | undefined): bigint | null {
  if (answer === undefined) return null
  return BigInt(answer.promptTokens) * 1_000n + BigInt(answer.completionTokens) * 10_000n
}

function showBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? value.toString() : value
}
