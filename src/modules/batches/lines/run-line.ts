import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import { isRecord } from '../../../kernel/is-record.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import {
  AmountTooSmall,
  interpretCharge,
  mayPass,
  pauseBeforeTry,
  toCallError,
  UNATTENDED_TRIES_MAX,
  type InferenceRecord,
} from '../../inference/inference.ts'
import type { Caller } from '../../keys/keys.ts'
import { isRefusal } from '../../ledger/ledger.ts'
import type { RateState } from '../../limits/limits.ts'
import type { BatchUsage } from '../batch.ts'
import type { BatchCaller } from '../batch-caller.ts'
import type { BatchEndpoint } from '../endpoint.ts'
import type { HandedLine } from '../handed/handed-lines.ts'
import { parseLine } from './check-line.ts'
import type { FindCharge } from './find-charge.ts'
import { LineCancellation } from './line-cancellation.ts'
import type { LineEnd, LineWriter } from './line-writer.ts'
import type { WaitingLine } from './line-window.ts'

export interface RunLineOptions {
  readonly endpoint: BatchEndpoint
  readonly writer: LineWriter
  /** As in `LineCall`. */
  readonly baseUrl: string | undefined
  /** Answers that are not stored any more are not charged. */
  readonly caller: Pick<BatchCaller, 'current' | 'isNotKept'>
  /** The ledger's record of a request. Null if billing is off. */
  readonly findCharge: FindCharge | null
  /** Cancelled if this process stops. The line is then asked by another one. */
  readonly cancellation: Cancellation
  /** Cancelled if the batch asks nothing more. A line that waits for a limit is not asked then. */
  readonly withdrawal: Cancellation
  /** Returns what is needed to hand the line to a vendor's batch API. Null: it is asked by itself. */
  readonly hand: (caller: Caller, body: unknown) => HandedLine | null
  /** Called when it has its answer, which is then written. */
  readonly onAnswered: () => void
  /** Called with what is left of the rates of the key. */
  readonly onRates: (rates: readonly (RateState | null)[]) => void
}

/** What the batch has to know of a line. */
export interface RanLine {
  readonly status: LineEnd['status'] | 'lost'
  /** Why it was given back: the batch waits, or ends. */
  readonly error: AppError | null
  /** It is to be asked again. */
  readonly again: WaitingLine | null
}

/** A line that was started this often without an end is assumed to crash the worker. */
const INTERRUPTIONS_MAX = 25

/** Asks a line until it has an answer or a lasting error, or has to wait. Rejects only if the result cannot be written. */
export async function runLine(line: WaitingLine, options: RunLineOptions): Promise<RanLine> {
  const asked = new AskedLine()
  try {
    return await askUntilEnd(line, asked, options)
  } finally {
    // Once its end is written: a process that dies before asks the line again, and finds its answer at the vendor.
    asked.leave()
  }
}

async function askUntilEnd(line: WaitingLine, asked: AskedLine, options: RunLineOptions): Promise<RanLine> {
  const { writer, endpoint, cancellation, withdrawal, onAnswered } = options
  const isStopped = (): boolean => cancellation.isCancelled || withdrawal.isCancelled
  let { wasAsked, countedNanoUsd, requestId: begunId } = line
  for (let tries = 1; ; tries += 1) {
    const requestId = begunId ?? (await writer.begin(line.number))
    begunId = null
    if (requestId === null) return LOST
    const outcome = await askOnce(line, { requestId, wasAsked, countedNanoUsd }, asked, options)
    if ('answer' in outcome) {
      onAnswered()
      const { answer, chargedNanoUsd, usage } = outcome
      const end = { number: line.number, chargedNanoUsd, httpStatus: 200, result: answer, usage }
      const isOurs = await writer.end({ ...end, status: 'completed' })
      return isOurs ? { status: 'completed', error: null, again: null } : LOST
    }
    const { error, chargedNanoUsd, isIdSpent, hasGivenWay } = outcome
    const keepsAnswer =
      outcome.goesSingle && asked.mayTakeAgain(error) && tries < UNATTENDED_TRIES_MAX && !isStopped()
    const goesSingle = outcome.goesSingle && !keepsAnswer
    const mayAskAgain = mayPass(error) && error !== INTERRUPTED
    const mustWait =
      goesSingle ||
      hasGivenWay ||
      cancellation.isCancelled ||
      outcome.isCallerRefused ||
      isShort(error) ||
      (slowsDown(error) && !keepsAnswer) ||
      (withdrawal.isCancelled && mayAskAgain)
    const mayTryAgain = mayAskAgain && tries < UNATTENDED_TRIES_MAX
    if (!mustWait && !mayTryAgain) {
      onAnswered()
      const { status: httpStatus, body: result } = endpoint.describeError(error, requestId)
      const end = { number: line.number, chargedNanoUsd, httpStatus, result, usage: null }
      const isOurs = await writer.end({ ...end, status: 'failed' })
      return isOurs ? { status: 'failed', error: null, again: null } : LOST
    }
    if (!(await writer.end({ number: line.number, status: 'pending', chargedNanoUsd, isIdSpent })))
      return LOST
    if (!keepsAnswer) asked.leave()
    wasAsked = !isIdSpent
    countedNanoUsd = isIdSpent ? 0n : countedNanoUsd + chargedNanoUsd
    const again = {
      ...line,
      requestId: null,
      wasAsked,
      countedNanoUsd,
      isSingle: line.isSingle || goesSingle,
    }
    if (mustWait) return { status: 'pending', error: goesSingle || hasGivenWay ? null : error, again }
    const pausing = new LineCancellation(cancellation, withdrawal)
    await pauseBeforeTry(tries, error, pausing.call)
    pausing.close()
    if (isStopped()) return { status: 'pending', error, again }
  }
}

const LOST: RanLine = { status: 'lost', error: null, again: null }

/** Whether the credit or a budget is used up. What a line may cost ends that line only. */
function isShort(error: AppError): boolean {
  return isRefusal(error) && !(error instanceof AmountTooSmall)
}

/** Whether somebody has too much to do. The whole batch goes slower then, and no line fails for it. */
export function slowsDown({ code }: AppError): boolean {
  return code === 'rate_limit_exceeded' || code === 'concurrency_limit_reached' || code === 'queue_full'
}

/** Where a line that is asked waits for its vendor. */
class AskedLine {
  handed: HandedLine | null = null
  /** Whether the last call came to a vendor, or would have. */
  wasTried = false

  /**
   * Whether it may still have the answer of the vendor's batch, which is paid for: the answer is good and could only not be charged in
   * this moment, or the call failed before it came to the vendor.
   */
  mayTakeAgain(error: AppError): boolean {
    if (this.handed === null || !mayPass(error)) return false
    if (!this.handed.hasAnswer) return !this.wasTried && this.handed.request === null
    return this.handed.hasGoodAnswer && error.code !== 'provider_error'
  }

  leave(): void {
    this.handed?.leave()
    this.handed = null
  }
}

type Outcome = { readonly chargedNanoUsd: NanoUsd } & (
  | { readonly answer: string; readonly usage: BatchUsage | null }
  | {
      readonly error: AppError
      readonly isIdSpent: boolean
      readonly isCallerRefused: boolean
      /** Somebody waited for the slot that it had. It is asked again. */
      readonly hasGivenWay: boolean
      /** No vendor's batch has an answer to it, so that it is asked by itself. */
      readonly goesSingle: boolean
    }
)

interface UsedId extends Pick<WaitingLine, 'wasAsked' | 'countedNanoUsd'> {
  readonly requestId: string
}

async function askOnce(
  { content, tries }: WaitingLine,
  { requestId, wasAsked, countedNanoUsd }: UsedId,
  asked: AskedLine,
  { endpoint, baseUrl, caller: key, findCharge, cancellation, withdrawal, hand, onRates }: RunLineOptions,
): Promise<Outcome> {
  const unasked = {
    chargedNanoUsd: 0n,
    isIdSpent: false,
    isCallerRefused: false,
    hasGivenWay: false,
    goesSingle: false,
  }
  if (tries >= INTERRUPTIONS_MAX) return { ...unasked, error: INTERRUPTED }
  if (content === null) return { ...unasked, error: INPUT_GONE }
  let caller: Caller
  try {
    caller = await key.current()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { ...unasked, error, isCallerRefused: true }
  }
  const own = new LineCancellation(cancellation, withdrawal)
  const admitted: { record: InferenceRecord | null } = { record: null }
  let handed: HandedLine | null = null
  let hasGivenWay = false
  try {
    const body = bodyOf(await parseLine(content))
    handed = asked.handed ?? hand(caller, body)
    asked.handed = handed
    const answer = await endpoint.ask({
      caller,
      body,
      handed,
      requestId,
      baseUrl,
      cancellation: own.call,
      giveWay: () => {
        // A charged answer is kept: its slot is free in a moment anyway.
        if (admitted.record?.isBilled === true) return
        hasGivenWay = true
        own.call.cancel(GAVE_WAY)
      },
      isMadeAnew: () => hasGivenWay || cancellation.isCancelled || key.isNotKept,
      onAdmitted: (record, rates) => {
        own.noteAdmitted()
        admitted.record = record
        onRates([rates.requestRate(), rates.tokenRate()])
      },
    })
    // It came too late to be charged, and is asked again under the same id.
    const isStopped = hasGivenWay || cancellation.isCancelled
    if (isStopped && admitted.record?.isBilled !== true) throw own.call.reason
    const usage = usageOf(admitted.record)
    if (!wasAsked || findCharge === null) return { answer, usage, chargedNanoUsd: costOf(admitted.record) }
    // An id is charged once, so the earlier charge counts, which may differ from this answer's.
    const { added } = interpretCharge(await findCharge(requestId), countedNanoUsd)
    return { answer, usage, chargedNanoUsd: added }
  } catch (error) {
    const costNanoUsd = costOf(admitted.record)
    const { added, isSpent } =
      findCharge === null
        ? { added: costNanoUsd, isSpent: costNanoUsd > 0n }
        : interpretCharge(await findCharge(requestId), countedNanoUsd)
    const failure = toCallError(error)
    asked.wasTried = (admitted.record?.attempts.length ?? 0) > 0
    return {
      chargedNanoUsd: added,
      isIdSpent: isSpent,
      error: failure,
      isCallerRefused: false,
      hasGivenWay,
      goesSingle: handed !== null && !cancellation.isCancelled && needsOther(handed, failure),
    }
  } finally {
    own.close()
  }
}

/** Whether the line is asked by itself, because its part had no answer or one that may be better next time. */
function needsOther(handed: HandedLine, failure: AppError): boolean {
  return !isRefusal(failure) && (!handed.hasAnswer || mayPass(failure))
}

const GAVE_WAY = new Error('somebody waits for the slot of the line')

const INTERRUPTED = new AppError(
  'internal_error',
  'The gateway was interrupted each time it asked this line, so that it is not asked any more.',
)

const INPUT_GONE = new AppError('not_found', 'The input file was deleted before this line was asked.')

function bodyOf(line: unknown): unknown {
  return isRecord(line) ? line['body'] : undefined
}

function costOf(record: InferenceRecord | null): NanoUsd {
  return record?.costNanoUsd ?? 0n
}

function usageOf(record: InferenceRecord | null): BatchUsage | null {
  const usage = record?.usage ?? null
  if (usage === null) return null
  return {
    inputTokens: usage.promptTokens,
    cachedTokens: usage.cachedTokens,
    outputTokens: usage.completionTokens,
    reasoningTokens: usage.reasoningTokens,
  }
}
