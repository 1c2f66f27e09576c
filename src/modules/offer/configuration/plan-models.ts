import { setImmediate } from 'node:timers/promises'
import { invalidValue } from '../../../kernel/app-error.ts'
import { giveCosts, withoutRates } from '../models/costs-of-routes.ts'
import type { AddedTogether } from '../models/model-change.ts'
import type { ModelChanges } from '../models/model-changes.ts'
import { isAsInFile, type OfferedModel, type OfferedPrice } from '../models/offered-model.ts'
import type { PlannedStep } from './planned-step.ts'
import { isSameValue } from './same-value.ts'
import type { WantedModel, WantedPrice } from './wanted-configuration.ts'

export interface ModelPlanning {
  readonly models: readonly OfferedModel[]
  /** The ids of those that end in the same change. */
  readonly removed: ReadonlySet<string>
  /** Those that were not withdrawn. */
  readonly prices: readonly OfferedPrice[]
  readonly changes: ModelChanges
  readonly together: AddedTogether
  readonly nowMs: number
  readonly authorKeyId: string | null
  readonly reason: string | null
}

const AT_ONCE = 50

/** Returns what makes the offered models the wanted ones. */
export async function planModels(
  wanted: readonly WantedModel[],
  { models, prices, changes, together, ...given }: ModelPlanning,
): Promise<readonly PlannedStep[]> {
  const { authorKeyId, reason, nowMs } = given
  const steps: PlannedStep[] = []
  const seen = new Set<string>()
  const known = new Map(models.map((model) => [model.id, model]))
  const pricesOf = Map.groupBy(prices, ({ model }) => model)
  for (const [index, { id, entry, price, visibility }] of wanted.entries()) {
    // Requests are served between parts of a long document.
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate()
    if (seen.has(id)) throw invalidValue(`models.${index}.id`, `The document has '${id}' twice.`)
    seen.add(id)
    const before = known.get(id)
    if (before === undefined) {
      const input = { id, entry, price, visibility, authorKeyId, reason }
      steps.push({ kind: 'model', action: 'create', name: id, change: await changes.add(input, together) })
      continue
    }
    const current = currentOf(pricesOf.get(id) ?? [], id, nowMs)
    const isPriced = isSameValue(current?.price, price)
    const beforeCosted = giveCosts(before.entry, current?.costs ?? [])
    if (isPriced && isSameValue(beforeCosted, entry) && isSameValue(before.visibility, visibility)) continue
    const removed = Object.keys(before.entry).filter((name) => !(name in entry))
    const patch = {
      entry: { ...entry, ...Object.fromEntries(removed.map((name) => [name, null])) },
      visibility,
      price: isPriced ? undefined : price,
      authorKeyId,
      reason,
    }
    const change = await changes.change(id, patch, together)
    steps.push({ kind: 'model', action: 'change', name: id, change })
  }
  for (const { id } of models)
    if (!seen.has(id))
      steps.push({ kind: 'model', action: 'delete', name: id, change: await changes.remove(id, together) })
  return steps
}

/** Returns what makes the prices of the future, and those of now that models of the file got, the wanted ones. */
export async function planPrices(
  wanted: readonly WantedPrice[],
  { models, removed, prices, changes, together, nowMs, authorKeyId, reason }: ModelPlanning,
): Promise<readonly PlannedStep[]> {
  const future = prices.filter(({ effectiveFromMs }) => effectiveFromMs > nowMs)
  const kept = new Set<OfferedPrice>()
  /** Models of the file that have a price of their own now. */
  const priced = new Set<string>()
  const added: PlannedStep[] = []
  for (const [index, { model, price, costs, effectiveFromMs }] of wanted.entries()) {
    if (effectiveFromMs === null) priced.add(model)
    const known =
      effectiveFromMs === null
        ? currentOf(prices, model, nowMs)
        : future.find((one) => one.model === model && one.effectiveFromMs === effectiveFromMs)
    if (effectiveFromMs === null && (together.models.has(model) || models.some(({ id }) => id === model)))
      throw invalidValue(`prices.${index}`, `The price of '${model}' now stands with the model itself.`)
    const isCosted = isSameValue((known?.costs ?? []).map(withoutRates), costs)
    const isPriced = isPricedAs(known, price)
    if (isPriced && isCosted) {
      if (known !== undefined) kept.add(known)
      continue
    }
    const input = { price: price ?? ('of-file' as const), costs, effectiveFromMs, authorKeyId, reason }
    const change = await changes.addPrice(model, input, together)
    added.push({ kind: 'price', action: 'create', name: model, change })
  }
  const current = [...new Set(prices.map(({ model }) => model))].flatMap((model) => {
    const one = changes.isOfFile(model) && !priced.has(model) ? currentOf(prices, model, nowMs) : undefined
    return one === undefined || isAsInFile(one) ? [] : [one]
  })
  const ended: PlannedStep[] = []
  for (const one of [...current, ...future])
    // Those of a model that is removed end with it.
    if (!kept.has(one) && !removed.has(one.model))
      ended.push({
        kind: 'price',
        action: 'delete',
        name: one.model,
        change: await changes.removePrice(one.model, one.version, { authorKeyId, reason }, together),
      })
  // One that takes the place of another comes after it.
  return [...ended, ...added]
}

/** Undefined: that of the file. */
function isPricedAs(known: OfferedPrice | undefined, price: WantedPrice['price']): boolean {
  if (price === undefined) return known?.isOfFile !== false
  return known?.isOfFile === false && isSameValue(known.price, price)
}

function currentOf(prices: readonly OfferedPrice[], model: string, nowMs: number): OfferedPrice | undefined {
  return prices
    .filter((one) => one.model === model && one.effectiveFromMs <= nowMs)
    .toSorted((left, right) => right.effectiveFromMs - left.effectiveFromMs)[0]
}
