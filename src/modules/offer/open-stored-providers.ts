import type { Sealer } from '../../kernel/seal-text.ts'
import type { ProviderSettings } from '../../providers/create-provider.ts'
import type { Queryable } from '../../storage/database.ts'
import type { CertificateAuthorities } from './network/certificate-authorities.ts'
import type { StoredProvider } from './offered-provider.ts'
import { openProvider, type SecretProblem } from './open-provider.ts'
import { readOffer } from './read-offer.ts'
import type { SecretReferences } from './secrets/secret-references.ts'

export interface OpenedProviders {
  /** Of the providers that a gateway would use, by name. */
  readonly settings: ReadonlyMap<string, ProviderSettings>
  readonly problems: readonly SecretProblem[]
}

interface OpenParts {
  readonly sealer: Pick<Sealer, 'openBytes'>
  readonly references: Pick<SecretReferences, 'read' | 'load'>
  readonly authorities: Pick<CertificateAuthorities, 'read'>
}

/** Reads the providers that operators added, once, as a gateway would that starts now. */
export async function openStoredProviders(queryable: Queryable, parts: OpenParts): Promise<OpenedProviders> {
  const { providers } = await readOffer(queryable)
  await parts.references.load(providers.flatMap(listReferences))
  const opened = providers.map((stored) => [stored.name, openProvider(stored, parts)] as const)
  return {
    settings: new Map(
      opened.flatMap(([name, { settings }]) => (settings === null ? [] : [[name, settings]])),
    ),
    problems: opened.flatMap(([, { problems }]) => problems),
  }
}

/** The places outside of the database that its secrets are read from. */
export function listReferences({ credentials, proxy }: StoredProvider): string[] {
  const references = [...credentials.map(({ reference }) => reference), proxy?.passwordReference ?? null]
  return references.filter((reference) => reference !== null)
}
