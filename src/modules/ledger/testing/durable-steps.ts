import { expect } from 'vitest'
import { HoldClosed } from '../books/stored-hold.ts'
import { keyScope } from '../books/spend-caps.ts'
import { codeOfRefusal, type HistoryRun } from './history-run.ts'
import { leastOf } from './ledger-model.ts'
import { usageOf } from './ledger-stage.ts'
import type { StepOf } from './ledger-step.ts'

const LATER_MS = Date.UTC(2031, 0, 1)

export async function grantOnce(run: HistoryRun, step: StepOf<'grant'>): Promise<void> {
  const { model, ledger, payer } = run
  const order = { ...run.order(`grant:${step.key}`, step.amount), class: step.class, book: 'cash' as const }
  const isNew = model.isNew(order.key)
  const granted = await run.durably((transaction) =>
    ledger.grant(transaction, { ...order, expiresAtMs: step.isExpiring ? LATER_MS : null }),
  )
  expect(granted.isNew).toBe(isNew)
  if (!isNew) return
  model.balanceNanoUsd += step.amount
  if (step.isExpiring) run.expiringNanoUsd += step.amount
  await ledger.announceChange(payer.accountId)
  await expectSpentInOrder(run)
}

/** Without holds, no process keeps credit that is spent later than a free lot. */
async function expectSpentInOrder({ lane, ledger, payer, holds, model }: HistoryRun): Promise<void> {
  if (holds.length > 0 || model.debtNanoUsd > 0n) return
  if (lane.processes.some(({ borrower }) => lane.dead.has(borrower.id))) return
  await ledger.postCharges()
  const kept = await lane.stage.database.query(
    `SELECT lease.id FROM credit_leases lease JOIN credit_lots lot ON lot.id = lease.lot_id
     JOIN credit_lots free ON free.account_id = lot.account_id AND free.remaining_nano_usd > 0
       AND (free.expires_at IS NULL OR free.expires_at > now())
     WHERE lease.account_id = $1 AND lease.borrower_id IS NOT NULL AND lease.amount_nano_usd > lease.spent_nano_usd
       AND (free.class = 'paid', coalesce(free.expires_at, 'infinity')) < (lot.class = 'paid', coalesce(lot.expires_at, 'infinity'))`,
    [payer.accountId],
  )
  expect(kept).toEqual([])
}

export async function reverseOnce(run: HistoryRun, step: StepOf<'reverse'>): Promise<void> {
  const { model, ledger, payer } = run
  const order = { ...run.order(`reverse:${step.key}`, step.amount), book: 'cash' as const }
  const isNew = model.isNew(order.key)
  await run.recall()
  const reversed = await run.durably((transaction) => ledger.reverse(transaction, order))
  expect(reversed.isNew).toBe(isNew)
  if (isNew) model.balanceNanoUsd -= step.amount
  if (!run.isBlurred) expect(reversed.debtNanoUsd).toBe(model.debtNanoUsd)
  await ledger.announceChange(payer.accountId)
}

export async function deductOnce(run: HistoryRun, step: StepOf<'deduct'>): Promise<void> {
  const { model, ledger } = run
  const order = run.order(`deduct:${step.key}`, step.amount)
  const isNew = model.isNew(order.key)
  await run.recall()
  const deducted = await run.durably((transaction) => ledger.deduct(transaction, order)).catch(codeOfRefusal)
  if (deducted === 'conflict') {
    model.forget(order.key)
    if (!run.isBlurred) expect(model.creditNanoUsd).toBeLessThan(step.amount)
    return
  }
  expect(deducted).toEqual({ isNew })
  if (!isNew) return
  expect(model.creditNanoUsd).toBeGreaterThanOrEqual(step.amount)
  model.balanceNanoUsd -= step.amount
}

export async function openHoldOnce(run: HistoryRun, step: StepOf<'openHold'>): Promise<void> {
  const { model, ledger, payer } = run
  const { limitNanoUsd } = payer
  // As every other request of the key.
  const caps = limitNanoUsd === null ? [] : [{ scope: keyScope(payer.keyId), limitNanoUsd }]
  const order = { ...run.order(`work:${step.key}`, step.amount), expiresAtMs: LATER_MS, caps }
  const isNew = !run.longWork.has(order.key)
  await run.recall()
  const opened = await run.durably((transaction) => ledger.openHold(transaction, order)).catch(codeOfRefusal)
  if (opened === 'insufficient_balance') {
    if (!run.isBlurred) expect(model.debtNanoUsd > 0n || model.creditNanoUsd < step.amount).toBe(true)
    return
  }
  if (opened === 'key_limit_reached') {
    if (!run.isBlurred) expect(model.roomNanoUsd).toBeLessThan(step.amount)
    return
  }
  expect(opened).toEqual({ isNew })
  if (!isNew) return
  expect(model.creditNanoUsd).toBeGreaterThanOrEqual(step.amount)
  if (model.roomNanoUsd !== null) expect(model.roomNanoUsd).toBeGreaterThanOrEqual(step.amount)
  run.longWork.set(order.key, { amountNanoUsd: step.amount, status: 'open', chargedNanoUsd: 0n })
  model.setAsideNanoUsd += step.amount
}

export async function closeHoldOnce(
  run: HistoryRun,
  step: StepOf<'settleHold'> | StepOf<'releaseHold'>,
): Promise<void> {
  const { model, ledger } = run
  const { key } = run.order(`work:${step.key}`, 0n)
  const work = run.longWork.get(key)
  if (work === undefined) return
  const status = step.do === 'settleHold' ? 'settled' : 'released'
  const chargedNanoUsd = step.do === 'settleHold' ? leastOf(step.cost, work.amountNanoUsd) : 0n
  const usage = { writer: run.process(0).borrower.writer, record: usageOf(run.payer) }
  const closed = await run
    .durably((transaction) =>
      status === 'settled'
        ? ledger.settleHold(transaction, { key, chargedNanoUsd, reason: 'work', usage })
        : ledger.releaseHold(transaction, key),
    )
    .catch((error: unknown) => {
      if (error instanceof HoldClosed) return 'closed before'
      throw error
    })
  if (work.status !== 'open') {
    const isSame = work.status === status && work.chargedNanoUsd === chargedNanoUsd
    expect(closed).toEqual(isSame ? { isNew: false } : 'closed before')
    return
  }
  expect(closed).toEqual({ isNew: true })
  Object.assign(work, { status, chargedNanoUsd })
  model.setAsideNanoUsd -= work.amountNanoUsd
  if (status === 'settled') model.charge(usage.record.id, chargedNanoUsd)
}

/** Time passes for all credit that can expire. */
export async function expireCredit(run: HistoryRun): Promise<void> {
  await run.lane.stage.database.query(
    `UPDATE credit_lots SET expires_at = now() - interval '1 second' WHERE account_id = $1 AND expires_at IS NOT NULL`,
    [run.payer.accountId],
  )
  await run.recall()
  await run.writeOffExpired()
  run.isBlurred ||= run.holds.length > 0 || run.model.setAsideNanoUsd > 0n
}
