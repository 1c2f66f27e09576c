import { AppError, invalidValue, notFound } from '../../kernel/app-error.ts'
import type { Clock } from '../../kernel/clock.ts'
import { createRequestId } from '../../kernel/identifiers.ts'
import type { ProviderStatuses } from '../../http/routes/operator/admin-providers.ts'
import {
  CATEGORIES,
  type Catalog,
  type CatalogModel,
  type ModelRoute,
} from '../../modules/catalog/catalog.ts'
import { isProbeable, PROBED_CATEGORIES, probeProvider } from '../../modules/inference/inference.ts'
import type { Provider } from '../../providers/provider.ts'
import type { ProviderRegistry } from '../../providers/registry.ts'
import { VENDORS } from '../../providers/vendors.ts'
import type { Config } from '../settings/config.ts'
import { describeProvider, type ModelOfProvider } from './describe-provider.ts'
import type { ProcessReports } from './process-reports.ts'

interface ProviderStatusesOptions {
  readonly config: Pick<Config, 'providers'>
  readonly catalog: Catalog
  readonly providers: ProviderRegistry
  readonly reports: ProcessReports
  readonly clock: Clock
}

const TESTS_PER_MINUTE_MAX = 10
const MINUTE_MS = 60_000

export function createProviderStatuses(options: ProviderStatusesOptions): ProviderStatuses {
  const { config, catalog, providers, reports, clock } = options
  const ids = [...new Set([...config.providers.keys(), ...VENDORS.map(({ id }) => id)])]
  const requireTurn = createTestTurns()

  return {
    async list() {
      await reports.gather()
      const current = reports.list().flatMap((history) => history.slice(-1))
      const models = listAll(catalog)
      const described = ids.map((id) =>
        describeProvider({
          id,
          provider: providers.get(id),
          settings: config.providers.get(id),
          models: modelsOf(models, id),
          reports: current,
        }),
      )
      const isFirst = (status: { is_configured: boolean }) => (status.is_configured ? 0 : 1)
      return {
        statuses: described.toSorted((a, b) => isFirst(a) - isFirst(b)),
        processes: current.length,
      }
    },

    prepareTest(name, wanted) {
      if (!ids.includes(name)) throw notFound('provider')
      const provider = providers.get(name)
      if (provider?.isConfigured !== true)
        throw new AppError('provider_not_configured', `The provider '${name}' is not configured.`)
      const { model, route } = chooseModel(modelsOf(listAll(catalog), name), provider, wanted)
      requireTurn()
      return {
        model: model.id,
        upstreamModel: route.model,
        run: (cancellation) =>
          probeProvider({
            provider,
            model,
            upstreamModel: route.model,
            requestId: createRequestId(clock.nowMs()),
            cancellation,
          }),
      }
    },
  }
}

/** Each process has its own count. A test calls a vendor, which bills the operator. */
function createTestTurns(): () => void {
  const startedMs: number[] = []
  return () => {
    const nowMs = performance.now()
    while ((startedMs[0] ?? Infinity) <= nowMs - MINUTE_MS) startedMs.shift()
    const [oldest] = startedMs
    if (oldest !== undefined && startedMs.length >= TESTS_PER_MINUTE_MAX) {
      const retryAfterSeconds = Math.ceil((oldest + MINUTE_MS - nowMs) / 1000)
      const message = `At most ${TESTS_PER_MINUTE_MAX} test calls a minute. Try again in ${retryAfterSeconds} s.`
      throw new AppError('rate_limit_exceeded', message, { retryAfterSeconds })
    }
    startedMs.push(nowMs)
  }
}

function listAll(catalog: Catalog): CatalogModel[] {
  return CATEGORIES.flatMap((category) => catalog.list({ category, includeUnlisted: true }))
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
): { model: CatalogModel; route: ModelRoute } {
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
      `'${provider.id}' has no model here that can be tested for next to nothing: chat, embeddings, reranking or moderation.`,
    )
  return cheapest
}

function compareCost(a: CatalogModel, b: CatalogModel): number {
  const byCategory = PROBED_CATEGORIES.indexOf(a.category) - PROBED_CATEGORIES.indexOf(b.category)
  return byCategory === 0 ? Number(costOf(a) - costOf(b)) : byCategory
}

function costOf({ price }: CatalogModel): bigint {
  return price.unit === 'token' ? price.inputNanoUsdPer1m + price.outputNanoUsdPer1m : price.nanoUsdPerUnit
}
