import { request } from 'undici'
import { isRecord } from '../../../kernel/is-record.ts'
import { signAwsRequest, type AwsCredentials } from '../../../providers/sign-in/sign-aws-request.ts'
import { checked, unreadable, type SecretReading } from './secret-reading.ts'
import { SecretStoreAway, type SecretStore } from './secret-store.ts'

interface AwsSecretOptions {
  /** Of the service, `https://secretsmanager.eu-west-1.amazonaws.com`. */
  readonly origin: string
  readonly region: string
  /** Rejects if there are none. They may end, so they are asked for each time. */
  readonly getCredentials: () => Promise<AwsCredentials>
  /** The names that secrets may be read from, with all that begin with those that end with a slash. */
  readonly names: readonly string[]
}

const PREFIX = 'aws-sm:'
/** https://docs.aws.amazon.com/secretsmanager/latest/apireference/API_CreateSecret.html names the characters. */
const REFERENCE = /^aws-sm:([\w/+=.@-]{1,512})(?:#([\w.-]{1,100}))?$/
const ANSWER_MS_MAX = 5_000
const ANSWER_BYTES_MAX = 256 * 1024

/** Reads secrets of AWS Secrets Manager: `aws-sm:name`, or `aws-sm:name#field` if the secret is a JSON object. */
export function createAwsSecretStore(options: AwsSecretOptions): SecretStore {
  const { names } = options
  return {
    prefix: PREFIX,
    form: 'aws-sm:name',
    findProblem: (reference) => {
      const name = REFERENCE.exec(reference)?.[1]
      if (name === undefined) return 'it is not aws-sm:name or aws-sm:name#field'
      const isAllowed = names.some((allowed) =>
        allowed.endsWith('/') ? name.startsWith(allowed) : name === allowed,
      )
      return isAllowed ? null : `the name is none of ${names.join(', ')}`
    },
    read: async (reference) => {
      const [, name = '', field] = REFERENCE.exec(reference) ?? []
      const secret = await ask(name, options)
      return secret === null ? unreadable('there is no such secret in AWS') : readField(secret, field)
    },
  }
}

/** Returns null if there is no such secret. */
async function ask(
  name: string,
  { origin, region, getCredentials }: AwsSecretOptions,
): Promise<string | null> {
  const credentials = await getCredentials().catch((cause: unknown) => {
    throw new SecretStoreAway('there are no credentials for AWS', { cause })
  })
  const body = JSON.stringify({ SecretId: name })
  const headers = {
    'content-type': 'application/x-amz-json-1.1',
    'x-amz-target': 'secretsmanager.GetSecretValue',
  }
  const signed = await signAwsRequest(
    { method: 'POST', origin, path: '/', body, headers },
    { service: 'secretsmanager', credentials, region, nowMs: Date.now() },
  )
  const { status, text } = await send(origin, body, signed)
  const answer = parse(text)
  if (status === 200 && typeof answer['SecretString'] === 'string') return answer['SecretString']
  // Messages of AWS name accounts and roles, so only the kind of the error is told.
  const kind =
    /(\w{1,60})$/.exec(JSON.stringify(answer['__type'] ?? '').replaceAll('"', ''))?.[1] ?? `status ${status}`
  if (kind === 'ResourceNotFoundException') return null
  throw new SecretStoreAway(`AWS does not give the secret (${kind})`)
}

async function send(
  origin: string,
  body: string,
  headers: readonly string[],
): Promise<{ readonly status: number; readonly text: string }> {
  try {
    const answer = await request(origin, {
      method: 'POST',
      headers: [...headers],
      body,
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    })
    const chunks: Buffer[] = []
    let bytes = 0
    for await (const chunk of answer.body) {
      bytes += chunk.length
      if (bytes > ANSWER_BYTES_MAX) throw new Error('the answer is too long')
      chunks.push(chunk)
    }
    return { status: answer.statusCode, text: Buffer.concat(chunks).toString('utf8') }
  } catch (cause) {
    throw new SecretStoreAway('AWS does not answer', { cause })
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const answer: unknown = JSON.parse(text)
    return isRecord(answer) ? answer : {}
  } catch {
    return {}
  }
}

function readField(secret: string, field: string | undefined): SecretReading {
  if (field === undefined) return checked(secret)
  const fields = parse(secret)
  const value = Object.hasOwn(fields, field) ? fields[field] : undefined
  return typeof value === 'string' ? checked(value) : unreadable('the secret in AWS has no such field')
}
