import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { countTokens } from '../../kernel/tokens/count-tokens.ts'
import { createCatalog, type CatalogModel } from '../catalog/catalog.ts'
import { boundInputTokens, countInputTokens, refineInputTokens } from './input-tokens.ts'

const catalog = createCatalog({ now: () => 0 })
const models = catalog.list({ category: 'embedding' })
const modelOf = (id: string): CatalogModel => {
  const model = catalog.resolve(id)
  if (model === undefined) throw new Error(`no model '${id}'`)
  return model
}
const bytesOf = (input: unknown) => Buffer.byteLength(JSON.stringify({ model: 'm', input }))

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 300 })
const tokens = fc.array(fc.integer({ min: 0, max: 100_000 }), { minLength: 1, maxLength: 50 })
const input = fc.oneof(
  text,
  fc.array(text, { minLength: 1, maxLength: 5 }),
  tokens,
  fc.array(tokens, { minLength: 1, maxLength: 5 }),
)

describe('the tokens of an input', () => {
  test('are at most what is held, and the exact hold is at most the hold by bytes', () => {
    const small = modelOf('text-embedding-3-small')
    const exact = (value: string) => countTokens(value, 'cl100k')
    fc.assert(
      fc.property(input, (value) => {
        const bound = boundInputTokens(small, value, bytesOf(value))
        const refined = refineInputTokens(small, value, bytesOf(value))
        expect(refined).toBeLessThanOrEqual(bound)
        expect(countInputTokens(value, exact)).toBeLessThanOrEqual(refined)
      }),
      { numRuns: 60 },
    )
  })

  test('are more if the vendor has its own tokenizer', () => {
    const value = 'The committee met on 14 May 2026 to discuss the budget.'
    const refined = models.map((model) => [model.vendor, refineInputTokens(model, value, bytesOf(value))])
    const openAi = countTokens(value, 'cl100k')
    for (const [vendor, count] of refined) {
      if (vendor === 'OpenAI') expect(count).toBe(openAi)
      else expect(count).toBeGreaterThan(openAi * 1.5)
    }
  })

  test('are exact if token ids were sent', () => {
    const small = modelOf('text-embedding-3-small')
    expect(boundInputTokens(small, [[1, 2], [3]], 1000)).toBe(3)
    expect(refineInputTokens(small, [1, 2, 3, 4], 1000)).toBe(4)
    expect(countInputTokens([[1, 2], [3]], countTokens)).toBe(3)
  })

  test('the tokens of an input of megabytes are counted in bounded time', () => {
    let counted = 0
    const count = (piece: string) => {
      counted += piece.length
      return piece.length / 4
    }
    expect(countInputTokens('word '.repeat(1_000_000), count)).toBeCloseTo(1_250_000, -3)
    expect(counted).toBeLessThan(150_000)
  })
})
