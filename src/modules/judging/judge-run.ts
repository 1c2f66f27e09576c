import { AppError } from '../../kernel/app-error.ts'
import { Cancellation } from '../../kernel/cancellation.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createId } from '../../kernel/identifiers.ts'
import type { NanoUsd } from '../../kernel/money.ts'
import type { Database } from '../../storage/database.ts'
import { withLabels, type Keys } from '../keys/keys.ts'
import { askJudge, type AskChat, type AskJudgeOptions } from './ask-judge.ts'
import { FailureStreak, JudgeKeepsFailing } from './failure-streak.ts'
import { BudgetReached, JudgeBudget, type QuestionAmount } from './judge-budget.ts'
import { choosePairs, type Pair } from './choose-pairs.ts'
import {
  duelQuestion,
  readPreference,
  readScore,
  scoreQuestion,
  type JudgeSettings,
} from './judge-question.ts'
import type { Judgement } from './judgements.ts'
import {
  markJudged,
  readUnjudged,
  writeCellJudge,
  type CellOpinion,
  type UnjudgedPrompt,
} from './unjudged.ts'
import { writeVote } from './votes.ts'

/** A run whose cells are complete. */
export interface JudgedRun {
  readonly id: string
  readonly accountId: string
  readonly keyId: string
  readonly labels: readonly string[] | null
  readonly seed: number
  readonly concurrency: number
  readonly judge: JudgeSettings | null
  readonly lanes: readonly { readonly id: string }[]
  readonly budgetNanoUsd: NanoUsd | null
}

export interface JudgeRunOptions {
  readonly database: Database
  readonly clock: Clock
  readonly ask: AskChat
  readonly keys: Pick<Keys, 'callerOf'>
  readonly isBilled: boolean
}

export interface RunError {
  readonly code: string
  readonly message: string
}

/**
 * Judges every prompt that has not been judged yet. Returns the error that stopped it, or null if it finished or was cancelled. A
 * repeated call after a crash asks only the unanswered questions.
 */
export async function judgeRun(
  options: JudgeRunOptions,
  run: JudgedRun,
  outer: Cancellation,
): Promise<RunError | null> {
  const { judge } = run
  if (judge === null) return null
  const { database, keys } = options
  const cancellation = new Cancellation()
  outer.onCancel((reason) => cancellation.cancel(reason))
  const asking: Asking = {
    ...options,
    readCaller: async () => withLabels(await keys.callerOf(run.accountId, run.keyId), run.labels),
    cancellation,
    streak: new FailureStreak(),
    budget: await openBudget(database, run),
  }
  try {
    for (let after: readonly [number, number] = [-1, -1]; ;) {
      const prompts = await readUnjudged(database, run.id, after)
      const last = prompts.at(-1)
      if (last === undefined) return null
      // With a budget, judge one prompt at a time, so that each question may spend most of what is left.
      const concurrency = run.budgetNanoUsd === null ? run.concurrency : 1
      await eachOf(prompts, concurrency, (prompt) => judgePrompt(asking, run, judge, prompt))
      after = [last.promptIndex, last.repeat]
    }
  } catch (error) {
    cancellation.cancel(error)
    if (outer.isCancelled) return null
    if (error instanceof BudgetReached) return BUDGET_REACHED
    if (error instanceof JudgeKeepsFailing) return { code: 'judge_failed', message: error.message }
    if (!(error instanceof AppError)) throw error
    return { code: error.shownCode, message: error.message }
  }
}

const BUDGET_REACHED: RunError = {
  code: 'budget_reached',
  message:
    'The budget of the run does not cover another question to the judge. Resume it with a larger budget_usd to go on.',
}

interface Asking extends AskJudgeOptions {
  readonly budget: JudgeBudget
}

async function openBudget(database: Database, { id, budgetNanoUsd }: JudgedRun): Promise<JudgeBudget> {
  const [row] = await database.query<{ cost: bigint }>(
    'SELECT cost_nano_usd AS cost FROM compare_runs WHERE id = $1',
    [id],
  )
  return new JudgeBudget(budgetNanoUsd, row?.cost ?? 0n)
}

async function judgePrompt(
  asking: Asking,
  run: JudgedRun,
  judge: JudgeSettings,
  prompt: UnjudgedPrompt,
): Promise<void> {
  const { database } = asking
  const { promptIndex, repeat, outputs } = prompt
  const opinions = new Map<string, CellOpinion>()
  for (const laneId of outputs.keys())
    opinions.set(laneId, { wins: 0, losses: 0, ties: 0, inconsistent: 0, failed: 0 })
  const note = (laneId: string, what: 'wins' | 'losses' | 'ties' | 'inconsistent' | 'failed'): void => {
    const opinion = opinions.get(laneId)
    if (opinion) opinion[what] += 1
  }
  const laneIds = run.lanes.map(({ id }) => id)
  const pairs = choosePairs(laneIds, { seed: run.seed, promptIndex, repeat })
  for (const pair of pairs.filter((lanes) => lanes.every((id) => outputs.has(id)))) {
    const { what, winner } = await judgePair(asking, run, judge, prompt, pair)
    for (const laneId of pair) {
      if (what === 'decided') note(laneId, laneId === winner ? 'wins' : 'losses')
      else note(laneId, what)
    }
  }
  if (prompt.criterion !== null) {
    for (const laneId of outputs.keys()) {
      const scored = await scoreAnswer(asking, run, judge, prompt, { laneId, criterion: prompt.criterion })
      const opinion = opinions.get(laneId)
      if (scored === null) note(laneId, 'failed')
      else if (opinion) Object.assign(opinion, { score: scored.score, reason: scored.reason })
    }
  }
  await writeCellJudge(database, run.id, prompt, opinions)
  // A prompt with failed answers or judgements is judged again when the run is resumed.
  const isWhole =
    outputs.size === run.lanes.length && [...opinions.values()].every(({ failed }) => failed === 0)
  if (isWhole) await markJudged(database, run.id, prompt)
}

interface PairOutcome {
  readonly what: 'decided' | 'ties' | 'inconsistent' | 'failed'
  readonly winner: string | null
}

/** Asks in both orders. A preference for a position instead of an answer counts as inconsistent. */
async function judgePair(
  asking: Asking,
  run: JudgedRun,
  judge: JudgeSettings,
  { promptIndex, repeat, messages, outputs }: UnjudgedPrompt,
  [one, other]: Pair,
): Promise<PairOutcome> {
  const ask = (
    firstLaneId: string,
    secondLaneId: string,
    amount: QuestionAmount,
  ): Promise<Judgement | null> =>
    askJudge(asking, {
      amount,
      key: { runId: run.id, promptIndex, repeat, firstLaneId, secondLaneId },
      accountId: run.accountId,
      body: duelQuestion(judge, messages, {
        first: outputs.get(firstLaneId) ?? '',
        second: outputs.get(secondLaneId) ?? '',
      }),
      read: readPreference,
    })
  const amounts = asking.budget.reserveTwo()
  const both = await Promise.allSettled([ask(one, other, amounts[0]), ask(other, one, amounts[1])])
  const [straight, exchanged] = both.map((asked) => {
    if (asked.status === 'rejected') throw asked.reason
    return asked.value
  })
  if (!straight || !exchanged) return { what: 'failed', winner: null }
  const verdict = nameOf(straight, one, other)
  if (verdict !== nameOf(exchanged, other, one)) return { what: 'inconsistent', winner: null }
  const nowMs = asking.clock.nowMs()
  const vote = {
    id: createId(nowMs),
    runId: run.id,
    promptIndex,
    repeat,
    laneIds: [one, other].toSorted(),
    outcome: verdict === null ? ('tie' as const) : ('winner' as const),
    winnerLaneId: verdict,
    source: 'judge' as const,
    reason: straight.reason,
    createdAt: new Date(nowMs),
  }
  await asking.database.transaction(async (transaction) => {
    await transaction.query('SELECT FROM compare_runs WHERE id = $1 FOR UPDATE', [run.id])
    await writeVote(transaction, run.accountId, { keyId: run.keyId, ownerId: null }, vote)
  })
  return { what: verdict === null ? 'ties' : 'decided', winner: verdict }
}

/** Returns the preferred lane. Null for a tie. */
function nameOf({ preferred }: Judgement, first: string, second: string): string | null {
  if (preferred === 'tie') return null
  return preferred === 'first' ? first : second
}

function scoreAnswer(
  asking: Asking,
  run: JudgedRun,
  judge: JudgeSettings,
  { promptIndex, repeat, messages, outputs }: UnjudgedPrompt,
  { laneId, criterion }: { laneId: string; criterion: string },
): Promise<Judgement | null> {
  return askJudge(asking, {
    amount: asking.budget.reserve(),
    key: { runId: run.id, promptIndex, repeat, firstLaneId: laneId, secondLaneId: laneId },
    accountId: run.accountId,
    body: scoreQuestion(judge, messages, { output: outputs.get(laneId) ?? '', criterion }),
    read: readScore,
  })
}

/**
 * Runs `work` for all items with limited concurrency. After the first failure it starts no more, waits for the running ones, and
 * throws.
 */
async function eachOf<Item>(
  items: readonly Item[],
  concurrency: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const waiting = items.values()
  let failure: { error: unknown } | null = null
  const workers = Array.from({ length: Math.max(1, concurrency) }, async () => {
    for (const item of waiting) {
      if (failure !== null) return
      await work(item).catch((error: unknown) => {
        failure ??= { error }
      })
    }
  })
  await Promise.all(workers)
  rethrow(failure)
}

function rethrow(failure: { error: unknown } | null): void {
  if (failure !== null) throw failure.error
}
