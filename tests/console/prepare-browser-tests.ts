import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { findBrowser } from './find-browser.ts'

const ROOT = join(import.meta.dirname, '../..')
const CONSOLE = join(ROOT, 'console')

/** Before the tests of the console: builds it if it is missing or older than its source, and unpacks the browser. */
export default async function prepareBrowserTests(): Promise<void> {
  if (isOutdated()) {
    const { status } = spawnSync(process.execPath, [join(CONSOLE, 'scripts/prepare-console.cjs')], {
      stdio: 'inherit',
      // Vitest sets `test`, which would build React for development.
      env: { ...process.env, NODE_ENV: 'production' },
    })
    if (status !== 0) throw new Error('the console could not be built')
  }
  await findBrowser()
}

function isOutdated(): boolean {
  const built = statSync(join(CONSOLE, 'dist/index.html'), { throwIfNoEntry: false })
  if (built === undefined) return true
  const names = readdirSync(join(CONSOLE, 'src'), { recursive: true, encoding: 'utf8' })
  return names.some((name) => statSync(join(CONSOLE, 'src', name)).mtimeMs > built.mtimeMs)
}
