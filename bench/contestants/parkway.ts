import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Contestant } from './contestant.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const key = 'pk-live-benchmark0benchmark0benchmark0benchmark0benchmark0'

export const parkway: Contestant = createParkway({ id: 'parkway', environment: {} })

/** The gateway with its default settings, apart from those given: what a scenario about one setting compares. */
function createParkway({
  id,
  environment,
}: {
  id: string
  environment: Readonly<Record<string, string>>
}): Contestant {
  return {
    id,
    prepare: async ({ port, upstreamPort, directory, nodeFlags }) => {
      if (!existsSync(join(root, 'src/app/main.ts'))) return { unavailable: 'src/app/main.ts does not exist' }
      return {
        version: `this checkout, Node ${process.versions.node}`,
        command: process.execPath,
        arguments: [...nodeFlags, join(root, 'src/app/main.ts'), 'serve'],
        workingDirectory: root,
        environment: {
          PORT: String(port),
          HOST: '127.0.0.1',
          PARKWAY_DATA_DIR: join(directory, 'data'),
          PARKWAY_BOOTSTRAP_KEY: key,
          PARKWAY_BOOTSTRAP_CREDIT_USD: '1000000',
          OPENAI_API_KEY: 'sk-mock',
          OPENAI_BASE_URL: `http://127.0.0.1:${upstreamPort}/v1`,
          ...environment,
        },
        requestHeaders: { authorization: `Bearer ${key}` },
        readyPath: '/readyz',
        startTimeoutMs: 30_000,
      }
    },
  }
}
