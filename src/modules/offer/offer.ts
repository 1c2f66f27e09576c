import { AppError, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import type { Logger } from '../../kernel/logger.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Database, Queryable } from '../../storage/database.ts'
import {
  createAdjustmentChanges,
  type AdjustmentChanges,
  type AdjustmentRules,
} from './adjustments/adjustment-changes.ts'
import type { OfferedAdjustment } from './adjustments/offered-adjustment.ts'
import { planConfiguration, type ConfigurationPlan } from './configuration/plan-configuration.ts'
import type { WantedConfiguration } from './configuration/wanted-configuration.ts'
import { describeChange, type ProviderDifference } from './describe-change.ts'
import { followOffer } from './follow-offer.ts'
import type { OfferedProvider, StoredProvider } from './offered-provider.ts'
import { createFilePriceKeeper } from './models/keep-file-prices.ts'
import { createModelChanges, type ModelChanges } from './models/model-changes.ts'
import type { ModelRules } from './models/model-rules.ts'
import type { OfferedModel, OfferedPrice } from './models/offered-model.ts'
import type { CertificateAuthorities } from './network/certificate-authorities.ts'
import { openProvider, type SecretProblem } from './open-provider.ts'
import { listReferences } from './open-stored-providers.ts'
import { changeProvider, prepareProvider } from './prepare-provider.ts'
import type { ProviderDraft, ProviderPatch } from './provider-draft.ts'
import { readOffer, type StoredOffer } from './read-offer.ts'
import type { SecretReferences } from './secrets/secret-references.ts'
import { deleteProvider, insertProvider, updateProvider } from './write-provider.ts'

export type { AdjustmentChange, AdjustmentInput, AdjustmentRules } from './adjustments/adjustment-changes.ts'
export type { OfferedAdjustment } from './adjustments/offered-adjustment.ts'
export type {
  WantedConfiguration,
  WantedModel,
  WantedProvider,
} from './configuration/wanted-configuration.ts'
export type { ModelChange } from './models/model-change.ts'
export type { ModelInput, ModelPatch } from './models/model-changes.ts'
export type { ModelRules } from './models/model-rules.ts'
export type { GivenCost, OfferedModel, OfferedPrice, OfferedVisibility } from './models/offered-model.ts'
export { costsInUse, giveCosts, isAsInFile, withoutRates } from './models/costs-of-routes.ts'
export { withoutRemoved } from './models/read-models.ts'
export { SEALED_PROVIDER_SECRETS, type OfferedProvider } from './offered-provider.ts'
export type { SecretProblem } from './open-provider.ts'
export { openStoredProviders, type OpenedProviders } from './open-stored-providers.ts'
export type { DraftCredential, NewCredential, ProviderDraft, ProviderPatch } from './provider-draft.ts'
export { createSecretReferences, type SecretReferences } from './secrets/secret-references.ts'
export {
  createCertificateAuthorities,
  type CertificateAuthorities,
} from './network/certificate-authorities.ts'
export type { SecretStore } from './secrets/secret-store.ts'
export { createAwsSecretStore } from './secrets/aws-secret-store.ts'
export { createVaultStore } from './secrets/vault-store.ts'

/** A change of a provider that is checked and not made yet. */
export interface ProviderChange {
  /** Null if the provider is removed. */
  readonly provider: OfferedProvider | null
  /** What differs, without secrets. */
  readonly difference: ProviderDifference
  /** With which the provider would work now. Null if it would not. */
  readonly settings: ProviderSettings | null
  readonly problems: readonly SecretProblem[]
  /** Writes the change, together with others. Returns the version of the offer. */
  write(transaction: Queryable): Promise<bigint>
  /** Makes the change. Returns when every process uses it. */
  make(): Promise<void>
}

/** What operators added while the gateway runs. Every process uses one version of all of it at a time. */
export interface Offer {
  readonly version: bigint
  listProviders(): readonly OfferedProvider[]
  /** The settings of a provider with its secrets, if this process uses it. */
  openedSettingsOf(name: string): ProviderSettings | undefined
  /** Secrets that this process cannot read now. */
  listProblems(): readonly SecretProblem[]
  /** Whether a provider is offered, as the database says, not only this process. */
  hasProviders(): Promise<boolean>
  /** The same, as this process last heard. */
  knowsProviders(): boolean
  addProvider(draft: ProviderDraft): Promise<ProviderChange>
  changeProvider(name: string, patch: ProviderPatch): Promise<ProviderChange>
  removeProvider(name: string): Promise<ProviderChange>
  readonly models: ModelChanges
  readonly adjustments: AdjustmentChanges
  /** Compares everything with what an operator wants. Nothing is changed yet. Throws for what cannot be. */
  planConfiguration(
    wanted: WantedConfiguration,
    author: { readonly authorKeyId: string | null; readonly reason: string | null },
  ): Promise<ConfigurationPlan>
  /** Everything that operators added, in one state of the database. */
  readAll(): Promise<StoredOffer>
  close(): void
}

interface OfferOptions {
  readonly database: Database
  readonly messageBus: Pick<MessageBus, 'subscribe' | 'publishAndConfirm'>
  readonly clock: Clock
  readonly logger: Logger
  readonly sealer: Sealer
  readonly references: SecretReferences
  readonly authorities: CertificateAuthorities
  /** Names that the configuration has taken. */
  readonly isTaken: (name: string) => boolean
  /** Called with all providers at once, whenever one of them changed. */
  readonly useProviders: (settings: ReadonlyMap<string, ProviderSettings>) => void
  /** Called with all models and their prices at once, in the same turn as `useProviders`. */
  readonly useModels: (offer: {
    readonly models: readonly OfferedModel[]
    readonly prices: readonly OfferedPrice[]
    readonly adjustments: readonly OfferedAdjustment[]
  }) => void
  readonly modelRules: ModelRules & AdjustmentRules
  /** The price lists of the catalog file, by version. */
  readonly listFilePrices: () => ReadonlyMap<string, unknown>
}

export async function createOffer(options: OfferOptions): Promise<Offer> {
  const { database, clock, references, authorities } = options
  let problems: readonly SecretProblem[] = []
  let settings: ReadonlyMap<string, ProviderSettings> = new Map()

  const use = ({ providers, models, prices, adjustments }: StoredOffer): void => {
    references.keep(new Set(providers.flatMap(listReferences)))
    authorities.keep(new Set(providers.flatMap(({ certificateAuthority: one }) => one ?? [])))
    const opened = providers.map((stored) => [stored.name, openProvider(stored, options)] as const)
    problems = opened.flatMap(([, one]) => one.problems)
    settings = new Map(opened.flatMap(([name, one]) => (one.settings === null ? [] : [[name, one.settings]])))
    options.useProviders(settings)
    options.useModels({ models, prices, adjustments })
  }
  const keepFilePrices = createFilePriceKeeper(options)
  await keepFilePrices()
  const followed = await followOffer({
    ...options,
    prepare: ({ providers }) => references.load(providers.flatMap(listReferences)),
    use,
    onTick: async () => {
      const hasOtherAuthorities = authorities.refresh()
      if (references.refresh() || hasOtherAuthorities) use(followed.current)
      await keepFilePrices()
    },
  })

  const change = async (write: (transaction: Queryable) => Promise<bigint>): Promise<bigint> => {
    const version = await database.transaction(write)
    await followed.announce(version)
    return version
  }
  const plan = async (
    before: StoredProvider | null,
    after: StoredProvider | null,
    write: (transaction: Queryable) => Promise<bigint>,
  ): Promise<ProviderChange> => {
    if (after !== null) await references.load(listReferences(after))
    const opened = after === null ? { settings: null, problems: [] } : openProvider(after, options)
    return {
      ...opened,
      provider: after,
      difference: describeChange(before, after),
      write,
      make: async () => void (await change(write)),
    }
  }
  /** Read from the database, because another process may just have changed it. */
  const readStored = async (name: string): Promise<StoredProvider> => {
    const { providers } = await readOffer(database)
    const stored = providers.find((one) => one.name === name)
    if (stored !== undefined) return stored
    throw options.isTaken(name) ? fixedByFile(name) : notFound('provider')
  }
  const preparing = () => ({ ...options, nowMs: clock.nowMs() })

  const offer: Offer = {
    get version() {
      return followed.current.version
    },
    listProviders: () => followed.current.providers,
    openedSettingsOf: (name) => settings.get(name),
    listProblems: () => problems,
    hasProviders: async () => (await readOffer(database)).providers.some(({ isEnabled }) => isEnabled),
    knowsProviders: () => followed.current.providers.some(({ isEnabled }) => isEnabled),
    addProvider: async (draft) => {
      const provider = prepareProvider(draft, preparing())
      if (options.isTaken(draft.name)) throw fixedByFile(draft.name)
      return plan(null, provider, (transaction) => insertProvider(transaction, provider))
    },
    changeProvider: async (name, patch) => {
      const before = await readStored(name)
      const after = changeProvider(before, patch, preparing())
      return plan(before, after, (transaction) => updateProvider(transaction, after))
    },
    removeProvider: async (name) => {
      const before = await readStored(name)
      return plan(before, null, (transaction) => deleteProvider(transaction, before))
    },
    models: createModelChanges({
      database,
      clock,
      rules: options.modelRules,
      change,
      current: () => followed.current.models,
    }),
    adjustments: createAdjustmentChanges({ database, clock, rules: options.modelRules, change }),
    planConfiguration: async (wanted, author) =>
      planConfiguration(wanted, {
        stored: await readOffer(database),
        offer,
        nowMs: clock.nowMs(),
        author,
        change,
      }),
    readAll: () => readOffer(database),
    close: () => followed.close(),
  }
  return offer
}

function fixedByFile(name: string): AppError {
  return new AppError(
    'conflict',
    `The provider '${name}' is set in the environment or the configuration file of the gateway, and can only be changed there.`,
  )
}
