import { UpstreamError } from '../failures/upstream-error.ts'
import type { AwsCredentials } from './sign-aws-request.ts'
import { createCredentialKeepers } from './credential-keepers.ts'
import { findMissing, readSignInDocument, type SignInDocument } from './sign-in-document.ts'
import type { SignIn, SignInKind, SignInOptions } from './sign-in.ts'

/**
 * Bearer keys of Bedrock, and requests signed with Signature Version 4.
 * https://docs.aws.amazon.com/bedrock/latest/userguide/api-keys-use.html
 * https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
 */
export const awsSignIn: SignInKind = {
  findProblem(document) {
    const members = MEMBERS.get(document.type)
    if (members === undefined)
      return `the type of its sign-in document is none of ${[...MEMBERS.keys()].join(', ')}`
    const region = document.read('region')
    if (region !== undefined && !REGION.test(region)) return 'region is not the name of a region'
    return findMissing(document, members)
  },
  needsMachine: ({ type }) => type !== 'aws_keys',
  create: createAwsSignIn,
}

/** The members that each type needs. */
const MEMBERS: ReadonlyMap<string, readonly string[]> = new Map([
  ['aws_keys', ['access_key_id', 'secret_access_key']],
  ['aws_profile', []],
  ['aws_web_identity', ['role_arn', 'token_file']],
  ['aws_container', []],
  ['aws_instance', []],
])
const REGION = /^[a-z]{2,4}(?:-[a-z0-9]{1,12}){1,4}$/
/** Also of endpoints within a network, `vpce-….bedrock-runtime.eu-west-1.vpce.amazonaws.com`. */
const REGION_OF_HOST = /(?:^|\.)bedrock(?:-runtime)?(?:-fips)?\.([a-z0-9-]+)\./

function createAwsSignIn({ provider, clock, path }: SignInOptions): SignIn {
  const keepers = createCredentialKeepers<AwsCredentials>(clock)
  return {
    async sign(credential, request) {
      const document = readSignInDocument(credential)
      if (document === null) return ['authorization', `Bearer ${credential}`]
      const region = regionOf(document, request.origin)
      if (region === undefined)
        throw new UpstreamError(
          `${provider}: neither its address nor its sign-in document names the region`,
          {
            failure: 'status',
            provider,
            status: 401,
          },
        )
      const [{ getAwsCredentials }, { signAwsRequest }] = await Promise.all([
        import('./aws-credentials.ts'),
        import('./sign-aws-request.ts'),
      ])
      const keeper = keepers.of(credential, () =>
        getAwsCredentials(document, { provider, region, nowMs: clock.nowMs(), path }),
      )
      const credentials = await keeper.take()
      return signAwsRequest(request, { service: 'bedrock', credentials, region, nowMs: clock.nowMs() })
    },
    forget: (credential, signed) => {
      // Keys of an account are not replaced by others.
      if (readSignInDocument(credential)?.type === 'aws_keys') return false
      const authorization = signed[signed.indexOf('authorization') + 1] ?? ''
      return keepers.forget(credential, ({ accessKeyId }) =>
        authorization.includes(`Credential=${accessKeyId}/`),
      )
    },
  }
}

function regionOf(document: SignInDocument, origin: string): string | undefined {
  return document.read('region') ?? REGION_OF_HOST.exec(new URL(origin).hostname)?.[1]
}
