import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { countAnswers } from './count-answers.ts'
import type { Fault } from './faults.ts'
import { findObstacles } from './find-obstacles.ts'
import { printTable, type Outcome } from './print-table.ts'
import { readDefects, startStage, type Stage, type StageOptions } from './start-stage.ts'

/** How often each kind of fault strikes, and how many requests a second the clients send. */
const ROUNDS = Number(process.env['PARKWAY_HA_ROUNDS'] ?? 10)
export const RATE = Number(process.env['PARKWAY_HA_RATE'] ?? 300)

export const obstacles = findObstacles()

const OUTAGE_MESSAGE = 'the database cannot be reached'
/** How long clients are served before and after each fault. */
const CALM_MS = 2_000

/** Starts a stage for the tests of a file, and prints what was counted on it at the end. */
export function useStage(prepare: () => StageOptions = () => ({})): {
  current(): Stage
  note(outcome: Outcome): void
} {
  const outcomes: Outcome[] = []
  let stage: Stage | undefined
  beforeAll(async () => {
    stage = await startStage(prepare())
  })
  afterAll(async () => {
    printTable(outcomes)
    if (stage !== undefined)
      writeFileSync(join(stage.network.directory, 'requests.json'), JSON.stringify(stage.load.ended))
    await stage?.close()
  })
  return {
    current: () => {
      if (stage === undefined) throw new Error('the stage has not started')
      return stage
    },
    note: (outcome) => {
      outcomes.push(outcome)
      // Each by itself too, so that a run which is stopped has told what it saw.
      printTable([outcome])
    },
  }
}

/** Tests that strike with these faults in turn while clients go on, count after each, and in the end over all. */
export function strikeInTurn(
  used: ReturnType<typeof useStage>,
  faults: readonly Fault[],
  rounds = ROUNDS,
): void {
  const turns = Array.from({ length: rounds }, (_, index) => ({
    round: index + 1,
    fault: faults[index % faults.length],
  }))
  test.each(turns)('$round: $fault.name', async ({ round, fault }) => {
    if (fault === undefined) throw new Error('no fault')
    const count = await countDuring(used.current(), () => fault.strike(used.current(), round))
    used.note({ name: fault.name, count })
    expect(count.defects).toEqual([])
    expect(count.complete).toBeGreaterThan(0)
  })
}

/** In all: every answer is charged once, and no gateway was started by hand. */
export function countAllAtEnd(used: ReturnType<typeof useStage>): void {
  test('in all every answer is charged once, and nobody had to start a gateway again', async () => {
    const stage = used.current()
    const count = await countAnswers(stage)
    used.note({ name: 'in all', count })
    expect(count.defects).toEqual([])
    // A database that is away is told, and nothing else went wrong.
    const defects = stage.gateways.flatMap((gateway) => readDefects(stage.network, gateway))
    expect(defects.filter((line) => !line.includes(OUTAGE_MESSAGE))).toEqual([])
    for (const { process: program, exits } of stage.gateways)
      expect({ exits, exitCode: program.exitCode, signal: program.signalCode }).toEqual({
        exits: [],
        exitCode: null,
        signal: null,
      })
  })
}

/** Counts what clients were answered before, during and after something, up to the time when everything is as before. */
export async function countDuring(stage: Stage, strike: () => Promise<void>) {
  const last = stage.load.ended.reduce((highest, { number }) => Math.max(highest, number), 0)
  stage.load.setRate(RATE)
  try {
    await delay(CALM_MS)
    await strike()
    await stage.cluster.untilWhole()
    await stage.untilReady()
    await delay(CALM_MS)
  } finally {
    await stage.load.pause()
  }
  return countAnswers(stage, last + 1)
}

/** Says why something is skipped, if there is a reason. */
export function saySkipped(what: string, reasons: readonly string[]): void {
  // oxlint-disable-next-line no-console -- a skipped suite must say why
  if (reasons.length > 0) console.warn(`Skipped: ${what}, because\n- ${reasons.join('\n- ')}`)
}
