import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { watchCatalogFile } from './watch-catalog-file.ts'

const POLL_NEVER_MS = 3_600_000

describe('watching a catalog file', () => {
  let directory: string
  let file: string
  let close = (): void => {}

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'parkway-watch-'))
    file = join(directory, 'catalog.json')
  })
  afterEach(() => {
    close()
    rmSync(directory, { recursive: true })
  })

  const watchOnce = (pollIntervalMs: number) =>
    new Promise<void>((resolve) => {
      ;({ close } = watchCatalogFile({ file, onChange: resolve, pollIntervalMs, settleMs: 1 }))
    })

  test('detects a write, a new file and a deleted file by events alone', async () => {
    const appeared = watchOnce(POLL_NEVER_MS)
    writeFileSync(file, '{}')
    await appeared
    close()
    const written = watchOnce(POLL_NEVER_MS)
    writeFileSync(file, '{"models":[]}')
    await written
    close()
    const gone = watchOnce(POLL_NEVER_MS)
    rmSync(file)
    await gone
  })

  test('detects a mounted file whose directory link is swapped', async () => {
    const publish = (version: string) => {
      mkdirSync(join(directory, version))
      writeFileSync(join(directory, version, 'catalog.json'), `{"note":"${version}"}`)
      symlinkSync(version, join(directory, '..data_new'))
      renameSync(join(directory, '..data_new'), join(directory, '..data'))
    }
    publish('..v1')
    symlinkSync('..data/catalog.json', file)
    const swapped = watchOnce(POLL_NEVER_MS)
    publish('..v2')
    await swapped
  })

  test('detects a change by polling if the directory cannot be watched', async () => {
    const later = join(directory, 'later')
    file = join(later, 'catalog.json')
    const seen = watchOnce(5)
    mkdirSync(later)
    writeFileSync(file, '{}')
    await seen
  })

  test('reports nothing after it is closed', async () => {
    let calls = 0
    const watcher = watchCatalogFile({ file, onChange: () => (calls += 1), pollIntervalMs: 1, settleMs: 1 })
    watcher.close()
    const other = watchOnce(5)
    writeFileSync(file, '{}')
    await other
    expect(calls).toBe(0)
  })
})
