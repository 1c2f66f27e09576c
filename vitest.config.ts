import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const TESTS = ['src/**/*.test.ts', 'tests/**/*.test.ts']

/** Each in a process of its own. */
const ALONE = [
  // They measure the memory or the time of their process.
  'tests/stalls/*.test.ts',
  'tests/chat/bounds.test.ts',
  'tests/media/download.test.ts',
  // They replace timers or modules, which others may hold already and would find replaced afterwards.
  'tests/app/{periodic-work,restart-pause}.test.ts',
  'tests/chat/stream.test.ts',
  'src/storage/leased-work/leased-work.test.ts',
  'tests/chat/{clock-jumps,resource-shortage}.test.ts',
  'src/http/fast-http1/fast-http1.test.ts',
  'src/providers/openai-compatible/upstream-http1/http1-client-{connections,control}.test.ts',
  'src/modules/inference/{attempts/attempt-routes,disconnect/upstream-work}.test.ts',
]

/** Long ones, most of which start and kill other processes. */
const LONG = [
  'tests/{app,away,invoice,ledger,storage,tasks}/*.test.ts',
  'tests/**/{killed,crash}*.test.ts',
  'src/modules/ledger/ledger-model.test.ts',
  'tests/media/failing-store.test.ts',
]

/** For daily work: they start no other process and no browser, and take a few minutes on two cores. */
const QUICK = [
  'src/**/*.test.ts',
  'tests/!(catalog-walk).test.ts',
  'tests/{chat,embeddings,forms,messages,operator,providers,sessions,usage}/*.test.ts',
]

/** A start of the whole program takes half a minute where ten others want the same core. */
const PATIENT = { testTimeout: 300_000, hookTimeout: 300_000 }

/** A process that tests many files grows anyway: without this the collection of its old objects takes a tenth of the time. */
const LONG_LIVED = { isolate: false, execArgv: ['--initial-old-space-size=512'] }

/** In a real browser. */
const IN_BROWSER = ['tests/console/**/*.test.ts']

/** Once more with every request through Node's own HTTP server. */
const ON_NODE_HTTP = [
  'tests/http/*.test.ts',
  'tests/chat/{completions,disconnect,passthrough-answer,passthrough-request,upstream-failures}.test.ts',
  'tests/idempotency/*.test.ts',
]

// Half of what it takes to start a gateway is compiling it, which tests would else do hundreds of times. Processes read this when they start.
process.env['NODE_COMPILE_CACHE'] = join(import.meta.dirname, 'node_modules/.cache/compiled')

export default defineConfig({
  test: {
    globalSetup: ['./src/storage/testing/global-setup.ts', './tests/support/bundle-program.ts'],
    setupFiles: ['./tests/support/property-seed.ts'],
    // Most tests wait for processes, connections and leases, not for a core.
    maxWorkers: 4,
    // Gateways come and go: with less room for young objects a sixth of the time goes to the collection of garbage.
    execArgv: ['--min-semi-space-size=16'],
    // A loaded machine is slow; who polls for what never comes fails all the same.
    expect: { poll: { timeout: 60_000 } },
    testTimeout: 180_000,
    hookTimeout: 180_000,
    reporters: ['default', './tests/support/failures-at-the-end.ts'],
    // One of nine thousand that fails on a machine that stood still says little: it is repeated, and named at the end even when it passes then.
    retry: process.env['CI'] === 'true' ? 1 : 0,
    // Node loads the code as it does in production, and from its compile cache, which is quicker than transforming it for each process.
    experimental: { viteModuleRunner: false },
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE, ...PATIENT } },
      // Projects begin in the order of their names: a long test that began last would keep everybody waiting.
      {
        extends: true,
        test: { name: 'app', include: LONG, exclude: ALONE, ...LONG_LIVED, ...PATIENT },
      },
      {
        extends: true,
        test: {
          name: 'console',
          include: IN_BROWSER,
          // One browser for all files of a worker.
          ...LONG_LIVED,
          globalSetup: ['./tests/console/prepare-browser-tests.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'node-http',
          include: ON_NODE_HTTP,
          // These are about the content of bodies, about rights, and about work behind the server.
          exclude: [
            'tests/http/{access,both-paths,fields,prototype-names,stalls}.test.ts',
            ...ALONE,
            ...LONG,
          ],
          ...LONG_LIVED,
          env: { PARKWAY_FAST_HTTP: 'false' },
        },
      },
      // To load the gateway and to warm it up takes longer than most files' tests, and modules keep no state that matters.
      {
        extends: true,
        test: {
          name: 'together',
          include: process.env['PARKWAY_TEST_QUICK'] === 'true' ? QUICK : TESTS,
          exclude: [...ALONE, ...LONG, ...IN_BROWSER],
          ...LONG_LIVED,
        },
      },
    ],
  },
})
