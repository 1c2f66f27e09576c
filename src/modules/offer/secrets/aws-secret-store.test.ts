import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { createAwsSecretStore } from './aws-secret-store.ts'
import { SecretStoreAway } from './secret-store.ts'

const CREDENTIALS = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: 'of-a-session',
}
const REGION = 'eu-central-1'

/** Speaks the wire of Secrets Manager as AWS documents it, and checks signatures with its own computation. */
let server: Server
let secrets: Map<string, string>
let problem: string | null
let getCredentials: () => Promise<typeof CREDENTIALS>

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const reply = (status: number, answer: object): void => {
        response.writeHead(status, { 'content-type': 'application/x-amz-json-1.1' })
        response.end(JSON.stringify(answer))
      }
      if (!isSigned(request, body)) return reply(400, { __type: 'InvalidSignatureException', message: 'x' })
      if (problem !== null) return reply(400, { __type: `com.amazonaws#${problem}`, Message: 'arn:aws:1234' })
      const secret = secrets.get(JSON.parse(body).SecretId)
      return secret === undefined
        ? reply(400, { __type: 'ResourceNotFoundException', Message: 'no such secret' })
        : reply(200, { ARN: 'arn:aws:secretsmanager:1234', Name: 'n', SecretString: secret })
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
})
beforeEach(() => {
  secrets = new Map([
    ['parkway/openai', 'sk-in-aws'],
    ['parkway/many', JSON.stringify({ openai: 'sk-of-a-field', number: 7 })],
  ])
  problem = null
  getCredentials = () => Promise.resolve(CREDENTIALS)
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html */
function isSigned({ headers, method, url = '' }: IncomingMessage, body: string): boolean {
  const [, signed = '', signature] =
    /SignedHeaders=([^,]+), *Signature=([0-9a-f]{64})$/.exec(headers.authorization ?? '') ?? []
  const names = signed.split(';')
  const mustSign = ['host', 'x-amz-date', 'x-amz-security-token', 'x-amz-target']
  if (!mustSign.every((name) => names.includes(name))) return false
  const lines = names.map((name) => `${name}:${String(headers[name]).trim()}\n`).join('')
  const canonical = [method, url, '', lines, signed, hash(body)].join('\n')
  const time = String(headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${REGION}/secretsmanager/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', time, scope, hash(canonical)].join('\n')
  const key = [time.slice(0, 8), REGION, 'secretsmanager', 'aws4_request'].reduce<Buffer | string>(
    (previous, part) => createHmac('sha256', previous).update(part).digest(),
    `AWS4${CREDENTIALS.secretAccessKey}`,
  )
  return createHmac('sha256', key).update(toSign).digest('hex') === signature
}

const hash = (input: string) => createHash('sha256').update(input).digest('hex')

const open = (region = REGION) =>
  createAwsSecretStore({
    origin: `http://127.0.0.1:${(server.address() as AddressInfo | null)?.port ?? 0}`,
    region,
    getCredentials: () => getCredentials(),
    names: ['parkway/', 'one'],
  })

test.each([
  ['aws-sm:parkway/openai', { secret: 'sk-in-aws', problem: null }],
  ['aws-sm:parkway/many#openai', { secret: 'sk-of-a-field', problem: null }],
  ['aws-sm:parkway/many#number', { secret: null, problem: 'the secret in AWS has no such field' }],
  ['aws-sm:parkway/openai#field', { secret: null, problem: 'the secret in AWS has no such field' }],
  ['aws-sm:parkway/none', { secret: null, problem: 'there is no such secret in AWS' }],
])('%s is read with a signed request', async (reference, reading) => {
  expect(await open().read(reference)).toEqual(reading)
})

test('a refusal is told by its kind only, because messages of AWS name accounts', async () => {
  problem = 'AccessDeniedException'
  const failed: unknown = await open()
    .read('aws-sm:parkway/openai')
    .catch((error: unknown) => error)
  expect(failed).toBeInstanceOf(SecretStoreAway)
  expect(String(failed)).toContain('AWS does not give the secret (AccessDeniedException)')
})

test('a wrong region and missing credentials are told', async () => {
  await expect(open('us-east-1').read('aws-sm:parkway/openai')).rejects.toThrow('InvalidSignatureException')
  getCredentials = () => Promise.reject(new Error('no role'))
  await expect(open().read('aws-sm:parkway/openai')).rejects.toThrow('there are no credentials for AWS')
})

test.each([
  'aws-sm:other',
  'aws-sm:one/more',
  'aws-sm:',
  'aws-sm:parkway/a b',
  'aws-sm:parkway/a#b#c',
  'aws-sm:ones',
])('%s is no reference that operators may name', (reference) => {
  expect(open().findProblem(reference)).not.toBe(null)
})
