import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Contestant } from './contestant.ts'

const VERSION = '1.106.2'
const INSTALL_MS_MAX = 420_000
const cacheDirectory = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'parkway-bench')
const environmentDirectory = join(cacheDirectory, `litellm-${VERSION}`)

/** The LiteLLM proxy with one worker and a master key, without a database: the cheapest setup that authenticates. */
export const litellm: Contestant = {
  id: 'litellm',
  prepare: async ({ port, upstreamPort, directory, mayInstall, note }) => {
    const program = join(environmentDirectory, 'bin/litellm')
    if (!existsSync(program) && mayInstall) {
      note(`installing LiteLLM ${VERSION} into ${environmentDirectory} (once, about 750 MB)`)
      install()
    }
    if (!existsSync(program)) return { unavailable: 'Python 3 and pip could not provide it' }
    const configurationPath = join(directory, 'litellm.yaml')
    writeFileSync(configurationPath, writeConfiguration(upstreamPort))
    return {
      version: `LiteLLM ${VERSION}`,
      command: program,
      arguments:
        `--config ${configurationPath} --host 127.0.0.1 --port ${port} --num_workers 1 --telemetry False`.split(
          ' ',
        ),
      // Otherwise it fetches the cost map from the internet at startup.
      environment: { LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR', LITELLM_MODE: 'PRODUCTION' },
      requestHeaders: { authorization: 'Bearer sk-benchmark' },
      readyPath: '/health/readiness',
      startTimeoutMs: 120_000,
    }
  },
}

function install(): void {
  mkdirSync(cacheDirectory, { recursive: true })
  const options = { stdio: 'ignore', timeout: INSTALL_MS_MAX } as const
  if (spawnSync('python3', ['-m', 'venv', environmentDirectory], options).status !== 0) return
  spawnSync(
    join(environmentDirectory, 'bin/pip'),
    ['install', '--quiet', `litellm[proxy]==${VERSION}`],
    options,
  )
}

function writeConfiguration(upstreamPort: number): string {
  return `
model_list:
  - model_name: gpt-4o-mini
    litellm_params:
      model: openai/gpt-4o-mini
      api_base: http://127.0.0.1:${upstreamPort}/v1
      api_key: sk-mock
general_settings:
  master_key: sk-benchmark
`
}
