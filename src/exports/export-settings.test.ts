import { expect, test } from 'vitest'
import { parseExportSettings } from './export-settings.ts'

const S3 = { kind: 's3', url: 's3://logs/parkway?region=eu-central-1' }
const HOOK = { kind: 'webhook', url: 'https://siem.example.com/in', secret: 'env:SIEM' }
const KAFKA = { kind: 'kafka', brokers: ['kafka-1:9093'], topic: 'requests' }
const parse = (sinks: object) => parseExportSettings(JSON.stringify(sinks))

test('sinks of every kind are read as they are', () => {
  const sinks = {
    lake: { ...S3, format: 'parquet', collect_seconds: 300 },
    hook: { ...HOOK, requests: 'failed' },
    stream: { ...KAFKA, tls: true, mechanism: 'SCRAM-SHA-512', username: 'a', password: 'b' },
    otel: { kind: 'otlp', url: 'http://collector:4318', headers: { authorization: 'env:TOKEN' } },
  }
  expect(parse(sinks)).toEqual(sinks)
  expect(parse({})).toEqual({})
})

test.each<[string, object, RegExp]>([
  ['an unknown kind', { a: { kind: 'ftp' } }, /in a a kind: s3, otlp, webhook, kafka/],
  ['a misspelt member', { a: { ...HOOK, secrets: 'x' } }, /in a /],
  ['a name that is no label', { 'A b': HOOK }, /names of lower-case letters/],
  ['a bucket without its protocol', { a: { ...S3, url: 'https://logs' } }, /s3:\/\/bucket/],
  ['half of the credentials', { a: { ...S3, access_key_id: 'x' } }, /both access_key_id/],
  ['a user without a password', { a: { ...KAFKA, username: 'x' } }, /both username/],
  ['a broker without its port', { a: { ...KAFKA, brokers: ['kafka'] } }, /in a \/brokers\/0/],
  ['an address with a password', { a: { ...HOOK, url: 'https://u:p@siem' } }, /without a user/],
  ['an address of files', { a: { kind: 'otlp', url: 'file:///etc/passwd' } }, /http/],
  [
    'a header with a line break',
    { a: { kind: 'otlp', url: 'http://c', headers: { a: 'b\r\nc: d' } } },
    /in a \/headers/,
  ],
  ['too many sinks', Object.fromEntries('abcdefghi'.split('').map((name) => [name, HOOK])), /at most 8/],
])('%s is refused', (_, sinks, reason) => {
  expect(() => parse(sinks)).toThrow(reason)
  expect(() => parse(sinks)).toThrow(RangeError)
})

test('what is wrong is told without the secret', () => {
  try {
    parse({ a: { ...HOOK, url: 3, secret: 'whsec_hidden' } })
    expect.unreachable()
  } catch (error) {
    expect(String(error)).not.toContain('hidden')
  }
})

test.each(['', '[]', '3', '{'])('the text %j is refused', (text) => {
  expect(() => parseExportSettings(text)).toThrow(RangeError)
})
