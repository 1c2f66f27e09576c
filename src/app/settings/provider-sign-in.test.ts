import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readProviderSettings } from './provider-settings.ts'

const KEYS = { type: 'aws_keys', access_key_id: 'AKIA1', secret_access_key: 'secret' }
const ADDRESS = 'https://bedrock-runtime.eu-central-1.amazonaws.com'

function read(environment: Record<string, string>, file?: unknown) {
  const problems: string[] = []
  return { settings: readProviderSettings({ environment, file }, problems), problems }
}

test('a sign-in document comes from a variable, from a file that the variable names, or from the configuration file', () => {
  const path = join(mkdtempSync(join(tmpdir(), 'parkway-sign-in-')), 'document.json')
  writeFileSync(path, JSON.stringify(KEYS, null, 2))
  const all = [
    read({ BEDROCK_BASE_URL: ADDRESS, BEDROCK_SIGN_IN: JSON.stringify(KEYS) }),
    read({ BEDROCK_BASE_URL: ADDRESS, BEDROCK_SIGN_IN: path }),
    read({}, { bedrock: { base_url: ADDRESS, sign_in: KEYS } }),
  ]
  for (const { settings, problems } of all) {
    expect(problems).toEqual([])
    expect(settings.get('bedrock')).toMatchObject({ apiKeys: [JSON.stringify(KEYS)], baseUrl: ADDRESS })
  }
})

test.each([
  ['{"type": "aws_keys"}', 'lacks access_key_id'],
  ['{"type": "other"}', 'the type of its sign-in document'],
  ['nothing', 'neither a JSON object nor a file'],
  ['/nonexistent.json', 'neither a JSON object nor a file'],
])('the document %s is a problem that repeats no secret', (text, problem) => {
  const { problems } = read({ BEDROCK_BASE_URL: ADDRESS, BEDROCK_SIGN_IN: text })
  expect(problems).toEqual([expect.stringContaining(problem)])
})

test('a document in the variable of keys is a problem that names the right variable', () => {
  const { problems } = read({ BEDROCK_BASE_URL: ADDRESS, BEDROCK_API_KEY: JSON.stringify(KEYS) })
  expect(problems).toEqual([expect.stringContaining('it belongs into BEDROCK_SIGN_IN')])
})

test('a document for a vendor that has keys only is a problem', () => {
  const { problems } = read({}, { openai: { sign_in: KEYS } })
  expect(problems).toEqual([expect.stringContaining('has keys only')])
})

test('a key of a cloud without its address configures nothing, because other tools use the same variable', () => {
  expect(read({ AWS_BEARER_TOKEN_BEDROCK: 'key', AZURE_OPENAI_API_KEY: 'key' }).settings.size).toBe(0)
  expect(read({}, { azure: { api_key: 'key' } }).problems).toEqual([
    expect.stringContaining('needs base_url'),
  ])
})
