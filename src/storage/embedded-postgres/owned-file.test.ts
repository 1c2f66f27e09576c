import { link, lstat, mkdtemp, readFile, stat, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { APPEND, openOwned, readOwned, writeOwned } from './owned-file.ts'
import { removeDirectory } from '../../../tests/support/remove-directory.ts'

const asRoot = test.runIf(process.getuid?.() === 0)
const USER = { uid: 65_534, gid: 65_534 }

let directory: string
let foreign: string

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'parkway-owned-'))
  foreign = join(directory, 'shadow')
  await writeFile(foreign, 'root only', { mode: 0o600 })
})

afterEach(async () => {
  await removeDirectory(directory)
})

test('a link in place of a file is replaced, not followed', async () => {
  const path = join(directory, 'postgresql.conf')
  await symlink(foreign, path)
  // A link at a predictable temporary name must not be followed either.
  await symlink(foreign, `${path}.draft`)
  await writeOwned(path, 'port = 1', null)
  expect(await readFile(foreign, 'utf8')).toBe('root only')
  expect((await lstat(path)).isFile()).toBe(true)
  expect(await readFile(path, 'utf8')).toBe('port = 1')
})

test('a log or a password file that is a link is refused', async () => {
  const path = join(directory, 'postgres.log')
  await symlink(foreign, path)
  await expect(openOwned(path, APPEND, null)).rejects.toMatchObject({ code: 'ELOOP' })
  await expect(readOwned(path)).rejects.toMatchObject({ code: 'ELOOP' })
})

test('a hard link to another file is refused', async () => {
  const path = join(directory, 'postgres.log')
  await link(foreign, path)
  await expect(openOwned(path, APPEND, null)).rejects.toMatchObject({ code: 'foreign_directory' })
  await expect(readOwned(path)).rejects.toMatchObject({ code: 'foreign_directory' })
})

asRoot('what root writes belongs to the user, and what a link names does not', async () => {
  const path = join(directory, 'postgresql.conf')
  await symlink(foreign, path)
  await writeOwned(path, 'port = 1', USER)
  expect((await stat(path)).uid).toBe(USER.uid)
  expect((await stat(foreign)).uid).toBe(0)
  await expect(openOwned(join(directory, 'missing', 'x'), APPEND, USER)).rejects.toMatchObject({
    code: 'ENOENT',
  })
})
