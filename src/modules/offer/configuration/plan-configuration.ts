import { AppError } from '../../../kernel/app-error.ts'
import { ShortTurns } from '../../../kernel/turns/short-turns.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { ModelChanges } from '../models/model-changes.ts'
import type { OfferedPrice } from '../models/offered-model.ts'
import type { Author } from '../models/price-changes.ts'
import { withoutRemoved } from '../models/read-models.ts'
import type { StoredOffer } from '../read-offer.ts'
import { planModels, type ListsOfModel, type ModelPlanning } from './plan-models.ts'
import { planPrices } from './plan-prices.ts'
import { planProviders, type ProviderChanges } from './plan-providers.ts'
import type { PlannedStep } from './planned-step.ts'
import type { WantedConfiguration } from './wanted-configuration.ts'

/** Changes that are checked, and made all together or not at all. */
export interface ConfigurationPlan {
  /** The state that was compared. */
  readonly version: bigint
  readonly steps: readonly PlannedStep[]
  /** Makes all changes. Returns when every process uses them. Throws `conflict` if anything was changed since it was compared. */
  make(): Promise<bigint>
}

interface PlanOptions {
  readonly stored: StoredOffer
  readonly offer: ProviderChanges & { readonly models: ModelChanges }
  readonly nowMs: number
  readonly author: Author
  readonly change: (write: (transaction: Queryable) => Promise<bigint>) => Promise<bigint>
}

/** Compares what is offered with what is wanted. */
export async function planConfiguration(
  { providers, models: wantedModels, prices: wantedPrices }: WantedConfiguration,
  { stored, offer, nowMs, author, change }: PlanOptions,
): Promise<ConfigurationPlan> {
  const models = new Map(
    stored.models.flatMap((model) => (model.removedAtMs === null ? [[model.id, model] as const] : [])),
  )
  const prices = Map.groupBy(withoutRemoved(stored.prices, stored.models), ({ model }) => model)
  for (const list of prices.values()) list.sort((left, right) => right.effectiveFromMs - left.effectiveFromMs)
  const wanted = wantedModels && new Set(wantedModels.map(({ id }) => id))
  const planning: ModelPlanning = {
    author,
    changes: offer.models,
    models,
    removed: new Set([...models.keys()].filter((id) => wanted?.has(id) === false)),
    lists: new Map([...prices].map(([model, list]) => [model, splitByNow(list, nowMs)])),
    together: {
      stored: { models, prices },
      providers: new Set(providers?.map(({ name }) => name)),
      models: new Map(wantedModels?.map(({ id, entry }) => [id, entry])),
    },
    turns: new ShortTurns(),
  }
  const steps = [
    ...(providers === undefined ? [] : await planProviders(providers, stored.providers, offer)),
    ...(wantedModels === undefined ? [] : await planModels(wantedModels, planning)),
    ...(wantedPrices === undefined ? [] : await planPrices(wantedPrices, planning)),
  ]
  return {
    version: stored.version,
    steps,
    make: async () => {
      if (steps.length === 0) return stored.version
      return change(async (transaction) => {
        await requireUnchanged(transaction, stored.version)
        let version = stored.version
        for (const step of steps) version = await step.change.write(transaction)
        return version
      })
    },
  }
}

/** The latest is the first. */
function splitByNow(prices: readonly OfferedPrice[], nowMs: number): ListsOfModel {
  const charged = prices.filter(({ withdrawnAtMs }) => withdrawnAtMs === null)
  const future = charged.filter(({ effectiveFromMs }) => effectiveFromMs > nowMs)
  return {
    current: charged.find(({ effectiveFromMs }) => effectiveFromMs <= nowMs),
    future: new Map(future.toReversed().map((price) => [price.effectiveFromMs, price])),
  }
}

async function requireUnchanged(transaction: Queryable, known: bigint): Promise<void> {
  const [row] = await transaction.query<{ version: bigint }>('SELECT version FROM offer_state FOR UPDATE')
  if (row?.version !== known)
    throw new AppError('conflict', 'Something was changed meanwhile. Look at the differences again.')
}
