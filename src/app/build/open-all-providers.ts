import type { Sealer } from '../../kernel/seal-text.ts'
import { openStoredProviders, type OpenedProviders } from '../../modules/offer/offer.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { Queryable } from '../../storage/database.ts'
import type { Config } from '../settings/config.ts'
import { buildCertificateAuthorities, buildSecretReferences } from './build-secret-references.ts'

/** Opens nothing that a gateway without a key could not open. */
const NO_KEY = { openBytes: () => null }

/** The providers of the settings and those that operators added, as a gateway would have them that starts now. */
export async function openAllProviders(
  config: Config,
  database: Queryable,
  sealer: Pick<Sealer, 'openBytes'> | null,
): Promise<{
  readonly providers: ReadonlyMap<string, ProviderSettings>
  readonly problems: OpenedProviders['problems']
}> {
  const { settings, problems } = await openStoredProviders(database, {
    sealer: sealer ?? NO_KEY,
    references: buildSecretReferences(config),
    authorities: buildCertificateAuthorities(config),
  })
  return { providers: new Map([...settings, ...config.providers]), problems }
}
