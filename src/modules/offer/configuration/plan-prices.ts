import { invalidValue } from '../../../kernel/app-error.ts'
import { costsInUse, isAsInFile, withoutRates } from '../models/costs-of-routes.ts'
import type { GivenCost, OfferedPrice } from '../models/offered-model.ts'
import type { ModelPlanning } from './plan-models.ts'
import type { PlannedStep } from './planned-step.ts'
import { isSameValue } from './same-value.ts'
import type { WantedPrice } from './wanted-configuration.ts'

/** Returns what makes the prices of the future, and those of now that models of the file got, the wanted ones. */
export async function planPrices(
  wanted: readonly WantedPrice[],
  { models, removed, lists, changes, together, author, turns }: ModelPlanning,
): Promise<readonly PlannedStep[]> {
  const kept = new Set<OfferedPrice>()
  /** Models of the file that have a price of their own now. */
  const priced = new Set<string>()
  const added: { readonly fromMs: number; readonly step: PlannedStep }[] = []
  for (const [index, { model, price, costs, effectiveFromMs }] of wanted.entries()) {
    if (turns.isOver) await turns.next()
    if (effectiveFromMs === null) priced.add(model)
    if (effectiveFromMs === null && (together.models.has(model) || models.has(model)))
      throw invalidValue(`prices.${index}`, `The price of '${model}' now stands with the model itself.`)
    const ofModel = lists.get(model)
    const known = effectiveFromMs === null ? ofModel?.current : ofModel?.future.get(effectiveFromMs)
    const entryOf = () => together.models.get(model) ?? models.get(model)?.entry ?? changes.fileEntryOf(model)
    const knownCosts = known === undefined ? [] : costsInUse(known, entryOf).map(withoutRates)
    if (isPricedAs(known, price) && (costs === undefined || isSameValue(knownCosts, costs))) {
      if (known !== undefined) kept.add(known)
      continue
    }
    const input = {
      ...author,
      price: price ?? ('of-file' as const),
      costs: costs ?? (known === undefined ? undefined : costsFor(price, knownCosts)),
      effectiveFromMs,
    }
    const change = await changes.addPrice(model, input, together)
    added.push({
      fromMs: effectiveFromMs ?? Number.NEGATIVE_INFINITY,
      step: { kind: 'price', action: 'create', name: model, change },
    })
  }
  const ended: PlannedStep[] = []
  for (const [model, { current, future }] of lists) {
    // Those of a model that is removed end with it.
    if (removed.has(model)) continue
    const ofFile = current === undefined || priced.has(model) ? null : changes.fileEntryOf(model)
    const isEnded = current !== undefined && ofFile !== null && !isAsInFile(current, ofFile)
    for (const one of [...(isEnded ? [current] : []), ...future.values()]) {
      if (turns.isOver) await turns.next()
      if (kept.has(one)) continue
      const change = await changes.removePrice(model, one.version, author, together)
      ended.push({ kind: 'price', action: 'delete', name: model, change })
    }
  }
  // One that takes the place of another comes after it, and one without costs has those of the one before.
  const inOrder = added.toSorted((left, right) => left.fromMs - right.fromMs)
  return [...ended, ...inOrder.map(({ step }) => step)]
}

/** Undefined: that of the file. */
function isPricedAs(known: OfferedPrice | undefined, price: WantedPrice['price']): boolean {
  if (price === undefined) return known?.isOfFile !== false
  return known?.isOfFile === false && isSameValue(known.price, price)
}

/** Costs in another unit than the price cannot be compared with it. */
function costsFor(price: WantedPrice['price'], costs: readonly GivenCost[]): readonly GivenCost[] {
  const areComparable =
    price === undefined || costs.every(({ cost }) => (cost['unit'] ?? null) === (price['unit'] ?? null))
  return areComparable ? costs : []
}
