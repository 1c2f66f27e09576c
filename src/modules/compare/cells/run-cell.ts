import { AppError } from '../../../kernel/app-error.ts'
import type { Cancellation } from '../../../kernel/cancellation.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import {
  AmountTooSmall,
  interpretCharge,
  mayPass,
  pauseBeforeTry,
  toCallError,
  UNATTENDED_TRIES_MAX,
} from '../../inference/inference.ts'
import type { Caller } from '../../keys/keys.ts'
import { isRefusal, type FoundCharge } from '../../ledger/ledger.ts'
import { ChatCallFailed, type AskChat, type ChatAnswer } from './ask-chat.ts'
import type { ToldCall } from './chat-call.ts'
import { cellBody } from './cell-body.ts'
import type { CellQuestion, WaitingCell } from './cell-window.ts'
import type { CellEnd, CellWriter } from './cell-writer.ts'
import type { LiveRun } from '../live/live-sender.ts'
import { CUT_OFF } from '../runs/budget-reached.ts'
import type { Lane } from '../runs/run.ts'
import type { ScoredCell } from '../scores/cell-scores.ts'
import { scoreOutput } from '../scores/score-output.ts'

export interface RunCellOptions {
  /** Whose run it is. */
  readonly accountId: string
  readonly ask: AskChat
  readonly writer: CellWriter
  /** Takes the answers while they are written. */
  readonly live: Pick<LiveRun, 'begin'>
  /** Reads the caller again. Throws if the key may not be used any more. */
  readonly readCaller: () => Promise<Caller>
  /** The ledger's record of a request. Null if billing is off. */
  readonly findCharge: ((requestId: string) => Promise<FoundCharge | null>) | null
  /** Computes the scores of the run for an answer. */
  readonly score: (asked: CellQuestion, lane: Lane, answer: ToldCall) => Promise<ScoredCell>
  /** Resolves when another cell of the run has ended. False at once if no other cell is running. */
  readonly waitForAnother: () => Promise<boolean>
  /** The most that the cell may cost, over all tries. Null: no limit of the run. */
  readonly amountNanoUsd: NanoUsd | null
  readonly cancellation: Cancellation
}

/** What the run has to know of it. */
export interface RanCell {
  readonly chargedNanoUsd: NanoUsd
  readonly status: CellEnd['status'] | 'lost'
  /** Why the run cannot continue. */
  readonly halt: AppError | null
  /** What it needs at least, if it may not spend so much. It waits for more room then. */
  readonly neededNanoUsd?: NanoUsd
  /** The budget cut its answer off. */
  readonly isCut?: boolean
}

/** How often a cell waits for other cells to release their credit. */
const CREDIT_WAITS_MAX = 50
/** A cell that was started this often without an end is assumed to crash the worker. */
const INTERRUPTIONS_MAX = 50

/** Asks one cell until it has an answer or a permanent error. Rejects only if the result cannot be written. */
export async function runCell(cell: WaitingCell, lane: Lane, options: RunCellOptions): Promise<RanCell> {
  const { writer, cancellation } = options
  const { key } = cell
  let chargedInAll = 0n
  let creditWaits = 0
  let tries = 1
  let { wasAsked, countedNanoUsd } = cell
  const end = async (part: CellEnd, halt: AppError | null = null): Promise<RanCell> => {
    const isOurs = await writer.end(part)
    chargedInAll += part.chargedNanoUsd
    return { chargedNanoUsd: chargedInAll, status: isOurs ? part.status : 'lost', halt }
  }

  for (;;) {
    const requestId = await writer.begin(key)
    if (requestId === null) return { chargedNanoUsd: chargedInAll, status: 'lost', halt: null }
    const { amountNanoUsd } = options
    const amountNanoUsdMax = amountNanoUsd === null ? undefined : amountNanoUsd - chargedInAll
    const asked = { requestId, wasAsked, countedNanoUsd, amountNanoUsdMax }
    const outcome = await askOnce(cell, lane, asked, options)
    const { chargedNanoUsd } = outcome
    if ('answer' in outcome && outcome.answer.isCutByAmount) {
      // Its answer is charged, so another one needs another id.
      await end({ key, status: 'pending', chargedNanoUsd, isIdSpent: true })
      if ((await writer.begin(key)) === null)
        return { chargedNanoUsd: chargedInAll, status: 'lost', halt: null }
      return { ...(await end({ key, status: 'failed', chargedNanoUsd: 0n, ...CUT_OFF })), isCut: true }
    }
    if ('answer' in outcome) {
      const score = await scoreOutput(cell.prompt.expected, outcome.answer.output, options.accountId)
      const scored = await options.score(cell, lane, outcome.answer)
      return end({
        key,
        status: 'completed',
        chargedNanoUsd,
        answer: outcome.answer,
        score: score ?? scored.quality,
        scores: scored.scores,
      })
    }
    const { error, isIdSpent } = outcome
    const back = { key, status: 'pending', chargedNanoUsd, isIdSpent } as const
    if (cancellation.isCancelled) return end(back)
    if (outcome.isCallerRefused) return end(back, error)
    if (error instanceof AmountTooSmall)
      return { ...(await end(back)), neededNanoUsd: chargedInAll + error.neededNanoUsd }
    const isShort = isRefusal(error)
    const mayTryAgain = isShort
      ? creditWaits < CREDIT_WAITS_MAX && (await options.waitForAnother())
      : mayPass(error) && tries < UNATTENDED_TRIES_MAX && cell.tries < INTERRUPTIONS_MAX
    if (!mayTryAgain) {
      const { shownCode: code, message } = error
      return end(
        { key, status: 'failed', chargedNanoUsd, code, message, ...outcome.asked },
        isShort ? error : null,
      )
    }
    const ended = await end(back)
    if (ended.status === 'lost') return ended
    wasAsked = !isIdSpent
    countedNanoUsd = isIdSpent ? 0n : countedNanoUsd + chargedNanoUsd
    if (isShort) creditWaits += 1
    else {
      await pauseBeforeTry(tries, error, cancellation)
      tries += 1
    }
    if (cancellation.isCancelled) return ended
  }
}

type Outcome = Charged & (Answered | Unanswered)

interface Charged {
  /** Charges that are not counted yet. */
  readonly chargedNanoUsd: NanoUsd
}

interface Answered {
  readonly answer: ChatAnswer
}

interface Unanswered {
  readonly isIdSpent: boolean
  readonly error: AppError
  readonly isCallerRefused: boolean
  readonly asked: { readonly model: string | null; readonly provider: string | null }
}

interface UsedId extends Pick<WaitingCell, 'wasAsked' | 'countedNanoUsd'> {
  readonly requestId: string
  readonly amountNanoUsdMax: NanoUsd | undefined
}

async function askOnce(
  { key, prompt }: WaitingCell,
  lane: Lane,
  { requestId, wasAsked, countedNanoUsd, amountNanoUsdMax }: UsedId,
  { ask, live, readCaller, findCharge, cancellation }: RunCellOptions,
): Promise<Outcome> {
  let caller: Caller
  try {
    caller = await readCaller()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    const asked = { model: null, provider: null }
    return { chargedNanoUsd: 0n, isIdSpent: false, error, isCallerRefused: true, asked }
  }
  try {
    const body = cellBody(lane, prompt.messages, key.repeat)
    const onText = live.begin(key)
    const answer = await ask({ caller, body, requestId, amountNanoUsdMax, cancellation, onText })
    if (!wasAsked || findCharge === null) return { answer, chargedNanoUsd: answer.costNanoUsd }
    // An id is charged once, so the earlier charge counts, which may differ from this answer's.
    const { added } = interpretCharge(await findCharge(requestId), countedNanoUsd)
    return { answer, chargedNanoUsd: added }
  } catch (error) {
    const { costNanoUsd = 0n, model = null, provider = null } = error instanceof ChatCallFailed ? error : {}
    const { added, isSpent } =
      findCharge === null
        ? { added: costNanoUsd, isSpent: costNanoUsd > 0n }
        : interpretCharge(await findCharge(requestId), countedNanoUsd)
    const asked = { model, provider }
    return {
      chargedNanoUsd: added,
      isIdSpent: isSpent,
      error: toCallError(error),
      isCallerRefused: false,
      asked,
    }
  }
}
