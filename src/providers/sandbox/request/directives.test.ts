import { readFileSync } from 'node:fs'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseDirectives } from './directives.ts'

const parse = (text: string) => parseDirectives(text).directives

test('a directive is read and removed from the text', () => {
  const { directives, remainingText } = parseDirectives('Hello [[sandbox:latency ms=500]]world')
  expect(directives.latencyMs).toBe(500)
  expect(remainingText).toBe('Hello world')
})

test('several directives work together', () => {
  const directives = parse(
    '[[sandbox:latency ms=5]][[sandbox:tokens n=200]] [[sandbox:pace tps=20]][[sandbox:usage none]]',
  )
  expect(directives).toMatchObject({
    latencyMs: 5,
    tokenCount: 200,
    tokensPerSecond: 20,
    isUsageHidden: true,
  })
})

test.for([
  ['error status=503 retry_after=2', { kind: 'error', status: 503, retryAfterSeconds: 2, code: null }],
  ['error status=429 code=slow_down', { kind: 'error', status: 429, code: 'slow_down' }],
  ['error status=500 times=2 key=run-1', { kind: 'error', attemptsMax: 2, attemptKey: 'run-1' }],
  ['refuse', { kind: 'refuse' }],
  ['hang', { kind: 'hang', afterChunks: null }],
  ['hang after=3', { kind: 'hang', afterChunks: 3 }],
  ['cut after=3', { kind: 'cut', afterChunks: 3 }],
  ['end after=0', { kind: 'end', afterChunks: 0 }],
  ['garbage after=2', { kind: 'garbage', afterChunks: 2 }],
  ['html', { kind: 'html', status: null }],
  ['html status=502', { kind: 'html', status: 502 }],
  ['empty', { kind: 'empty' }],
  ['error-body', { kind: 'error-body', afterChunks: null }],
  ['endless', { kind: 'endless' }],
  ['huge-line', { kind: 'huge-line', sizeBytes: 10 * 1024 * 1024 }],
] as const)('[[sandbox:%s]] is a fault', ([source, expected]) => {
  expect(parse(`[[sandbox:${source}]]`).fault).toMatchObject(expected)
})

test.for([
  'unknown',
  'constructor',
  'error',
  'error status=200',
  'error status=503 colour=red',
  'error status=503 status=504',
  'latency ms=-1',
  'latency ms=9999999999',
  'latency 500',
  'hang after=soon',
  'usage all',
  '',
])('[[sandbox:%s]] has no effect', (source) => {
  expect(parse(`[[sandbox:${source}]]`)).toEqual(parse(''))
})

test('echoed text is kept unchanged', () => {
  expect(parse('[[sandbox:echo  two  words=1\nand a line ]]').echoText).toBe('two  words=1\nand a line')
  expect(parse('[[sandbox:echo]]').echoText).toBe('')
})

test('the first of two faults counts', () => {
  expect(parse('[[sandbox:empty]][[sandbox:html]]').fault?.kind).toBe('empty')
})

test('any text is parsed, and text without a directive is unchanged', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (before, after) => {
      const { remainingText } = parseDirectives(`${before}[[sandbox:${after}`)
      expect(remainingText.length).toBeLessThanOrEqual(before.length + after.length + 10)
      expect(parseDirectives(before.replaceAll('[[', '')).remainingText).toBe(before.replaceAll('[[', ''))
    }),
  )
})

test('every directive in the documentation is understood', () => {
  const page = readFileSync(new URL('../../../../docs/sandbox.md', import.meta.url), 'utf8')
  const documented = page.match(/\[\[sandbox:[^\]]+\]\]/g) ?? []
  expect(documented.length).toBeGreaterThan(15)
  for (const directive of documented) expect(parse(directive), directive).not.toEqual(parse(''))
})
