import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const PARKWAY = join(import.meta.dirname, '../../bin/parkway.cjs')

function runUnderOpenMask(home: string): void {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', 'umask 000; exec "$0" "$@"', process.execPath, PARKWAY, '--version'],
    {
      env: { PATH: process.env['PATH'], HOME: home, XDG_CACHE_HOME: join(home, '.cache') },
      encoding: 'utf8',
    },
  )
  expect([status, stderr]).toEqual([0, ''])
}

function makeHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'parkway-home-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return home
}

const modeOf = (path: string): string => (statSync(path).mode & 0o777).toString(8)

test('the cache of compiled code is closed to other users, whatever the umask', () => {
  const home = makeHome()
  runUnderOpenMask(home)
  const own = join(home, '.cache/parkway')
  expect([modeOf(own), modeOf(join(own, 'compiled'))]).toEqual(['700', '700'])
  expect(readdirSync(join(own, 'compiled')).length).toBeGreaterThan(0)
})

test('code in a cache that others could write is not used', () => {
  const home = makeHome()
  const own = join(home, '.cache/parkway')
  mkdirSync(join(own, 'compiled'), { recursive: true })
  writeFileSync(join(own, 'compiled', 'planted'), 'code of somebody else')
  for (const path of [own, join(own, 'compiled')]) chmodSync(path, 0o777)
  runUnderOpenMask(home)
  expect(existsSync(join(own, 'compiled', 'planted'))).toBe(false)
  expect([modeOf(own), modeOf(join(own, 'compiled'))]).toEqual(['700', '700'])
})

test.skipIf(process.getuid?.() !== 0)('a cache of another user is not used', () => {
  const home = makeHome()
  const own = join(home, '.cache/parkway')
  mkdirSync(own, { recursive: true })
  spawnSync('chown', ['65534', own])
  runUnderOpenMask(home)
  expect(existsSync(join(own, 'compiled'))).toBe(false)
})
