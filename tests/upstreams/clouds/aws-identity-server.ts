import { ACCOUNT } from './bedrock-replies.ts'
import { json } from '../openai-server.ts'
import {
  startScriptedServer,
  type RecordedRequest,
  type ScriptedReply,
  type ScriptedServer,
} from '../scripted-server.ts'
import type { AwsIdentity } from './verify-sigv4.ts'

export const ROLE = `arn:aws:iam::${ACCOUNT}:role/gateway`
const METADATA_TOKEN = 'metadata-session-token'
export const POD_TOKEN = 'token-of-the-pod'

interface IdentityOptions {
  /** Where the keys that it issues become valid. */
  readonly identities: Map<string, AwsIdentity>
  readonly webToken: string
  /** The clock by which its keys end. */
  readonly nowMs?: () => number
}

const LIFETIME_MS = 60 * 60_000

/**
 * The ways by which AWS gives a machine temporary keys: STS (AssumeRoleWithWebIdentity), the container endpoint, and the instance
 * metadata service in version 2. From their pages in the documentation of AWS.
 */
export async function startAwsIdentityServer(options: IdentityOptions): Promise<ScriptedServer> {
  const { nowMs = Date.now } = options
  let count = 0
  return startScriptedServer((request) => {
    const issue = () => {
      count += 1
      const key = {
        accessKeyId: `ASIA000000000000000${count}`,
        secretAccessKey: `secret-of-session-${count}`,
        sessionToken: `session-${count}`,
        expiration: new Date(nowMs() + LIFETIME_MS).toISOString(),
      }
      options.identities.set(key.accessKeyId, { ...key, endsAtMs: Date.now() + LIFETIME_MS })
      return key
    }
    return answerIdentity(request, options.webToken, issue)
  })
}

interface IssuedKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken: string
  readonly expiration: string
}

function answerIdentity(
  { method, path, headers, text }: RecordedRequest,
  webToken: string,
  issue: () => IssuedKey,
): ScriptedReply {
  if (method === 'POST' && path === '/') return answerSts(new URLSearchParams(text), webToken, issue)
  if (path === '/latest/api/token' && method === 'PUT')
    return { headers: { 'content-type': 'text/plain' }, chunks: [METADATA_TOKEN] }
  if (path === '/v1/credentials')
    return headers['authorization'] === POD_TOKEN
      ? json(toJson(issue()))
      : json({ code: 'AccessDenied' }, 403)
  if (!path.startsWith('/latest/meta-data/iam/security-credentials/')) return json({}, 404)
  if (headers['x-aws-ec2-metadata-token'] !== METADATA_TOKEN) return json({}, 401)
  return path.endsWith('/gateway')
    ? json({ Code: 'Success', Type: 'AWS-HMAC', LastUpdated: new Date(0).toISOString(), ...toJson(issue()) })
    : { headers: { 'content-type': 'text/plain' }, chunks: ['gateway'] }
}

function toJson({ accessKeyId, secretAccessKey, sessionToken, expiration }: IssuedKey): object {
  return {
    AccessKeyId: accessKeyId,
    SecretAccessKey: secretAccessKey,
    Token: sessionToken,
    Expiration: expiration,
  }
}

function answerSts(form: URLSearchParams, webToken: string, issue: () => IssuedKey): ScriptedReply {
  const xml = (status: number, content: string): ScriptedReply => ({
    status,
    headers: { 'content-type': 'text/xml' },
    chunks: [content],
  })
  const isRole = form.get('Action') === 'AssumeRoleWithWebIdentity' && form.get('RoleArn') === ROLE
  if (!isRole || form.get('WebIdentityToken') !== webToken)
    return xml(
      400,
      `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>InvalidIdentityToken</Code><Message>The token for ${ROLE} is invalid</Message></Error><RequestId>r</RequestId></ErrorResponse>`,
    )
  const key = issue()
  return xml(
    200,
    `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><SubjectFromWebIdentityToken>s</SubjectFromWebIdentityToken><AssumedRoleUser><Arn>arn:aws:sts::${ACCOUNT}:assumed-role/gateway/parkway</Arn><AssumedRoleId>AROA:parkway</AssumedRoleId></AssumedRoleUser><Credentials><AccessKeyId>${key.accessKeyId}</AccessKeyId><SecretAccessKey>${key.secretAccessKey}</SecretAccessKey><SessionToken>${key.sessionToken}</SessionToken><Expiration>${key.expiration}</Expiration></Credentials></AssumeRoleWithWebIdentityResult><ResponseMetadata><RequestId>r</RequestId></ResponseMetadata></AssumeRoleWithWebIdentityResponse>`,
  )
}
