import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { hostname, tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { silentLogger } from '../../kernel/logger.ts'
import { createSpool } from './spool.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

let parentDirectory: string
beforeEach(async () => {
  parentDirectory = await mkdtemp(join(tmpdir(), 'parkway-spool-test-'))
})
afterEach(() => removeDirectory(parentDirectory))

const host = createHash('sha256').update(hostname()).digest('hex').slice(0, 8)

async function leave(name: string): Promise<string> {
  const directory = join(parentDirectory, name)
  await mkdir(directory)
  await writeFile(join(directory, 'upload'), 'left')
  return directory
}

describe('the spool', () => {
  test('keeps files until they are removed', async () => {
    const spool = createSpool({ parentDirectory, logger: silentLogger })
    const file = await spool.create()
    await file.write(Buffer.from('hello '))
    await file.write(Buffer.from('world'))
    expect(await file.close()).toBe(createHash('sha256').update('hello world').digest('hex'))
    expect([file.bytes, await readFile(file.path, 'utf8')]).toEqual([11, 'hello world'])
    await spool.remove([file.path, file.path])
    await expect(readFile(file.path)).rejects.toThrow('ENOENT')
    await spool.close()
    expect(await readdir(parentDirectory)).toEqual([])
  })

  test('continues if its directory was deleted', async () => {
    const spool = createSpool({ parentDirectory, logger: silentLogger })
    await (await spool.create()).close()
    for (const name of await readdir(parentDirectory)) await removeDirectory(join(parentDirectory, name))
    await (await spool.create()).close()
    await spool.close()
  })

  test('removes at its start the files of killed processes, and no others', async () => {
    const { pid: deadPid } = spawnSync('true')
    await leave(`parkway-uploads-${host}-${deadPid}-a`)
    await leave(`parkway-uploads-${host}-${process.pid}-b`)
    await leave(`parkway-uploads-${host}-${process.ppid}-c`)
    await leave(`parkway-uploads-00000000-${deadPid}-d`)
    const old = await leave(`parkway-uploads-00000000-${deadPid}-e`)
    await utimes(old, 0, 0)
    await leave('something-else')
    const spool = createSpool({ parentDirectory, logger: silentLogger })
    await vi.waitFor(
      async () =>
        expect((await readdir(parentDirectory)).toSorted()).toEqual(
          [
            `parkway-uploads-${host}-${process.ppid}-c`,
            `parkway-uploads-00000000-${deadPid}-d`,
            'something-else',
          ].toSorted(),
        ),
      { timeout: 20_000 },
    )
    await spool.close()
  })
})
