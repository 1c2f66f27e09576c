import { afterEach, expect, test, vi } from 'vitest'
import { startAwsIdentityServer } from '../../../tests/upstreams/clouds/aws-identity-server.ts'
import type { AwsIdentity } from '../../../tests/upstreams/clouds/verify-sigv4.ts'
import { getAwsCredentials } from './aws-credentials.ts'
import { readSignInDocument } from './sign-in-document.ts'

afterEach(() => void vi.unstubAllEnvs())

const context = { provider: 'bedrock', region: 'eu-central-1', nowMs: Date.now() }
const get = (document: object) => {
  const read = readSignInDocument(JSON.stringify(document))
  if (read === null) throw new TypeError('not a document')
  return getAwsCredentials(read, context)
}

test('the role of an instance comes from its metadata service in version 2', async () => {
  const identities = new Map<string, AwsIdentity>()
  const server = await startAwsIdentityServer({ identities, webToken: 'none' })
  vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', server.baseUrl)
  const { token, lifetimeMs } = await get({ type: 'aws_instance' })
  expect(identities.get(token.accessKeyId)).toMatchObject({ sessionToken: token.sessionToken })
  expect(lifetimeMs).toBeGreaterThan(50 * 60_000)
  expect(server.requests.map(({ method }) => method)).toContain('PUT')
  await server.close()
})

test('keys that are not named are not looked for, wherever the machine has some', async () => {
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIAOFTHEMACHINE')
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'secret-of-the-machine')
  const failure = get({
    type: 'aws_profile',
    profile: 'team',
    file: '/nonexistent',
    config_file: '/nonexistent',
  })
  await expect(failure).rejects.toMatchObject({ details: { status: 401 } })
})

test('a refused sign-in names neither the role nor the account', async () => {
  const server = await startAwsIdentityServer({ identities: new Map(), webToken: 'none' })
  const role = 'arn:aws:iam::123456789012:role/other'
  const failure = get({
    type: 'aws_web_identity',
    role_arn: role,
    token_file: import.meta.filename,
    sts_endpoint: server.baseUrl,
  })
  await expect(failure).rejects.toMatchObject({
    message: expect.not.stringMatching(/123456789012|role/),
    details: { status: 401 },
  })
  await server.close()
})
