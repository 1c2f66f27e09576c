import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createRequestId } from '../../kernel/identifiers.ts'
import type { Cancellation } from '../../kernel/cancellation.ts'
import type { ProviderStatuses } from '../../http/routes/operator/admin-providers.ts'
import type { ProviderStatus } from '../../http/routes/operator/provider-answer.ts'
import { CATEGORIES, type Catalog, type CatalogModel } from '../../modules/catalog/catalog.ts'
import { isProbeable, PROBED_CATEGORIES, probeProvider } from '../../modules/inference/inference.ts'
import type { Limits } from '../../modules/limits/limits.ts'
import type { Offer } from '../../modules/offer/offer.ts'
import type { ClosableProvider } from '../../providers/create-provider.ts'
import { UpstreamError } from '../../providers/failures/upstream-error.ts'
import { listModels, whyUnlisted } from '../../providers/list-models.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { VENDORS } from '../../providers/vendors.ts'
import type { Config } from '../settings/config.ts'
import { describeProvider, type ModelOfProvider } from './describe-provider.ts'
import { describeKeyLimits, listLimitedKeys, readSpent } from './describe-key-limits.ts'
import { describeVendors } from './describe-vendors.ts'
import type { ProcessReports } from './process-reports.ts'
import { createTestTurns } from './test-turns.ts'

interface ProviderStatusesOptions {
  readonly config: Pick<Config, 'providers'>
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly offer: Pick<Offer, 'listProviders' | 'listProblems' | 'openedSettingsOf'>
  readonly reports: ProcessReports
  readonly limits: Pick<Limits, 'providerKeys'>
  readonly clock: Clock
  /** What ends when the first provider is added. */
  readonly listFirstProviderEnds: () => Promise<readonly string[]>
}

export function createProviderStatuses(options: ProviderStatusesOptions): ProviderStatuses {
  const { config, catalog, providers, offer, reports, limits, clock } = options
  const requireTurn = createTestTurns()
  const listIds = (): string[] => [
    ...new Set([
      ...config.providers.keys(),
      ...offer.listProviders().map(({ name }) => name),
      ...VENDORS.map(({ id }) => id),
    ]),
  ]
  const requireKnown = (name: string): void => {
    if (!listIds().includes(name)) throw notFound('provider')
  }
  const describeAll = async (ids: readonly string[]): Promise<ProviderStatus[]> => {
    const current = reports.list().flatMap((history) => history.slice(-1))
    const models = listAll(catalog)
    const offered = new Map(offer.listProviders().map((one) => [one.name, one]))
    const limited = new Map(ids.map((id) => [id, listLimitedKeys(config.providers.get(id), offered.get(id))]))
    const spent = await readSpent([...limited.values()].flat(), limits)
    return ids.map((id) =>
      describeProvider({
        id,
        provider: providers.get(id),
        settings: config.providers.get(id),
        offered: offered.get(id),
        problems: offer.listProblems().filter(({ provider }) => provider === id),
        models: modelsOf(models, id),
        reports: current,
        limitedKeys: describeKeyLimits(limited.get(id) ?? [], { reports: current, spent }),
      }),
    )
  }
  const testOf = (
    name: string,
    provider: ClosableProvider,
    { model: wanted, upstreamModel }: { model?: string | undefined; upstreamModel?: string | undefined },
    routesOf: string,
  ) => {
    const chosen =
      upstreamModel === undefined
        ? chooseModel(modelsOf(listAll(catalog), routesOf), provider, wanted)
        : { model: { id: upstreamModel, category: 'llm' as const }, upstreamModel }
    requireTurn()
    return {
      model: chosen.model.id,
      upstreamModel: chosen.upstreamModel,
      run: (cancellation: Cancellation) =>
        probeProvider({ ...chosen, provider, requestId: createRequestId(clock.nowMs()), cancellation }),
    }
  }

  return {
    async list() {
      await reports.gather()
      const isFirst = (status: { is_configured: boolean }) => (status.is_configured ? 0 : 1)
      return {
        statuses: (await describeAll(listIds())).toSorted((a, b) => isFirst(a) - isFirst(b)),
        processes: reports.list().length,
        vendors: describeVendors(),
        firstProviderEnds: await options.listFirstProviderEnds(),
      }
    },

    async read(name) {
      requireKnown(name)
      await reports.gather()
      const [status] = await describeAll([name])
      if (status === undefined) throw notFound('provider')
      return status
    },

    prepareTest(name, wanted) {
      requireKnown(name)
      const provider = providers.get(name)
      if (provider?.isConfigured !== true) throw notConfigured(name)
      return testOf(name, provider, wanted, name)
    },

    prepareTestOf({ provider: draft, settings, problems }, wanted) {
      if (draft === null) throw notFound('provider')
      if (settings === null) throw cannotRead(problems[0]?.problem ?? 'it is switched off')
      const provider = providers.create(draft.name, settings)
      if (provider?.isConfigured !== true) throw notConfigured(draft.name)
      const hasOwnRoutes = modelsOf(listAll(catalog), draft.name).length > 0
      try {
        // A second provider of a vendor has the models of the first, whose names it takes over in routes of its own.
        const test = testOf(
          draft.name,
          provider,
          wanted,
          hasOwnRoutes ? draft.name : (draft.vendor ?? draft.name),
        )
        return {
          ...test,
          run: async (cancellation) => {
            try {
              return await test.run(cancellation)
            } finally {
              await provider.close?.()
            }
          },
        }
      } catch (error) {
        void provider.close?.()
        throw error
      }
    },

    async listModels(name, cancellation) {
      requireKnown(name)
      const settings = config.providers.get(name) ?? offer.openedSettingsOf(name)
      if (settings === undefined) throw notConfigured(name)
      const reason = whyUnlisted(name, settings)
      if (reason !== null)
        throw new AppError('invalid_request', `The models of '${name}' cannot be listed: ${reason}.`)
      requireTurn()
      try {
        return await listModels(name, settings, { clock, signal: cancellation.signal })
      } catch (error) {
        if (!(error instanceof UpstreamError) || cancellation.isCancelled) throw error
        throw new AppError('provider_error', `${error.message}.`)
      }
    },
  }
}

function notConfigured(name: string): AppError {
  return new AppError('provider_not_configured', `The provider '${name}' is not configured.`)
}

function cannotRead(problem: string): AppError {
  return new AppError('invalid_request', `The key cannot be read: ${problem}.`)
}

function listAll(catalog: Catalog): CatalogModel[] {
  return CATEGORIES.flatMap((category) =>
    catalog.list({ category, includeUnlisted: true, includeRestricted: true }),
  )
}

function modelsOf(models: readonly CatalogModel[], providerId: string): ModelOfProvider[] {
  return models.flatMap((model) =>
    model.routes.filter(({ provider }) => provider === providerId).map((route) => ({ model, route })),
  )
}

function chooseModel(
  served: readonly ModelOfProvider[],
  provider: Provider,
  wanted: string | undefined,
): { model: CatalogModel; upstreamModel: string } {
  const own = served.filter(
    ({ model }) => wanted === undefined || model.id === wanted || model.aliases.includes(wanted),
  )
  if (wanted !== undefined && own.length === 0)
    throw invalidValue('model', `'${wanted}' has no route to '${provider.id}'.`)
  const testable = own.filter(
    ({ model: { category } }) => PROBED_CATEGORIES.includes(category) && isProbeable(provider, category),
  )
  const [cheapest] = testable.toSorted((a, b) => compareCost(a.model, b.model))
  if (cheapest === undefined)
    throw new AppError(
      'invalid_request',
      `'${provider.id}' has no model here that can be tested for next to nothing: chat, embeddings, reranking or moderation. Name a chat model of it as upstream_model.`,
    )
  return { model: cheapest.model, upstreamModel: cheapest.route.model }
}

function compareCost(a: CatalogModel, b: CatalogModel): number {
  const byCategory = PROBED_CATEGORIES.indexOf(a.category) - PROBED_CATEGORIES.indexOf(b.category)
  return byCategory === 0 ? Number(costOf(a) - costOf(b)) : byCategory
}

function costOf({ price }: CatalogModel): bigint {
  return price.unit === 'token' ? price.inputNanoUsdPer1m + price.outputNanoUsdPer1m : price.nanoUsdPerUnit
}
