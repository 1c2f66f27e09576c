import { expect } from 'vitest'
import {
  closeHoldOnce,
  deductOnce,
  expireCredit,
  grantOnce,
  openHoldOnce,
  reverseOnce,
} from './durable-steps.ts'
import { HistoryRun, type HistoryLane } from './history-run.ts'
import type { History, LedgerStep, StepOf } from './ledger-step.ts'
import {
  coverMore,
  declareDead,
  holdWorstCase,
  releaseHeld,
  reopenProcess,
  runBurst,
  settleHeld,
} from './request-steps.ts'

/** Runs a history on an account of its own and compares everything with the model. */
export async function runHistory(lane: HistoryLane, { limit, credit, steps }: History): Promise<void> {
  const payer = { ...(await lane.stage.createPayer(credit)), limitNanoUsd: limit }
  const run = new HistoryRun(lane, payer)
  run.model.balanceNanoUsd = credit
  for (const step of steps) await take(run, step)
  await compareAtRest(run)
}

const STEPS: { [Name in LedgerStep['do']]: (run: HistoryRun, step: StepOf<Name>) => Promise<void> | void } = {
  grant: grantOnce,
  reverse: reverseOnce,
  deduct: deductOnce,
  openHold: openHoldOnce,
  settleHold: closeHoldOnce,
  releaseHold: closeHoldOnce,
  expire: expireCredit,
  hold: holdWorstCase,
  cover: coverMore,
  settle: settleHeld,
  release: releaseHeld,
  burst: runBurst,
  recall: (run) => run.recall(),
  reopen: reopenProcess,
  declareDead,
}

function take<Name extends LedgerStep['do']>(run: HistoryRun, step: StepOf<Name> & { do: Name }) {
  return STEPS[step.do](run, step)
}

async function compareAtRest(run: HistoryRun): Promise<void> {
  const { model, lane, payer } = run
  run.releaseAll(() => true)
  await run.recall()
  await run.writeOffExpired()
  expect(await run.ledger.readBalance(payer.accountId)).toMatchObject({
    balanceNanoUsd: model.balanceNanoUsd,
    heldNanoUsd: model.setAsideNanoUsd,
    debtNanoUsd: model.debtNanoUsd,
  })
  const rows = await lane.stage.database.query<{ id: string; cost: bigint; uncovered: bigint }>(
    `SELECT replace(id::text, '-', '') AS id, cost_nano_usd AS cost, uncovered_nano_usd AS uncovered
     FROM usage_records WHERE account_id = $1`,
    [payer.accountId],
  )
  expect(new Map(rows.map(({ id, cost }) => [id, cost]))).toEqual(model.charges)
  for (const { id, uncovered } of rows) expect(uncovered).toBe(model.uncovered.get(id) ?? uncovered)
  expect(await lane.stage.findDifferences()).toEqual([])
}
