import type { AppError } from '../../kernel/app-error.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createRequestId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { ChatRequest } from '../../wires/openai-chat/chat-request.ts'
import type { Database } from '../../storage/database.ts'
import {
  AmountTooSmall,
  interpretCharge,
  mayPass,
  pauseBeforeTry,
  toCallError,
  UNATTENDED_TRIES_MAX,
} from '../inference/inference.ts'
import type { Caller } from '../keys/keys.ts'
import { findCharges } from '../ledger/ledger.ts'
import { BudgetReached, type QuestionAmount } from './judge-budget.ts'
import type { FailureStreak } from './failure-streak.ts'
import { beginJudgement, endJudgement, type Judgement, type JudgementKey, type Said } from './judgements.ts'

/** A chat call that no client waits for. If it fails, the delivered part is charged and the error carries its cost. */
export type AskChat = (call: {
  readonly caller: Caller
  readonly body: ChatRequest
  readonly requestId: string
  readonly cancellation: Cancellation
  readonly amountNanoUsdMax?: NanoUsd | undefined
}) => Promise<{ readonly output: string; readonly costNanoUsd: NanoUsd; readonly isCutByAmount: boolean }>

export interface AskJudgeOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ask: AskChat
  /** Reads the key again before each call. Throws if the key may not be used any more. */
  readonly readCaller: () => Promise<Caller>
  /** False if the gateway runs without billing. */
  readonly isBilled: boolean
  readonly cancellation: Cancellation
  readonly streak: FailureStreak
}

export interface JudgeQuestion {
  readonly key: JudgementKey
  readonly accountId: string
  readonly body: ChatRequest
  /** What it may spend. */
  readonly amount: QuestionAmount
  /** Returns null for an answer that cannot be parsed. */
  readonly read: (output: string) => Said | null
}

/**
 * Asks the judge and stores the judgement. A judgement that is already stored is returned without a call. An unreadable answer,
 * or a judge that keeps failing, is stored as a failure (null). Throws errors that would fail every further question too, such as
 * an account without credit, and a judge that fails question after question.
 */
export async function askJudge(options: AskJudgeOptions, question: JudgeQuestion): Promise<Judgement | null> {
  const { database, cancellation, streak } = options
  const { key } = question
  for (let tries = 1; ; tries += 1) {
    cancellation.throwIfCancelled()
    const begun = await beginUnbroken(options, question)
    if (begun.isDone) return begun
    const outcome = await askOnce(options, question, begun)
    question.amount.charge(outcome.chargedNanoUsd)
    if ('said' in outcome) {
      const { said, chargedNanoUsd, isCutByAmount } = outcome
      await endJudgement(database, key, { said, chargedNanoUsd, error: said === null ? UNREADABLE : null })
      if (said === null && isCutByAmount) throw new BudgetReached()
      if (said === null) streak.fail(UNREADABLE.message)
      else streak.succeed()
      return said === null ? null : { ...begun, ...said, isDone: true }
    }
    const { error, chargedNanoUsd, isBroken } = outcome
    const { message } = error
    if (error instanceof AmountTooSmall && chargedNanoUsd === 0n) throw new BudgetReached()
    const isHopeless = !mayPass(error) && !isOfTheQuestion(error)
    // An interrupted question is asked again under its request id, unless a partial answer was charged under that id.
    if (!isBroken && (cancellation.isCancelled || isHopeless)) throw error
    const failed = {
      said: null,
      chargedNanoUsd,
      error: { code: error.shownCode, message },
      isIdKept: !isBroken,
    }
    await endJudgement(database, key, failed)
    if (cancellation.isCancelled || isHopeless) throw error
    if (!mayPass(error) || tries === UNATTENDED_TRIES_MAX) {
      if (!isOfTheQuestion(error)) streak.fail(message)
      return null
    }
    await pauseBeforeTry(tries, error, cancellation)
  }
}

const UNREADABLE = {
  code: 'unreadable_answer',
  message: 'The judge did not answer in the form it was asked for.',
}
const INTERRUPTED = { code: 'interrupted', message: 'The answer of the judge broke off.' }

/** Whether the error concerns this question only. Other questions may still be answered. */
function isOfTheQuestion({ code }: AppError): boolean {
  return code === 'context_length_exceeded' || code === 'prompt_blocked' || code === 'invalid_request'
}

/**
 * Returns a judgement whose request id can get a complete answer. If an earlier process was interrupted after a partial charge,
 * counts that charge and starts again under a new id.
 */
async function beginUnbroken(
  options: AskJudgeOptions,
  { key, accountId, amount }: JudgeQuestion,
): Promise<Judgement> {
  const { database, clock } = options
  const begin = (): Promise<Judgement> => beginJudgement(database, key, createRequestId(clock.nowMs()))
  const begun = await begin()
  if (begun.isDone || !begun.wasAsked) return begun
  const { chargedNanoUsd, isBroken } = await readCharge(options, accountId, begun)
  if (!isBroken) return begun
  await endJudgement(database, key, { said: null, chargedNanoUsd, error: INTERRUPTED })
  amount.charge(chargedNanoUsd)
  return begin()
}

interface ChargedUnderId {
  /** The part that the judgement's cost does not include yet. */
  readonly chargedNanoUsd: NanoUsd
  /**
   * Only a partial answer was charged under this id (possibly zero). A complete answer under the same id would not be charged.
   */
  readonly isBroken: boolean
}

const NOTHING_CHARGED: ChargedUnderId = { chargedNanoUsd: 0n, isBroken: false }

async function readCharge(
  { database, isBilled }: AskJudgeOptions,
  accountId: string,
  { requestId, countedNanoUsd }: Judgement,
): Promise<ChargedUnderId> {
  if (!isBilled) return NOTHING_CHARGED
  const charges = await findCharges(database, accountId, [requestId])
  const { added, isSpent } = interpretCharge(charges.get(requestId) ?? null, countedNanoUsd)
  return { chargedNanoUsd: added, isBroken: isSpent }
}

type Outcome =
  | { readonly said: Said | null; readonly chargedNanoUsd: NanoUsd; readonly isCutByAmount: boolean }
  | (ChargedUnderId & { readonly error: AppError })

async function askOnce(
  options: AskJudgeOptions,
  { accountId, body, amount, read }: JudgeQuestion,
  begun: Judgement,
): Promise<Outcome> {
  const { ask, readCaller, isBilled, cancellation } = options
  const { requestId, wasAsked } = begun
  const caller = await readCaller()
  try {
    const amountNanoUsdMax = amount.leftNanoUsd ?? undefined
    const asked = { caller, body, requestId, cancellation, amountNanoUsdMax }
    const { output, costNanoUsd, isCutByAmount } = await ask(asked)
    const said = read(output)
    if (!isBilled || !wasAsked) return { said, chargedNanoUsd: costNanoUsd, isCutByAmount }
    // An id that was charged before is not charged again, and the earlier charge may differ from `costNanoUsd`.
    const { chargedNanoUsd } = await readCharge(options, accountId, begun)
    return { said, chargedNanoUsd, isCutByAmount }
  } catch (error) {
    const charge = isBilled
      ? await readCharge(options, accountId, begun)
      : { chargedNanoUsd: costOf(error), isBroken: costOf(error) > 0n }
    return { ...charge, error: toCallError(error) }
  }
}

function costOf(error: unknown): NanoUsd {
  return error instanceof Error && 'costNanoUsd' in error && typeof error.costNanoUsd === 'bigint'
    ? error.costNanoUsd
    : 0n
}
