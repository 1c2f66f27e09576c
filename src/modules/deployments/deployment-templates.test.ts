import { expect, test } from 'vitest'
import { estimateMemory, fitOf } from '../../hub/estimate-memory.ts'
import { readModelShape } from '../../hub/model-shape.ts'
import { KNOWN_MODELS } from '../../hub/testing/known-models.ts'
import { SANDBOX_TIERS } from '../../gpu/sandbox/sandbox-tiers.ts'
import { DEPLOYMENT_TEMPLATES } from './deployment-templates.ts'

const measured = DEPLOYMENT_TEMPLATES.flatMap((template) => {
  const model = KNOWN_MODELS.find(({ id }) => id === template.huggingfaceId)
  return model === undefined ? [] : [{ template, model }]
})

test('there are at least twelve templates, for every purpose, and six use known models', () => {
  expect(DEPLOYMENT_TEMPLATES.length).toBeGreaterThanOrEqual(12)
  expect(measured.length).toBeGreaterThanOrEqual(6)
  const tags = new Set(DEPLOYMENT_TEMPLATES.flatMap((template) => template.tags))
  for (const tag of ['chat', 'code', 'reasoning', 'vision', 'multilingual', 'embeddings'])
    expect(tags).toContain(tag)
})

test.each(measured)('$template.id fits on its tier with its context', ({ template, model }) => {
  const shape = readModelShape(model.config)
  const tier = SANDBOX_TIERS.find(({ id }) => id === template.gpuTier)
  if (shape === null || tier === undefined) throw new Error('there are no facts')
  const weights = { parameters: model.parameters, bytes: model.parameters * 2 }
  const { quantization, maxModelLen: tokens } = template.defaults
  const need = estimateMemory(shape, weights, { quantization, tokens, gpuCount: tier.gpuCount })
  expect(fitOf(need, tier)).not.toBe('no')
})
