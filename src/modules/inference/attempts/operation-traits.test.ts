import { expect, it } from 'vitest'
import { demandOf } from './operation-traits.ts'

it.each([
  ['chat', { max_completion_tokens: 10, max_tokens: 99, n: 2 }, 100 + 20],
  ['messages', { max_tokens: 30 }, 100 + 30],
  ['responses', { max_output_tokens: 50 }, 100 + 50],
  ['chat', { max_tokens: null }, 100 + 1024],
  ['embedding', { n: 7, max_tokens: 7 }, 100],
  ['rerank', {}, 0],
] as const)('the token estimate of %s with %j', (operation, asked, tokens) => {
  expect(demandOf(operation, asked, 400).tokens).toBe(tokens)
})
