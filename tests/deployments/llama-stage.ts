import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, vi } from 'vitest'
import { createTinyGguf } from '../support/create-tiny-gguf.ts'
import { createLocalStage, type LocalStage } from './local-stage.ts'
import { removeDirectory } from '../support/remove-directory.ts'

/** Starting Node and loading llama.cpp takes long on a busy machine. */
const LOAD_MS_MAX = 120_000

/** Creates a directory of models in the layout of the local driver. */
export async function createModelsDirectory(files: Readonly<Record<string, Uint8Array>>) {
  const directory = await mkdtemp(join(tmpdir(), 'parkway-models-'))
  for (const [path, bytes] of Object.entries(files)) {
    await mkdir(dirname(join(directory, path)), { recursive: true })
    await writeFile(join(directory, path), bytes)
  }
  return { directory, remove: () => removeDirectory(directory) }
}

/** Settings of the local driver for models that llama.cpp serves. */
export const LLAMA_CPP = { command: [], warm_up: true, llama_cpp: { parallel: 2, threads: 1 } }

export interface LlamaStage {
  readonly stage: LocalStage
  readonly instanceId: string
  /** The address of the engine. */
  readonly endpoint: string
  ask(path: string, body: unknown, signal?: AbortSignal): Promise<Response>
  close(): Promise<void>
}

/** A tiny model that the local driver serves with llama.cpp. */
export async function startLlama(settings: object = {}): Promise<LlamaStage> {
  const models = await createModelsDirectory({ 'acme/tiny/tiny.gguf': createTinyGguf() })
  const stage = await createLocalStage({ ...LLAMA_CPP, models_dir: models.directory, ...settings })
  const order = stage.order({ huggingfaceId: 'acme/tiny' })
  await stage.driver.launch(order)
  const endpoint = await waitUntilReady(stage, order.instanceId)
  return {
    stage,
    instanceId: order.instanceId,
    endpoint,
    ask: (path, body, signal) =>
      fetch(`${endpoint}${path}`, {
        method: 'POST',
        body: typeof body === 'string' ? body : JSON.stringify(body),
        signal: signal ?? null,
      }),
    close: async () => {
      await stage.close()
      await models.remove()
    },
  }
}

export function waitUntilReady({ driver }: LocalStage, instanceId: string): Promise<string> {
  return vi.waitFor(
    async () => {
      const { state, endpoint, failure } = await driver.observe(instanceId)
      expect([state, failure]).toEqual(['ready', null])
      return endpoint ?? ''
    },
    { timeout: LOAD_MS_MAX },
  )
}
