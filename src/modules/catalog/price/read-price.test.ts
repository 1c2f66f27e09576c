import { expect, test } from 'vitest'
import { createCatalog } from '../catalog.ts'

const USD = 1_000_000_000n

test.each([
  ['Claude on Bedrock', 'bedrock', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0', USD / 10n],
  ['Nova on Bedrock', 'bedrock', 'eu.amazon.nova-pro-v1:0', USD],
  ['Claude on Vertex', 'vertex', 'claude-sonnet-4-5@20250929', USD / 10n],
  ['Gemini on Vertex', 'vertex', 'gemini-2.5-pro', USD],
])('%s has the cache prices that its publisher has, if its entry has none', (_, provider, model, cached) => {
  const price = { unit: 'token', input_usd_per_1m: 1, output_usd_per_1m: 10 }
  const entry = {
    id: 'x',
    name: 'x',
    vendor: 'x',
    category: 'llm',
    price,
    routes: [{ provider, model, cost: price }],
  }
  const { model: read } = createCatalog().checkEntry(entry)
  expect([read.price, read.routes[0]?.cost?.price]).toMatchObject(
    Array.from({ length: 2 }, () => ({ inputNanoUsdPer1m: USD, cachedInputNanoUsdPer1m: cached })),
  )
})
