import { readFileSync } from 'node:fs'
import type { AwsCredentials } from '../../providers/sign-in/sign-aws-request.ts'
import {
  createAwsSecretStore,
  createCertificateAuthorities,
  createSecretReferences,
  createVaultStore,
  type CertificateAuthorities,
  type SecretReferences,
  type SecretStore,
} from '../../modules/offer/offer.ts'
import { readAwsKeys } from './read-aws-keys.ts'
import { isOwnVariable, type Config } from '../settings/config.ts'

/** Where secrets are mounted, and kept in a vault, if the operator names no other place. */
const SECRET_DIRECTORIES = ['/run/secrets']
const VAULT_PATHS = ['secret/data/parkway/']

/** Builds what reads secrets that are kept elsewhere. */
export function buildSecretReferences(config: Config): SecretReferences {
  const { otherVariables } = config
  return createSecretReferences({
    readVariable: (name) => (isOwnVariable(name) ? null : { value: otherVariables.get(name) }),
    directories: listDirectories(config),
    stores: listStores(config),
  })
}

/** Certificates are read from the directories of secrets too. */
export function buildCertificateAuthorities(config: Config): CertificateAuthorities {
  return createCertificateAuthorities(listDirectories(config))
}

function listDirectories({ referenceDirectories }: Config): readonly string[] {
  return referenceDirectories.length === 0 ? SECRET_DIRECTORIES : referenceDirectories
}

function listStores(config: Config): SecretStore[] {
  return [openVault(config), openAwsSecrets(config)].filter((store) => store !== null)
}

function openVault(config: Config): SecretStore | null {
  const { vaultAddress, vaultNamespace, vaultPaths } = config
  if (vaultAddress === null) return null
  return createVaultStore({
    address: vaultAddress,
    readToken: () => readVaultToken(config),
    namespace: vaultNamespace,
    paths: vaultPaths.length === 0 ? VAULT_PATHS : vaultPaths,
  })
}

function openAwsSecrets(config: Config): SecretStore | null {
  const { awsSecretNames: names, awsSecretsEndpoint } = config
  const region = config.awsSecretsRegion ?? config.awsRegion
  if (names.length === 0 || region === null) return null
  const keys = readAwsKeys(config)
  return createAwsSecretStore({
    origin: new URL(awsSecretsEndpoint ?? `https://secretsmanager.${region}.amazonaws.com`).origin,
    region,
    getCredentials: keys === null ? createMachineCredentials() : () => Promise.resolve(keys),
    names,
  })
}

/** The ways of a machine to sign in: a role of the instance, the container or the Kubernetes service account, or a profile. */
function createMachineCredentials(): () => Promise<AwsCredentials> {
  let provider: Promise<() => Promise<AwsCredentials>> | null = null
  return async () => {
    // Keeps credentials until they end. Loaded on demand, because few gateways need it.
    provider ??= import('@aws-sdk/credential-provider-node').then(({ defaultProvider }) => defaultProvider())
    return (await provider)()
  }
}

function readVaultToken({ vaultToken, vaultTokenFile }: Config): string | null {
  if (vaultTokenFile === null) return vaultToken
  try {
    return readFileSync(vaultTokenFile, 'utf8').trim() || null
  } catch {
    return null
  }
}
