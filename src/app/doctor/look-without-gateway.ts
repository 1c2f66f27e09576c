import { openStoredProviders, type SecretProblem } from '../../modules/offer/offer.ts'
import { openArchiveStore } from '../../storage/archive/archive-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { archivePlaceOf } from '../build/archive-place.ts'
import { findSealer } from '../build/build-sealer.ts'
import { buildCertificateAuthorities, buildSecretReferences } from '../build/build-secret-references.ts'
import type { Config } from '../settings/config.ts'
import { examine } from './examine.ts'
import type { Finding } from './finding.ts'

/** Opens nothing that a gateway without a key could not open. */
const NO_KEY = { openBytes: () => null }

/** Looks at everything with what a gateway that starts now would find, also at the providers that operators added. */
export async function lookWithoutGateway(config: Config, database: Queryable): Promise<Finding[]> {
  const sealer = findSealer(config)
  // The examination says why the database cannot be read.
  const offered = await openStoredProviders(database, {
    sealer: sealer ?? NO_KEY,
    references: buildSecretReferences(config),
    authorities: buildCertificateAuthorities(config),
  }).catch(() => ({ settings: new Map<string, never>(), problems: [] }))
  const store = openArchiveStore(archivePlaceOf(config))
  try {
    return await examine({
      config: { ...config, providers: new Map([...offered.settings, ...config.providers]) },
      stored: { database, sealer, store },
      known: describeUnreadable(offered.problems),
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
