import { expect, it } from 'vitest'
import { createCatalog } from '../../modules/catalog/catalog.ts'
import { announce } from './announce.ts'
import { exampleModel } from '../build/example-model.ts'

const catalog = createCatalog({ now: () => 0 })

it.each([
  [['openai', 'anthropic'], 'openai'],
  [['anthropic'], 'anthropic'],
  [['groq'], 'groq'],
])('with %s configured, the printed first request uses a model of %s', (configured, provider) => {
  const model = exampleModel(catalog, (id) => configured.includes(id))
  expect(catalog.resolve(model)?.routes.map((route) => route.provider)).toContain(provider)
  const banner = announce({
    url: 'http://0.0.0.0:8080',
    bootstrapKey: null,
    signInCode: null,
    exampleModel: model,
    config: { bootstrapKey: null, role: 'all', publicUrl: null, providers: new Map() },
    startMs: 1,
  })
  expect(banner).toContain(`"model":"${model}"`)
})

it('the default model is used if a provider or the sandbox serves it', () => {
  expect(exampleModel(catalog, (id) => id === 'openai')).toBe('gpt-5.6-luna')
  expect(exampleModel(catalog, () => false)).toBe('gpt-5.6-luna')
})
