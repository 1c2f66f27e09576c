import { expect, test } from 'vitest'
import { isAnthropicPath, isPlainPath, readOtherPaths } from './other-paths.ts'

const pathsOf = (path: string) => readOtherPaths(path).map(({ path: meant }) => meant)

test.each([
  ['/v1/models/', '/v1/models'],
  ['/chat/completions', '/v1/chat/completions'],
  ['/chat/completions/', '/v1/chat/completions'],
  ['/v1/v1/messages', '/v1/messages'],
  ['/openai/v1/responses', '/v1/responses'],
  ['/openai/responses', '/v1/responses'],
  ['/anthropic/messages', '/anthropic/v1/messages'],
])('%s may mean %s', (given, meant) => {
  expect(isPlainPath(given)).toBe(false)
  expect(pathsOf(given)).toContain(meant)
})

test('the path of a deployment names its model', () => {
  expect(readOtherPaths('/openai/deployments/vendor%2Fgpt/chat/completions')).toEqual([
    { path: '/v1/chat/completions', model: 'vendor/gpt' },
  ])
  expect(readOtherPaths('/openai/deployments/%E0%A4%A/chat/completions')).toEqual([])
})

test('a path of the API is not tried in other forms', () => {
  expect(isPlainPath('/v1/chat/completions')).toBe(true)
})

test.each([
  ['/v1/messages/batches', true],
  ['/v1/messages', true],
  ['/messages/batches', true],
  ['/anthropic/v1/files', true],
  ['/v1/messages-of-others', false],
  ['/v1/chat/completions', false],
])('errors of %s have Anthropic’s form: %s', (path, isAnthropic) => {
  expect(isAnthropicPath(path)).toBe(isAnthropic)
})
