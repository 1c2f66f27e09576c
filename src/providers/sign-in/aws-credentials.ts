import { isRecord } from '../../kernel/is-record.ts'
import { UpstreamError } from '../failures/upstream-error.ts'
import type { NetworkPath } from '../connection/network-path.ts'
import { createPathAgents } from './path-agents.ts'
import type { AwsCredentials } from './sign-aws-request.ts'
import type { SignInDocument } from './sign-in-document.ts'
import type { Expiring } from './token-keeper.ts'

interface CredentialContext {
  readonly provider: string
  readonly region: string
  readonly nowMs: number
  readonly path?: NetworkPath | undefined
}

/** What the packages of AWS resolve to. */
interface Resolved extends AwsCredentials {
  readonly expiration?: Date
}

/** A profile may change in its file, and says no end then. */
const PROFILE_LIFETIME_MS = 15 * 60_000
const SESSION_NAME = 'parkway'
const WAIT_MS_MAX = 5_000

/** Gets the credentials that a document describes. Throws only `UpstreamError`. */
export async function getAwsCredentials(
  document: SignInDocument,
  context: CredentialContext,
): Promise<Expiring<AwsCredentials>> {
  if (document.type === 'aws_keys') return { token: readKeys(document), lifetimeMs: null }
  let resolved: Resolved
  try {
    resolved = await resolve(document, context)
  } catch (error) {
    throw toSignInError(context.provider, error)
  }
  const { accessKeyId, secretAccessKey, sessionToken, expiration } = resolved
  return {
    token: { accessKeyId, secretAccessKey, ...(sessionToken === undefined ? {} : { sessionToken }) },
    lifetimeMs: expiration === undefined ? PROFILE_LIFETIME_MS : expiration.getTime() - context.nowMs,
  }
}

function readKeys(document: SignInDocument): AwsCredentials {
  const sessionToken = document.read('session_token')
  return {
    accessKeyId: document.read('access_key_id') ?? '',
    secretAccessKey: document.read('secret_access_key') ?? '',
    ...(sessionToken === undefined ? {} : { sessionToken }),
  }
}

/** Only the way that the document names is tried. */
async function resolve(document: SignInDocument, { region, path }: CredentialContext): Promise<Resolved> {
  const stsEndpoint = document.read('sts_endpoint')
  const requestHandler = createPathAgents(path)
  const clientConfig = {
    region,
    ...(stsEndpoint === undefined ? {} : { endpoint: stsEndpoint }),
    ...(requestHandler === undefined ? {} : { requestHandler }),
  }
  switch (document.type) {
    case 'aws_profile': {
      const { fromIni } = await import('@aws-sdk/credential-provider-ini')
      return fromIni({
        ignoreCache: true,
        clientConfig,
        ...present({
          profile: document.read('profile'),
          filepath: document.read('file'),
          configFilepath: document.read('config_file'),
        }),
      })()
    }
    case 'aws_web_identity': {
      const { fromTokenFile } = await import('@aws-sdk/credential-provider-web-identity')
      return fromTokenFile({
        roleArn: document.read('role_arn') ?? '',
        roleSessionName: document.read('session_name') ?? SESSION_NAME,
        webIdentityTokenFile: document.read('token_file') ?? '',
        clientConfig,
      })()
    }
    case 'aws_container': {
      const { fromHttp } = await import('@aws-sdk/credential-provider-http')
      return fromHttp({
        timeout: WAIT_MS_MAX,
        ...present({
          awsContainerCredentialsFullUri: document.read('uri'),
          awsContainerAuthorizationTokenFile: document.read('token_file'),
        }),
      })()
    }
    default: {
      const { fromInstanceMetadata } = await import('@smithy/credential-provider-imds')
      return fromInstanceMetadata({ timeout: WAIT_MS_MAX, ec2MetadataV1Disabled: true })()
    }
  }
}

function present(options: Readonly<Record<string, string | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}

/** Messages of AWS name accounts, roles and files, so only the kind of the error is kept. */
function toSignInError(provider: string, error: unknown): UpstreamError {
  const metadata = isRecord(error) ? error['$metadata'] : undefined
  const status = isRecord(metadata) ? Number(metadata['httpStatusCode']) : Number.NaN
  const isRefused = status >= 400 && status < 500 && status !== 429
  const name = error instanceof Error && /^\w{1,60}$/.test(error.name) ? error.name : 'Error'
  return new UpstreamError(
    `${provider} could not sign in (${name})`,
    isRefused || name === 'CredentialsProviderError'
      ? { failure: 'status', provider, status: 401 }
      : { failure: 'connect', provider },
  )
}
