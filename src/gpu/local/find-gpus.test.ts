import { chmod, mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findGpus } from './find-gpus.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let directory: string
const told: string[] = []

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-path-'))
  told.length = 0
})
afterEach(() => removeDirectory(directory))

const find = (path: string) => findGpus(path, (code) => told.push(code))

test('a machine without nvidia-smi has no GPU, and nothing is told', async () => {
  expect(await find(directory)).toEqual([])
  expect(told).toEqual([])
})

test('an nvidia-smi that cannot be run is no GPU, and the reason is told', async () => {
  const tool = join(directory, 'nvidia-smi')
  await writeFile(tool, 'not a program')
  await chmod(tool, 0o644)
  expect(await find(directory)).toEqual([])
  expect(told).toEqual(['EACCES'])
})

test.skipIf(process.getuid?.() === 0)('a directory of the path that cannot be read is no GPU', async () => {
  const closed = join(directory, 'closed')
  await mkdir(closed, { mode: 0o000 })
  expect(await find(`${closed}:${directory}`)).toEqual([])
  expect(told).toEqual(['EACCES'])
})
