import { join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

const ROOT = resolve(import.meta.dirname, '../..')
const HOUR_MS = 3_600_000

process.env['NODE_COMPILE_CACHE'] = join(ROOT, 'node_modules/.cache/compiled')

/** The optional suite of failing machines: `npm run test:ha`. */
export default defineConfig({
  test: {
    root: ROOT,
    include: ['tests/ha/*-suite.ts'],
    globalSetup: [join(ROOT, 'tests/support/bundle-program.ts')],
    testTimeout: HOUR_MS,
    hookTimeout: HOUR_MS,
    fileParallelism: false,
    disableConsoleIntercept: true,
    experimental: { viteModuleRunner: false },
  },
})
