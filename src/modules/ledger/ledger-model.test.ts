import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { longOr } from '../../../tests/support/long-or.ts'
import type { HistoryLane } from './testing/history-run.ts'
import { createLedgerStage } from './testing/ledger-stage.ts'
import { history } from './testing/ledger-step.ts'
import { createLocalBus } from './testing/local-bus.ts'
import { runHistory } from './testing/run-history.ts'

/** Each lane has two processes and its own database, because processes die and restart in a history. */
const LANES = 8
const HISTORIES_PER_LANE = longOr(500, 30)
/** The number of histories limits the test, not the time, because the machine may be busy. */
const FAR_AWAY_MS = 1_800_000

test(
  `the ledger behaves like a simple model in ${LANES * HISTORIES_PER_LANE} random histories`,
  async () => {
    await Promise.all(Array.from({ length: LANES }, runLane))
  },
  FAR_AWAY_MS,
)

async function runLane(): Promise<void> {
  const stage = await createLedgerStage()
  const shared = { database: stage.database, messageBus: createLocalBus() }
  // Short, because no request ends while a step of a history waits for credit.
  const createProcess = () => stage.createProcess({ holdWaitMs: 3, shared })
  const lane: HistoryLane = {
    stage,
    createProcess,
    processes: [await createProcess(), await createProcess()],
    dead: new Set(),
  }
  try {
    await fc.assert(
      fc.asyncProperty(history, (one) => runHistory(lane, one)),
      { numRuns: HISTORIES_PER_LANE },
    )
    expect(await stage.findDifferences()).toEqual([])
  } finally {
    await stage.close()
  }
}
