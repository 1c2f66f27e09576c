import { expect, test } from 'vitest'
import { estimateMemory, fitOf } from '../../../hub/estimate-memory.ts'
import { readModelShape } from '../../../hub/model-shape.ts'
import { KNOWN_MODELS } from '../../../hub/testing/known-models.ts'
import { SANDBOX_TIERS } from '../../../gpu/sandbox/sandbox-tiers.ts'
import { DEPLOYMENT_TEMPLATES } from './deployment-templates.ts'

const measured = DEPLOYMENT_TEMPLATES.map((template) => ({
  template,
  model: KNOWN_MODELS.find(({ id }) => id === template.huggingfaceId),
  tier: SANDBOX_TIERS.find(({ id }) => id === template.gpuTier),
}))

test('there are at least twelve templates, for every purpose, and their ids differ', () => {
  expect(DEPLOYMENT_TEMPLATES.length).toBeGreaterThanOrEqual(12)
  expect(new Set(DEPLOYMENT_TEMPLATES.map(({ id }) => id)).size).toBe(DEPLOYMENT_TEMPLATES.length)
  const tags = new Set(DEPLOYMENT_TEMPLATES.flatMap((template) => template.tags))
  for (const tag of ['chat', 'code', 'reasoning', 'vision', 'multilingual', 'embeddings'])
    expect(tags).toContain(tag)
})

test.each(measured)('$template.id fits on its tier with its context', ({ template, model, tier }) => {
  const shape = readModelShape(model?.config)
  if (model === undefined || shape === null || tier === undefined) throw new Error('there are no facts')
  const weights = { parameters: model.parameters, bytes: model.storedBytes }
  const { quantization, maxModelLen: tokens } = template.defaults
  expect(tokens).toBeLessThanOrEqual(shape.contextMax ?? 0)
  const need = estimateMemory(shape, weights, { quantization, tokens, gpuCount: tier.gpuCount })
  expect(fitOf(need, tier)).toBe('fits')
})
