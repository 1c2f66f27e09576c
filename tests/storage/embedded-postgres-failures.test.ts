import { execFileSync } from 'node:child_process'
import { chown, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { locateBinaries } from '../../src/storage/embedded-postgres/locate-binaries.ts'
import { spawnScript } from './spawn-script.ts'
import {
  canRunAsNobody,
  isLinux,
  isRoot,
  NOBODY,
  OWNER_SCRIPT,
  useFreshDirectory,
} from './use-fresh-directory.ts'

const fresh = useFreshDirectory()

describe('a start failure has a clear message', () => {
  test('the data directory is a file', async () => {
    await writeFile(fresh.dataDir, '')
    await expect(fresh.start()).rejects.toMatchObject({
      code: 'not_writable',
      message: expect.stringContaining('PARKWAY_DATA_DIR'),
    })
  })

  test.runIf(canRunAsNobody)('the data directory cannot be written to', async () => {
    const owner = spawnScript(OWNER_SCRIPT, [fresh.dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({ code: 'not_writable' })
    await owner.finish()
  })

  test.runIf(canRunAsNobody)('the cluster belongs to another user', async () => {
    await (await fresh.start()).stop()
    await chown(fresh.dataDir, NOBODY.uid, NOBODY.gid)
    await chown(join(fresh.dataDir, 'postgres'), 1, 1)
    const owner = spawnScript(OWNER_SCRIPT, [fresh.dataDir], NOBODY)
    expect(await owner.read()).toMatchObject({
      code: 'wrong_owner',
      message: expect.stringContaining('chown'),
    })
    await owner.finish()
  })

  test('the directory has other contents', async () => {
    await mkdir(join(fresh.dataDir, 'postgres'), { recursive: true })
    await writeFile(join(fresh.dataDir, 'postgres', 'letters.txt'), '')
    await expect(fresh.start()).rejects.toMatchObject({ code: 'foreign_directory' })
  })

  test('the cluster is of another major version', async () => {
    await (await fresh.start()).stop()
    await writeFile(join(fresh.dataDir, 'postgres', 'PG_VERSION'), '9\n')
    await expect(fresh.start()).rejects.toMatchObject({
      code: 'version_mismatch',
      message: expect.stringContaining('backup'),
    })
  })

  test('the server does not start, with the end of its log', async () => {
    await (await fresh.start()).stop()
    await writeFile(join(fresh.dataDir, 'postgres', 'postgresql.auto.conf'), `work_mem = 'plenty'\n`)
    await expect(fresh.start()).rejects.toMatchObject({
      code: 'start_failed',
      message: expect.stringContaining('work_mem'),
    })
    await writeFile(join(fresh.dataDir, 'postgres', 'postgresql.auto.conf'), '')
    await (await fresh.start()).stop()
  })

  test('the platform has no binaries', async () => {
    await expect(locateBinaries(fresh.parentDir, null, 'plan9-mips')).rejects.toMatchObject({
      code: 'binaries_missing',
      message: expect.stringContaining('DATABASE_URL'),
    })
  })

  test.runIf(isRoot && isLinux && canMount())('no disk space is left, at the start and later', async () => {
    await mkdir(fresh.dataDir)
    const expected = { code: 'no_space', message: expect.stringContaining('PARKWAY_DATA_DIR') }
    runProgram('mount', ['-t', 'tmpfs', '-o', 'size=20m', 'tmpfs', fresh.dataDir])
    try {
      await expect(fresh.start()).rejects.toMatchObject(expected)
      runProgram('mount', ['-o', 'remount,size=200m', fresh.dataDir])
      await (await fresh.start()).stop()
      await writeFile(join(fresh.dataDir, 'filler'), Buffer.alloc(200 * 1024 * 1024)).catch(() => {})
      await expect(fresh.start()).rejects.toMatchObject(expected)
    } finally {
      runProgram('umount', [fresh.dataDir])
    }
  })
})

function runProgram(program: string, args: string[]): void {
  execFileSync(program, args, { stdio: 'ignore' })
}

function canMount(): boolean {
  try {
    runProgram('unshare', ['-m', 'true'])
    return true
  } catch {
    return false
  }
}
