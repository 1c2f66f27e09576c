import { copyFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { call, chatBody } from './call.ts'
import { createWorkplace, readServerPid, type Finished, type Workplace } from './workplace.ts'

/** Where the gateway runs whose backup is taken. */
let origin: Workplace
/** Where that backup is restored. */
let target: Workplace
let url: string
let key: string
let archive: string
let written: Finished
let restored: Finished
let statusesMeanwhile: number[]

beforeAll(async () => {
  origin = createWorkplace()
  target = createWorkplace()
  await origin.prepareDatabase()
  const ready = await origin.start(['serve']).ready()
  url = ready.url
  key = ready.key ?? ''
  const created = await call('POST', `${url}/v1/tenants/me/api-keys`, { key, body: { name: 'second' } })
  expect(created.status).toBe(201)
  archive = origin.path('parkway.backup')
  const writing = new AbortController()
  const serving = chatUntil(writing.signal)
  written = await origin.run(['backup', 'parkway.backup'])
  writing.abort()
  statusesMeanwhile = await serving
  restored = await target.run(['restore', archive])
})
afterAll(async () => {
  await target.clean()
  await origin.clean()
})

it('a backup is written while the gateway runs', async () => {
  expect(written).toMatchObject({ code: 0, stderr: '' })
  expect(written.stdout).toMatch(/^Wrote \d+ rows of \d+ tables to parkway\.backup\n$/)
  expect(new Set(statusesMeanwhile)).toEqual(new Set([200]))
  expect((await call('GET', `${url}/readyz`)).status).toBe(200)
  // The archive contains the hashes of all keys, so only its owner may read it.
  expect(statSync(archive).mode & 0o077).toBe(0)
})

it('a restore does not touch a running gateway', async () => {
  const refused = await origin.run(['restore', archive, '--overwrite'])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^parkway: Another gateway .* already uses /)
})

it('a truncated backup is refused and changes nothing', async () => {
  const empty = createWorkplace()
  const half = empty.path('half.backup')
  const bytes = readFileSync(archive)
  writeFileSync(half, bytes.subarray(0, bytes.length - 200))
  const refused = await empty.run(['restore', half])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^parkway: .*half\.backup is not a whole backup: .*Nothing was changed\.\n$/)
  await empty.clean()
})

it('a restore into a new directory restores accounts and keys', async () => {
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect(restored.stdout).toMatch(/^Restored \d+ rows of \d+ tables from /)
  expect(readServerPid(target.dataDir)).toBeNull()

  const again = target.start(['serve'])
  const ready = await again.ready()
  expect(ready.key).toBeNull()
  const keys = await call('GET', `${ready.url}/v1/tenants/me/api-keys`, { key })
  expect(keys).toMatchObject({ status: 200, body: { total: 2 } })
  again.kill('SIGTERM')
  expect(await again.exited).toMatchObject({ code: 0 })
})

it('a restore over data needs a flag', async () => {
  const refused = await target.run(['restore', archive])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^parkway: The database already holds data.*--overwrite.*\n$/)
  expect(await target.run(['restore', archive, '--overwrite'])).toMatchObject({ code: 0, stderr: '' })
})

it('a backup is also written while the gateway is stopped, but not without a database', async () => {
  const stopped = await target.run(['backup', 'stopped.backup'])
  expect(stopped).toMatchObject({ code: 0, stderr: '' })
  expect(stopped.stdout).toMatch(/^Wrote \d+ rows/)
  expect(readServerPid(target.dataDir)).toBeNull()
  const nothing = await target.run(['backup', 'nothing.backup'], {
    environment: { PARKWAY_DATA_DIR: 'dtaa' },
  })
  expect(nothing).toMatchObject({ code: 1, stdout: '' })
  expect(nothing.stderr).toMatch(/^parkway: There is no database in .*dtaa\. Set PARKWAY_DATA_DIR/)
})

it('a backup replaces a file only with --force', async () => {
  const old = target.path('old.backup')
  copyFileSync(archive, old)
  const before = readFileSync(old)
  const refused = await target.run(['backup', old])
  expect(refused).toMatchObject({ code: 1, stdout: '' })
  expect(refused.stderr).toMatch(/^parkway: .*old\.backup exists already\. .*--force\.\n$/)
  expect(readFileSync(old)).toEqual(before)
  expect(await target.run(['backup', old, '--force'])).toMatchObject({ code: 0, stderr: '' })
  expect(readFileSync(old)).not.toEqual(before)
})

it('a backup and a restore name a missing argument or file', async () => {
  expect(await target.run(['backup'])).toMatchObject({ code: 2, stderr: expect.stringContaining('one file') })
  const missing = await target.run(['restore', 'nowhere.backup'])
  expect(missing.code).toBe(1)
  expect(missing.stderr).toMatch(/^parkway: .*nowhere\.backup.*no such file/)
})

async function chatUntil(signal: AbortSignal): Promise<number[]> {
  const statuses: number[] = []
  do {
    const answer = await call('POST', `${url}/v1/chat/completions`, { key, body: chatBody('Hello') })
    statuses.push(answer.status)
  } while (!signal.aborted)
  return statuses
}
