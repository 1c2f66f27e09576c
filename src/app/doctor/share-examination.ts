import type { Examination } from '../../http/routes/operator/admin-doctor.ts'
import type { Offer } from '../../modules/offer/offer.ts'
import type { Database } from '../../storage/database.ts'
import type { Metrics } from '../../telemetry/metrics.ts'
import { openArchiveStore } from '../../storage/archive/archive-store.ts'
import { archivePlaceOf } from '../build/archive-place.ts'
import { findSealer } from '../build/build-sealer.ts'
import type { Config } from '../settings/config.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'
import { describeUnreadable } from './look-without-gateway.ts'

/** An examination calls every provider, so that all who ask within this time share one. */
const SHARED_MS = 10_000

/** Returns a function that examines the running gateway. */
export function createExaminer(parts: {
  readonly config: Config
  readonly database: Database
  readonly metrics: Pick<Metrics, 'figures'>
  readonly offer: Pick<Offer, 'listProviders' | 'openedSettingsOf' | 'listProblems'>
}): () => Promise<Examination> {
  let shared: { readonly result: Promise<Examination>; readonly atMs: number } | null = null
  const run = async (): Promise<Examination> => {
    const { config, database, metrics, offer } = parts
    await using opened = new AsyncDisposableStack()
    const store = openArchiveStore(archivePlaceOf(config))
    opened.defer(() => store.close())
    const findings = await examine({
      config: { ...config, providers: listProviders(config, offer) },
      stored: { database, sealer: findSealer(config), store },
      known: [...listBreakers(metrics), ...describeUnreadable(offer.listProblems())],
    })
    return { findings, checkedAtMs: Date.now() }
  }
  return () => {
    if (shared === null || performance.now() - shared.atMs > SHARED_MS)
      shared = { result: run(), atMs: performance.now() }
    return shared.result
  }
}

function listBreakers(metrics: Pick<Metrics, 'figures'>): Finding[] {
  return metrics
    .figures()
    .breakers.filter(({ state }) => state === 'open')
    .map(({ provider, model }) => ({
      code: 'breaker_open',
      level: 'warning',
      subject: provider,
      message: `Most requests for '${model}' fail there, so other routes are used.`,
      mend: 'The live page shows its last failures. It closes by itself; a model with one route needs another one.',
    }))
}

/** Those of the settings, and those that operators added. */
function listProviders(
  { providers }: Pick<Config, 'providers'>,
  offer: Pick<Offer, 'listProviders' | 'openedSettingsOf'>,
): Config['providers'] {
  const offered = offer.listProviders().flatMap(({ name }) => {
    const settings = offer.openedSettingsOf(name)
    return settings === undefined ? [] : [[name, settings] as const]
  })
  return new Map([...providers, ...offered])
}
