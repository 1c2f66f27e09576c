import { join, resolve } from 'node:path'
import { defineConfig } from 'vitest/config'

const ROOT = resolve(import.meta.dirname, '../..')
const FAR_AWAY_MS = 24 * 3_600_000

process.env['NODE_COMPILE_CACHE'] = join(ROOT, 'node_modules/.cache/compiled')

/** The long form, which `npm run test:invoice` starts. */
export default defineConfig({
  test: {
    root: ROOT,
    include: ['tests/invoice/long-run-suite.ts'],
    globalSetup: [
      join(ROOT, 'src/storage/testing/global-setup.ts'),
      join(ROOT, 'tests/support/bundle-program.ts'),
    ],
    testTimeout: FAR_AWAY_MS,
    hookTimeout: FAR_AWAY_MS,
    disableConsoleIntercept: true,
    experimental: { viteModuleRunner: false },
  },
})
