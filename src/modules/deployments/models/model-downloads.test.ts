import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { HubError, type HubFailure } from '../../../hub/hub-error.ts'
import type { HubRequest } from '../../../hub/hub.ts'
import type { ModelFile } from '../../../hub/model-file.ts'
import { systemClock } from '../../../kernel/clock.ts'
import { createModelDownloads, type ModelDownloads } from './model-downloads.ts'
import { removeDirectory } from '../../../../tests/support/remove-directory.ts'

const FILE: ModelFile = {
  path: 'm-Q4_K_M.gguf',
  sizeBytes: 8,
  checksum: { kind: 'sha256', hex: 'a'.repeat(64) },
}
const WANTED = {
  huggingfaceId: 'acme/tiny',
  revision: null,
  quantization: 'auto',
  hubToken: null,
  asOperator: false,
  isGguf: true,
}

let directory: string
let downloads: ModelDownloads
/** What the hub and the cache do next. */
let files: readonly ModelFile[]
let failure: HubFailure | null
let asked: HubRequest[]
let finish: () => void

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-downloads-'))
  files = [FILE]
  failure = null
  asked = []
  finish = () => {}
  await writeFile(join(directory, FILE.path), 'a model.')
  downloads = createModelDownloads({
    hub: {
      listFiles: async (request) => {
        asked.push(request)
        if (failure !== null) throw new HubError(failure, `The hub says ${failure}.`)
        return { commit: 'b'.repeat(40), files }
      },
    },
    cache: {
      fetch: async ({ onProgress }) => {
        onProgress?.({ bytesDone: 4, bytesTotal: 8 })
        await new Promise<void>((resolve) => {
          finish = resolve
        })
        return { directory, paths: [join(directory, FILE.path)] }
      },
    },
    clock: systemClock,
    directory: join(directory, 'located'),
  })
})
afterEach(async () => {
  downloads.close()
  await removeDirectory(directory)
})

const settle = (given: object = {}) =>
  vi.waitFor(async () => {
    finish()
    const seen = await downloads.fetch({ ...WANTED, ...given })
    expect(seen.state).not.toBe('fetching')
    return seen
  })

test('a download is shared by all requests, reports its progress, and then returns the paths', async () => {
  await downloads.fetch(WANTED)
  await vi.waitFor(async () =>
    expect(await downloads.fetch(WANTED)).toEqual({ state: 'fetching', progress: 50 }),
  )
  expect(asked).toHaveLength(1)
  expect(await settle()).toEqual({ state: 'ready', directory, ggufPath: join(directory, FILE.path) })
})

test('a download with a token is not shared with requests that have another token or none', async () => {
  await downloads.fetch({ ...WANTED, hubToken: 'hf_one' })
  await downloads.fetch({ ...WANTED, hubToken: 'hf_two' })
  await downloads.fetch(WANTED)
  await vi.waitFor(() => expect(asked.map(({ token }) => token)).toEqual(['hf_one', 'hf_two', null]))
})

test("files downloaded with the operator's token are not found by an account that it does not serve", async () => {
  await settle({ asOperator: true })
  failure = 'unavailable'
  expect((await settle({ asOperator: true })).state).toBe('ready')
  expect((await settle()).state).toBe('failed')
})

test('downloaded files are found while the hub is unavailable, except those downloaded with a token', async () => {
  failure = 'unavailable'
  expect(await settle()).toMatchObject({ state: 'failed', failure: { code: 'image_pull_failed' } })
  failure = null
  await settle({ hubToken: 'hf_one' })
  failure = 'unavailable'
  expect((await settle()).state).toBe('failed')
  failure = null
  await settle()
  failure = 'unavailable'
  expect((await settle()).state).toBe('ready')
  expect((await settle({ hubToken: 'hf_one' })).state).toBe('failed')
  await rm(join(directory, FILE.path))
  expect((await settle()).state).toBe('failed')
})

test.each([
  ['gated', 'model_gated'],
  ['missing', 'model_unsupported'],
  ['too_large', 'model_unsupported'],
  ['corrupt', 'image_pull_failed'],
  ['no_space', 'image_pull_failed'],
] as const)('the hub failure %s becomes the failure %s', async (said, code) => {
  failure = said
  expect(await settle()).toEqual({ state: 'failed', failure: { code, message: `The hub says ${said}.` } })
})

test('a repository without GGUF files is refused for an engine that supports only GGUF', async () => {
  files = [{ ...FILE, path: 'model.safetensors' }]
  expect(await settle()).toMatchObject({ state: 'failed', failure: { code: 'model_unsupported' } })
})
