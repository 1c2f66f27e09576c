import { readFileSync } from 'node:fs'
import {
  createSecretReferences,
  createVaultStore,
  type SecretReferences,
  type SecretStore,
} from '../../modules/offer/offer.ts'
import { isOwnVariable, type Config } from '../settings/config.ts'

/** Where secrets are mounted, and kept in a vault, if the operator names no other place. */
const SECRET_DIRECTORIES = ['/run/secrets']
const VAULT_PATHS = ['secret/data/parkway/']

/** Builds what reads secrets that are kept elsewhere. */
export function buildSecretReferences(config: Config): SecretReferences {
  const { referenceDirectories, otherVariables } = config
  return createSecretReferences({
    readVariable: (name) => (isOwnVariable(name) ? null : { value: otherVariables.get(name) }),
    directories: referenceDirectories.length === 0 ? SECRET_DIRECTORIES : referenceDirectories,
    stores: listStores(config),
  })
}

function listStores(config: Config): SecretStore[] {
  const { vaultAddress, vaultNamespace, vaultPaths } = config
  if (vaultAddress === null) return []
  return [
    createVaultStore({
      address: vaultAddress,
      readToken: () => readVaultToken(config),
      namespace: vaultNamespace,
      paths: vaultPaths.length === 0 ? VAULT_PATHS : vaultPaths,
    }),
  ]
}

function readVaultToken({ vaultToken, vaultTokenFile }: Config): string | null {
  if (vaultTokenFile === null) return vaultToken
  try {
    return readFileSync(vaultTokenFile, 'utf8').trim() || null
  } catch {
    return null
  }
}
