import type { Clock } from '../../kernel/clock.ts'
import type { Sealer } from '../../kernel/seal-text.ts'
import type { Billing } from '../../modules/billing/billing.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import { createOffer, type Offer } from '../../modules/offer/offer.ts'
import { createProviderRegistry, type ProviderRegistry } from '../../providers/registry.ts'
import { createSandboxProvider } from '../../providers/sandbox/sandbox.ts'
import type { MessageBus } from '../../storage/bus/message-bus.ts'
import type { Database } from '../../storage/database.ts'
import type { GatewayLogger } from '../../telemetry/logger.ts'
import type { Config } from '../settings/config.ts'
import { buildCertificateAuthorities, buildSecretReferences } from './build-secret-references.ts'
import { createModelRules, type OfferedCatalog } from './model-rules.ts'

interface OfferParts {
  readonly database: Database
  readonly messageBus: MessageBus
  readonly clock: Clock
  readonly logger: GatewayLogger
  readonly sealer: Sealer
  readonly catalog: OfferedCatalog
  readonly limits: Pick<Limits, 'providerKeys'>
}

/** Requests that began before a provider was removed end within this time of their longest duration. */
const RETIRE_MARGIN_MS = 60_000

/** Builds the providers: those of the configuration, and those that operators change while the gateway runs. */
export async function buildOffer(
  config: Config,
  { clock, catalog, limits, ...parts }: OfferParts,
  opened: AsyncDisposableStack,
): Promise<{ providers: ProviderRegistry; offer: Offer }> {
  const providers = createProviderRegistry({
    settings: config.providers,
    sandbox: createSandboxProvider({
      paceTokensPerSecond: config.sandboxTokensPerSecond,
      jobDurationMs: config.sandboxJobMs,
      clock,
    }),
    clock,
    connectTimeoutMs: config.upstreamConnectTimeoutMs,
    allowanceOf: limits.providerKeys.allowanceOf,
    retireMs: config.streamDurationMsMax + RETIRE_MARGIN_MS,
  })
  opened.defer(() => providers.close())
  const offer = await createOffer({
    ...parts,
    clock,
    references: buildSecretReferences(config),
    authorities: buildCertificateAuthorities(config),
    isTaken: (name) => providers.isFixed(name),
    useProviders: (settings) => {
      // The cache prices of a model may come from the vendors of its routes.
      if (providers.replace(settings)) catalog.refresh()
    },
    useModels: (offered) => catalog.useOffer(offered),
    listFilePrices: () => catalog.listFilePrices(),
    modelRules: createModelRules(catalog, { isProvider: (id) => providers.get(id) !== undefined, clock }),
  })
  opened.defer(() => offer.close())
  return { providers, offer }
}

/** Whether real providers are configured, as this process knows. */
export function hasProviders(
  config: Pick<Config, 'providers'>,
  offer: Pick<Offer, 'knowsProviders'>,
): boolean {
  return config.providers.size > 0 || offer.knowsProviders()
}

/** Says what ends when the first real provider is added. Empty if there is one. */
export async function listFirstProviderEnds(
  config: Config,
  { offer, billing }: { offer: Pick<Offer, 'knowsProviders'>; billing: Pick<Billing, 'describeOffer'> },
): Promise<string[]> {
  if (hasProviders(config, offer)) return []
  const { isTestMode, problem } = await billing.describeOffer()
  return [
    ...(config.sandbox === 'auto' ? [SANDBOX_ENDS] : []),
    ...(config.billing && isTestMode && problem === null && !config.allowTestCheckout ? [CHECKOUT_ENDS] : []),
  ]
}

/** What is wrong with secrets, without names: anybody may read it. */
export function listWarnings(offer: Pick<Offer, 'listProblems'>): string[] {
  const { length } = offer.listProblems()
  if (length === 0) return []
  const what = length === 1 ? '1 secret of a provider cannot' : `${length} secrets of providers cannot`
  return [`${what} be read. GET /v1/admin/providers says which.`]
}

const SANDBOX_ENDS =
  'The sandbox answers only dev and test keys of operators, where a model has no provider. PARKWAY_SANDBOX changes that.'
const CHECKOUT_ENDS =
  'The test checkout closes, so that credit which nobody paid for is not spent on real models. Configure Stripe to take payments.'

/** The same, as the database says: another process may just have added the first one. */
export function servesRealModels(
  config: Pick<Config, 'providers'>,
  offer: Pick<Offer, 'hasProviders'>,
): () => Promise<boolean> {
  return async () => config.providers.size > 0 || offer.hasProviders()
}

/** Returns where providers promise to work, as one text each. Those that promise nothing are absent. */
export function listRegions(offer: Pick<Offer, 'listProviders'>): ReadonlyMap<string, string> {
  return new Map(
    offer
      .listProviders()
      .filter(({ regions }) => regions.length > 0)
      .map(({ name, regions }) => [name, regions.toSorted().join(', ')]),
  )
}
