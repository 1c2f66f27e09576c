import { AppError } from '../../../kernel/app-error.ts'
import type { Queryable } from '../../../storage/database.ts'
import type { ModelChanges } from '../models/model-changes.ts'
import { withoutRemoved } from '../models/read-models.ts'
import type { StoredOffer } from '../read-offer.ts'
import { planModels, planPrices, type ModelPlanning } from './plan-models.ts'
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
  readonly author: Pick<ModelPlanning, 'authorKeyId' | 'reason'>
  readonly change: (write: (transaction: Queryable) => Promise<bigint>) => Promise<bigint>
}

/** Compares what is offered with what is wanted. */
export async function planConfiguration(
  { providers, models, prices: wantedPrices }: WantedConfiguration,
  { stored, offer, nowMs, author, change }: PlanOptions,
): Promise<ConfigurationPlan> {
  const prices = withoutRemoved(stored.prices, stored.models)
  const living = stored.models.filter(({ removedAtMs }) => removedAtMs === null)
  const wanted = new Set(models?.map(({ id }) => id) ?? living.map(({ id }) => id))
  const planning: ModelPlanning = {
    ...author,
    nowMs,
    changes: offer.models,
    models: living,
    removed: new Set(living.flatMap(({ id }) => (wanted.has(id) ? [] : [id]))),
    prices: prices.filter(({ withdrawnAtMs }) => withdrawnAtMs === null),
    together: {
      stored: { models: stored.models, prices },
      providers: new Set(providers?.map(({ name }) => name)),
      models: new Map(models?.map(({ id, entry }) => [id, entry])),
    },
  }
  const steps = [
    ...(providers === undefined ? [] : await planProviders(providers, stored.providers, offer)),
    ...(models === undefined ? [] : await planModels(models, planning)),
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

async function requireUnchanged(transaction: Queryable, known: bigint): Promise<void> {
  const [row] = await transaction.query<{ version: bigint }>('SELECT version FROM offer_state FOR UPDATE')
  if (row?.version !== known)
    throw new AppError('conflict', 'Something was changed meanwhile. Look at the differences again.')
}
