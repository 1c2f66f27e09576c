import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const SCRIPT = `
  import { registerHooks } from 'node:module'
  const loaded = []
  registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) })
  await import(process.argv[1])
  console.log(JSON.stringify([loaded.length, loaded.filter((url) => /gpu.kubernetes/.test(url))]))
`

test('a gateway without a cluster does not load the driver', async () => {
  const build = new URL('../../src/app/build/build-deployments.ts', import.meta.url).href
  const words = ['--input-type=module', '--eval', SCRIPT, build]
  const { stdout } = await promisify(execFile)(process.execPath, words)
  const [count, ofCluster] = JSON.parse(stdout)
  expect(count).toBeGreaterThan(100)
  expect(ofCluster).toEqual([])
})
