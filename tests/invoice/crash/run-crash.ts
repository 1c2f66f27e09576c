import type { Case } from '../case.ts'
import { finishWork, isWorking } from '../ends/background-work.ts'
import { makeCase } from '../generate/make-case.ts'
import { beginCase, finishCase, type CaseOutcome } from '../run-case.ts'
import type { ProcessStage } from './start-process-stage.ts'

/** The wires on which a killed gateway has work: what a client waits for, and what a worker does. */
const WIRES: ReadonlySet<string> = new Set(['chat', 'messages', 'responses', 'background', 'run'])

/** Kills the gateway in the middle of several cases, starts it again, and compares what is charged then. */
export async function runCrash(
  stage: ProcessStage,
  { seed, from, count }: { seed: number; from: number; count: number },
): Promise<CaseOutcome[]> {
  const all = await Promise.all(listCases(seed, from, count).map((made) => beginCase(stage, made)))
  const sent = all.map((running) => ({ running, request: running.send() }))
  await Promise.all(sent.map(({ running, request }) => isWorking(running, request)))
  for (const { running, request } of sent)
    if (running.made.isStream) await request.received(running.planned.sentLength)
  await stage.crash()
  for (const { running } of sent) running.planned.release()
  return Promise.all(
    sent.map(async ({ running, request }) => {
      const answered = await request.answered
      running.statuses.push(answered.status)
      await finishWork(running, answered)
      return finishCase(stage, running)
    }),
  )
}

function listCases(seed: number, from: number, count: number): Case[] {
  const cases: Case[] = []
  for (let number = from; cases.length < count; number += 1) {
    const made = makeCase(seed, number)
    if (!WIRES.has(made.wire) || made.balanceUsd < 0.5) continue
    const work = { ...made.work, pauseAfter: made.work.pauseAfter ?? 1, failure: null }
    cases.push({ ...made, work, end: { name: 'crashed', retry: made.end.retry } })
  }
  return cases
}
