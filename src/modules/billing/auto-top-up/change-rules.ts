import { AppError, invalidValue } from '../../../kernel/app-error.ts'
import { formatUsd, usdFromNanoUsd, type NanoUsd } from '../../../kernel/money.ts'
import type { Database } from '../../../storage/database.ts'
import { recordChange, type ChangeActor } from '../../audit/audit.ts'
import { centsFromNanoUsd } from '../cents.ts'
import { CHECKOUT_NANO_USD_MAX, CHECKOUT_NANO_USD_MIN } from '../create-checkout.ts'
import { lockAutoTopUp, writeAutoTopUp, type AutoTopUpRecord, type TopUpRules } from './auto-top-up-record.ts'

/** What is set. Absent members stay as they are. */
export interface AutoTopUpChanges extends Partial<TopUpRules> {
  readonly isEnabled?: boolean
}

const CEILING_NANO_USD_MAX = 10n * CHECKOUT_NANO_USD_MAX

interface RulesChange {
  readonly actor: ChangeActor
  readonly changes: AutoTopUpChanges
  /** The provider that takes payments now. */
  readonly provider: string
}

/** Sets the rules, and forgets earlier failures: whoever sets them has looked at them. */
export function changeRules(
  database: Database,
  { actor, changes, provider }: RulesChange,
): Promise<AutoTopUpRecord> {
  return database.transaction(async (transaction) => {
    const { accountId } = actor
    const before = await lockAutoTopUp(transaction, accountId)
    const next = applyChanges(before, changes)
    if (next.isEnabled) requireReady(next, provider)
    if (isSame(before, next)) return before
    await writeAutoTopUp(transaction, accountId, next)
    await recordChange(transaction, {
      actor,
      type: 'auto_top_up.updated',
      projectId: null,
      resourceId: accountId,
      details: { changes_requested: describe(next) },
    })
    return next
  })
}

function applyChanges(before: AutoTopUpRecord, { isEnabled, ...changed }: AutoTopUpChanges): AutoTopUpRecord {
  const wanted = { ...before.rules, ...changed }
  const { thresholdNanoUsd, amountNanoUsd, ceilingNanoUsd } = wanted
  const names = {
    threshold_usd: thresholdNanoUsd,
    amount_usd: amountNanoUsd,
    monthly_ceiling_usd: ceilingNanoUsd,
  }
  const isAnySet = Object.values(names).some((amount) => amount !== undefined)
  for (const [name, amount] of Object.entries(names))
    if (amount === undefined && isAnySet) throw invalidValue(name, `${name} must be set too.`)
  const rules =
    thresholdNanoUsd === undefined || amountNanoUsd === undefined || ceilingNanoUsd === undefined
      ? null
      : { thresholdNanoUsd, amountNanoUsd, ceilingNanoUsd }
  if (rules !== null) requireSensible(rules)
  const next = { ...before, rules, isEnabled: isEnabled ?? before.isEnabled }
  return { ...next, failures: 0, nextTryAtMs: null, problem: null }
}

function requireSensible({ thresholdNanoUsd, amountNanoUsd, ceilingNanoUsd }: TopUpRules): void {
  requireWithin('threshold_usd', thresholdNanoUsd, CHECKOUT_NANO_USD_MIN, CHECKOUT_NANO_USD_MAX)
  requireWithin('amount_usd', amountNanoUsd, CHECKOUT_NANO_USD_MIN, CHECKOUT_NANO_USD_MAX)
  requireWithin('monthly_ceiling_usd', ceilingNanoUsd, CHECKOUT_NANO_USD_MIN, CEILING_NANO_USD_MAX)
  // Otherwise one top-up would not reach the threshold, and the next one followed at once.
  if (amountNanoUsd < thresholdNanoUsd)
    throw invalidValue('amount_usd', 'amount_usd must be at least threshold_usd.')
  if (ceilingNanoUsd < amountNanoUsd)
    throw invalidValue('monthly_ceiling_usd', 'monthly_ceiling_usd must be at least amount_usd.')
}

function requireWithin(name: string, amount: NanoUsd, min: NanoUsd, max: NanoUsd): void {
  if (amount >= min && amount <= max && centsFromNanoUsd(amount) !== null) return
  throw invalidValue(name, `${name} must be from ${formatUsd(min)} to ${formatUsd(max)}, in whole cents.`)
}

function requireReady({ card, rules }: AutoTopUpRecord, provider: string): void {
  if (rules === null)
    throw invalidValue('enabled', 'Set threshold_usd, amount_usd and monthly_ceiling_usd to switch it on.')
  if (card?.provider !== provider)
    throw new AppError('conflict', 'No card is saved. Save one before you switch it on.')
}

function isSame(before: AutoTopUpRecord, next: AutoTopUpRecord): boolean {
  const isAsBefore = JSON.stringify(describe(before)) === JSON.stringify(describe(next))
  return isAsBefore && before.failures === 0 && before.nextTryAtMs === null && before.problem === null
}

function describe({ isEnabled, rules }: AutoTopUpRecord): Record<string, unknown> {
  return {
    enabled: isEnabled,
    ...(rules !== null && {
      threshold_usd: usdFromNanoUsd(rules.thresholdNanoUsd),
      amount_usd: usdFromNanoUsd(rules.amountNanoUsd),
      monthly_ceiling_usd: usdFromNanoUsd(rules.ceilingNanoUsd),
    }),
  }
}
