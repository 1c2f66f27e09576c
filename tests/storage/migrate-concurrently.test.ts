import { expect, test } from 'vitest'
import { createEmptyDatabase } from '../../src/storage/testing/test-database.ts'
import { spawnScript } from './spawn-script.ts'

const SCRIPT = new URL('./migrate-once.ts', import.meta.url)

test('four processes that start at once migrate an empty database exactly once', async () => {
  const database = await createEmptyDatabase()
  const scripts = Array.from({ length: 4 }, () => spawnScript(SCRIPT, [database.connectionString]))
  await Promise.all(scripts.map((script) => script.read()))
  for (const script of scripts) script.write('go')
  const results = await Promise.all(scripts.map((script) => script.read()))
  const version = Number(results[0]?.['version'])
  expect(version).toBeGreaterThan(0)
  expect(results.map((result) => result['version'])).toEqual([version, version, version, version])
  const applied = results.map((result) => Number(result['applied']))
  expect(applied.sort((a, b) => a - b)).toEqual([0, 0, 0, version])
  await Promise.all(scripts.map((script) => script.finish()))
  await database.drop()
})
