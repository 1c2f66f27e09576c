import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import type { FetchedModel, ModelFiles } from '../../src/gpu/model-files.ts'
import { findTree } from '../../src/gpu/local/process-tree.ts'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { eventually } from '../support/eventually.ts'
import { createLocalStage, type LocalStage } from './local-stage.ts'
import { createModelsDirectory, LLAMA_CPP, waitUntilReady } from './llama-stage.ts'

const LAUNCHER = join(import.meta.dirname, 'engines/launch-and-wait.ts')
const LOAD_MS_MAX = 120_000

let models: Awaited<ReturnType<typeof createModelsDirectory>>
let stage: LocalStage
beforeAll(async () => {
  const whole = createTinyGguf()
  models = await createModelsDirectory({
    'acme/tiny/tiny-Q8_0.gguf': whole,
    'acme/tiny/mmproj-tiny.gguf': Buffer.from('no model'),
    'acme/cut/cut.gguf': whole.subarray(0, 20_000),
    'acme/lies/lies.gguf': createTinyGguf({ claimedTensors: 2n ** 60n }),
    'acme/text/text.gguf': Buffer.from('this is no model'),
    'acme/empty/README.md': Buffer.from('nothing'),
  })
})
afterAll(() => models.remove())
afterEach(() => stage.close())

const open = async () => {
  const tiers = { cpu_local: { count: 4 } }
  stage = await createLocalStage({ ...LLAMA_CPP, models_dir: models.directory, tiers })
}
const chat = async (endpoint: string) => {
  const body = JSON.stringify({ messages: [{ role: 'user', content: 'Hello!' }], max_tokens: 2 })
  return (await fetch(`${endpoint}/chat/completions`, { method: 'POST', body })).status
}

describe('the engine of llama.cpp', () => {
  test('fails with its last output if the file is not a valid model, and other engines keep running', async () => {
    await open()
    const orders = ['acme/cut', 'acme/lies', 'acme/text', 'acme/tiny'].map((huggingfaceId) =>
      stage.order({ huggingfaceId }),
    )
    for (const order of orders) await stage.driver.launch(order)
    const sound = orders.pop()
    for (const { instanceId, huggingfaceId } of orders)
      await vi.waitFor(
        async () =>
          expect([huggingfaceId, await stage.driver.observe(instanceId)]).toMatchObject([
            huggingfaceId,
            {
              state: 'failed',
              failure: {
                code: 'model_unsupported',
                message: expect.stringContaining('the model could not be loaded'),
              },
            },
          ]),
        { timeout: LOAD_MS_MAX },
      )
    expect(await chat(await waitUntilReady(stage, sound?.instanceId ?? ''))).toBe(200)
  })

  test('is not started if the model has no GGUF file of the quantization', async () => {
    await open()
    for (const given of [
      { huggingfaceId: 'acme/empty' },
      { huggingfaceId: 'acme/unknown' },
      { huggingfaceId: 'acme/tiny', quantization: 'Q4_K_M' },
    ]) {
      const order = stage.order(given)
      await stage.driver.launch(order)
      expect((await stage.driver.observe(order.instanceId)).failure?.code).toBe('model_unsupported')
    }
    const [tier] = await stage.driver.capacity()
    expect(tier?.availableCount).toBe(4)
  })

  test('holds its place while its files are downloaded, and does not write the hub token to disk', async () => {
    let fetched: FetchedModel = { state: 'fetching', progress: 40 }
    const tokens: (string | null)[] = []
    const files: ModelFiles = {
      fetch: async ({ hubToken }) => {
        tokens.push(hubToken)
        return fetched
      },
    }
    stage = await createLocalStage({ ...LLAMA_CPP, tiers: { cpu_local: { count: 1 } } }, undefined, files)
    const order = stage.order({ huggingfaceId: 'acme/tiny', hubToken: 'hf_secret' })
    await stage.driver.launch(order)
    expect(await stage.driver.observe(order.instanceId)).toMatchObject({ state: 'loading', progress: 36 })
    expect((await stage.driver.capacity())[0]?.availableCount).toBe(0)
    const kept = await readFile(
      join(stage.directory, 'instances', order.instanceId, 'placement.json'),
      'utf8',
    )
    expect([kept.includes('acme/tiny'), kept.includes('hf_secret')]).toEqual([true, false])
    // The sweep observes the instance, and does not start it.
    fetched = { state: 'failed', failure: { code: 'image_pull_failed', message: 'Unreachable.' } }
    await stage.driver.sweep(async (ids) => new Set(ids))
    expect(tokens).toEqual(['hf_secret', 'hf_secret'])
    // Another process continues with the token.
    await stage.createDriver().observe(order.instanceId)
    expect(tokens).toEqual(['hf_secret', 'hf_secret', 'hf_secret'])
    expect((await stage.driver.observe(order.instanceId)).failure?.message).toBe('Unreachable.')
    expect((await stage.driver.capacity())[0]?.availableCount).toBe(1)
  })

  test('fails with model_gated, without a call of the hub, if its token no longer exists', async () => {
    const tokens: (string | null)[] = []
    const files: ModelFiles = {
      fetch: async ({ hubToken }) => {
        tokens.push(hubToken)
        return { state: 'fetching', progress: 40 }
      },
    }
    stage = await createLocalStage({ ...LLAMA_CPP, tiers: { cpu_local: { count: 1 } } }, undefined, files)
    const order = stage.order({ huggingfaceId: 'acme/tiny', hubToken: 'hf_secret' })
    await stage.driver.launch(order)
    stage.forgetTokens()
    await stage.driver.observe(order.instanceId)
    const { state, failure } = await stage.driver.observe(order.instanceId)
    expect([state, failure?.code, failure?.message]).toEqual([
      'failed',
      'model_gated',
      expect.stringContaining('token'),
    ])
    expect(tokens).toEqual(['hf_secret'])
    expect((await stage.driver.capacity())[0]?.availableCount).toBe(1)
  })

  test('releases its place without starting if it is stopped during the download', async () => {
    const files: ModelFiles = { fetch: async () => ({ state: 'fetching', progress: 1 }) }
    stage = await createLocalStage({ ...LLAMA_CPP, tiers: { cpu_local: { count: 1 } } }, undefined, files)
    const order = stage.order({ huggingfaceId: 'acme/tiny' })
    await stage.driver.launch(order)
    await stage.driver.stop(order.instanceId)
    const seen = await stage.driver.observe(order.instanceId)
    expect([seen.state, typeof seen.releasedAtMs]).toEqual(['gone', 'number'])
    expect((await stage.driver.capacity())[0]?.availableCount).toBe(1)
  })

  test('keeps running after the process that launched it is killed, and is ended by a sweep if no run is stored', async () => {
    await open()
    const order = stage.order({ huggingfaceId: 'acme/tiny', quantization: 'Q8_0' })
    const settings = { ...LLAMA_CPP, models_dir: models.directory, tiers: { cpu_local: { count: 1 } } }
    const options = JSON.stringify({ directory: stage.directory, order, settings })
    const launcher = spawn(process.execPath, [LAUNCHER, options], { stdio: 'pipe' })
    await once(launcher.stdout, 'data')
    launcher.kill('SIGKILL')
    await once(launcher, 'exit')
    const endpoint = await waitUntilReady(stage, order.instanceId)
    expect(await chat(endpoint)).toBe(200)
    expect(await stage.driver.sweep(async () => new Set([order.instanceId]))).toEqual([])
    expect(await chat(endpoint)).toBe(200)
    expect(await stage.driver.sweep(async () => new Set())).toEqual([order.instanceId])
    await eventually(async () => expect(await findTree(order.instanceId, null)).toEqual([]))
    await eventually(async () => expect((await stage.driver.observe(order.instanceId)).state).toBe('gone'))
  })
})
