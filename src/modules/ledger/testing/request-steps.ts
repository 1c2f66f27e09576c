import { expect, vi } from 'vitest'
import { silentLogger } from '../../../kernel/logger.ts'
import type { NanoUsd } from '../../../kernel/money.ts'
import { reclaimExpired } from '../../../storage/borrowing/reclaim.ts'
import type { HoldRequest } from '../memory/memory-hold.ts'
import { reclaimLeases, type Hold } from '../ledger.ts'
import { codeOfRefusal, type HistoryRun } from './history-run.ts'
import { leastOf } from './ledger-model.ts'
import { usageOf, type LedgerProcess } from './ledger-stage.ts'
import type { StepOf } from './ledger-step.ts'
import { PLAIN_CHARGE } from './plain-charge.ts'

export async function holdWorstCase(run: HistoryRun, step: StepOf<'hold'>): Promise<void> {
  const { model } = run
  const process = run.process(step.process)
  const request = { ...PLAIN_CHARGE, wantedNanoUsd: step.wanted, leastNanoUsd: step.least }
  const outcome = await hold(run, process, request).catch(codeOfRefusal)
  const available = model.availableNanoUsd
  if (typeof outcome === 'string') {
    if (run.isBlurred) return
    expect(available).toBeLessThan(step.least)
    expect(outcome).toBe(model.creditNanoUsd >= step.least ? 'key_limit_reached' : 'insufficient_balance')
    return
  }
  const open = { process, borrowerId: process.borrower.id, hold: outcome }
  run.addHold(open)
  if (run.isLost(open)) return
  expect(outcome.amountNanoUsd).toBeLessThanOrEqual(available)
  if (!run.isBlurred) expect(outcome.amountNanoUsd).toBe(leastOf(step.wanted, available))
  model.heldNanoUsd += outcome.amountNanoUsd
}

/** An answer costs more than its hold: the hold grows as far as the account allows. */
export async function coverMore(run: HistoryRun, step: StepOf<'cover'>): Promise<void> {
  const { model, holds } = run
  const open = holds[step.which % Math.max(1, holds.length)]
  if (open === undefined || run.isLost(open)) return
  const { availableNanoUsd } = model
  const heldNanoUsd = open.hold.amountNanoUsd
  await open.hold.cover(step.cost)
  const grownNanoUsd = open.hold.amountNanoUsd - heldNanoUsd
  expect(grownNanoUsd).toBeLessThanOrEqual(availableNanoUsd)
  const missingNanoUsd = step.cost > heldNanoUsd ? step.cost - heldNanoUsd : 0n
  if (!run.isBlurred) expect(grownNanoUsd).toBe(leastOf(missingNanoUsd, availableNanoUsd))
  model.heldNanoUsd += grownNanoUsd
}

export async function settleHeld(run: HistoryRun, step: StepOf<'settle'>): Promise<void> {
  const { model } = run
  const open = run.takeHold(step.which)
  if (open === undefined) return
  const record = usageOf(run.payer)
  const payable = leastOf(step.cost, open.hold.amountNanoUsd)
  const isLost = run.isLost(open)
  const settled = await open.hold
    .settle({ costNanoUsd: step.cost, record, isDelivered: step.isDelivered })
    .then(() => 'charged', codeOfRefusal)
  if (!isLost) {
    expect(settled).toBe('charged')
    model.heldNanoUsd -= open.hold.amountNanoUsd
    model.uncovered.set(record.id, step.cost - payable)
    return model.charge(record.id, payable)
  }
  if (!step.isDelivered) {
    if (settled === 'charged') model.charge(record.id, payable)
    return
  }
  // The settlement finds that the process was declared dead, and the charge is repeated in the background.
  const charged = await vi.waitFor(() => readCost(run, record.id), { interval: 2, timeout: 5_000 })
  if (!run.isBlurred)
    expect(charged).toBe(leastOf(payable, model.creditNanoUsd > 0n ? model.creditNanoUsd : 0n))
  model.charge(record.id, charged)
  // It may have gone beyond the key's cap, which all processes hear of a moment later.
  await run.ledger.announceChange(run.payer.accountId)
}

export function releaseHeld(run: HistoryRun, step: StepOf<'release'>): void {
  const open = run.takeHold(step.which)
  if (open !== undefined) run.release(open)
}

/** Many requests at once, in both processes. */
export async function runBurst(run: HistoryRun, step: StepOf<'burst'>): Promise<void> {
  const { model, lane } = run
  const { availableNanoUsd, chargedNanoUsd } = model
  const isSomebodyDead = lane.processes.some(({ borrower }) => lane.dead.has(borrower.id))
  await Promise.all(
    step.jobs.map(async (job) => {
      const record = usageOf(run.payer)
      const request = { ...PLAIN_CHARGE, wantedNanoUsd: job.wanted, leastNanoUsd: job.wanted }
      try {
        const open = await hold(run, run.process(job.process), request)
        await open.settle({ costNanoUsd: job.cost, record, isDelivered: false })
        model.charge(record.id, leastOf(job.cost, job.wanted))
      } catch (error) {
        const refusals = [
          'insufficient_balance',
          'key_limit_reached',
          ...(isSomebodyDead ? ['service_unavailable'] : []),
        ]
        expect(refusals).toContain(codeOfRefusal(error))
      }
    }),
  )
  if (!isSomebodyDead) expect(model.chargedNanoUsd - chargedNanoUsd).toBeLessThanOrEqual(availableNanoUsd)
}

export async function reopenProcess(run: HistoryRun, step: StepOf<'reopen'>): Promise<void> {
  const { lane } = run
  const process = run.process(step.process)
  run.releaseAll((open) => open.process === process)
  await process.close()
  lane.processes[step.process === 0 ? 0 : 1] = await lane.createProcess()
}

/** The other process takes back the leases of this one, which does not notice yet. */
export async function declareDead(run: HistoryRun, step: StepOf<'declareDead'>): Promise<void> {
  const { model, lane } = run
  const { borrower } = run.process(step.process)
  if (lane.dead.has(borrower.id)) return
  for (const open of run.holds) {
    if (open.borrowerId === borrower.id) model.heldNanoUsd -= open.hold.amountNanoUsd
  }
  lane.dead.add(borrower.id)
  const { database } = run.process(1 - step.process)
  const expire = `UPDATE borrowers SET expires_at = now() - interval '1 second' WHERE id = $1`
  await database.query(expire, [borrower.id])
  await reclaimExpired({ database, logger: silentLogger, reclaimers: [reclaimLeases] })
}

async function hold(run: HistoryRun, { ledger }: LedgerProcess, request: HoldRequest): Promise<Hold> {
  return ledger.hold(run.payer, request)
}

async function readCost({ lane, ledger, payer }: HistoryRun, id: string): Promise<NanoUsd> {
  await ledger.postCharges()
  const [row] = await lane.stage.database.query<{ cost: bigint }>(
    'SELECT cost_nano_usd AS cost FROM usage_records WHERE account_id = $1 AND id = $2',
    [payer.accountId, id],
  )
  if (row === undefined) throw new Error('the request is not charged yet')
  return row.cost
}
