import type { SecretProblem } from '../../modules/offer/offer.ts'
import { openArchiveStore } from '../../storage/archive/archive-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { archivePlaceOf } from '../build/archive-place.ts'
import { findSealer } from '../build/build-sealer.ts'
import { openAllProviders } from '../build/open-all-providers.ts'
import type { Config } from '../settings/config.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'

/** Looks at everything with what a gateway that starts now would find, also at the providers that operators added. */
export async function lookWithoutGateway(config: Config, database: Queryable): Promise<Finding[]> {
  const sealer = findSealer(config)
  // The examination says why the database cannot be read.
  const opened = await openAllProviders(config, database, sealer).catch(() => null)
  const store = openArchiveStore(archivePlaceOf(config))
  try {
    return await examine({
      config: { ...config, providers: opened?.providers ?? config.providers },
      stored: { database, sealer, store },
      known: describeUnreadable(opened?.problems ?? []),
    })
  } finally {
    await store.close()
  }
}

/** Each secret of a provider that cannot be read. */
export function describeUnreadable(problems: readonly SecretProblem[]): Finding[] {
  return problems.map(({ provider, of, problem }) => ({
    code: 'provider_secret_unreadable',
    level: 'critical',
    subject: provider,
    message: `${NAMES[of]} cannot be read: ${problem}.`,
    mend: 'Enter it again in the console, or make the place readable where it is kept.',
  }))
}

const NAMES: Readonly<Record<SecretProblem['of'], string>> = {
  credential: 'One of its keys',
  headers: 'Its headers',
  proxy: 'The password of its proxy',
  certificate_authority: 'Its certificate authority',
}
