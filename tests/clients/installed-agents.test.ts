import { execFile } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'

/** Finds an installed program on the PATH. Continuous integration does not have these programs. */
function findProgram(name: string): string | undefined {
  const candidates = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, name))
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

const TIMEOUT_MS = 120_000
const claude = findProgram('claude')
const codex = findProgram('codex')

describe.skipIf(claude === undefined && codex === undefined)('an installed program', () => {
  let gateway: TestGateway
  let home: string

  beforeAll(async () => {
    gateway = await startTestGateway({ settings: { PARKWAY_BOOTSTRAP_CREDIT_USD: '1000' } })
    home = await mkdtemp(join(tmpdir(), 'parkway-agents-'))
  })

  afterAll(async () => {
    await gateway.close()
    await rm(home, { recursive: true, force: true })
  })

  const run = (program: string, args: readonly string[], variables: Record<string, string>) =>
    new Promise<string>((resolve, reject) => {
      const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...variables }
      const child = execFile(program, args, { cwd: home, env, timeout: TIMEOUT_MS }, (error, stdout) =>
        error === null ? resolve(stdout) : reject(error),
      )
      child.stdin?.end()
    })

  test.skipIf(claude === undefined)(
    'Claude Code works with two variables set',
    async () => {
      const said = await run(claude ?? '', ['-p', '[[sandbox:echo forty-two]]'], {
        ANTHROPIC_BASE_URL: gateway.baseUrl,
        ANTHROPIC_AUTH_TOKEN: gateway.key,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      })
      expect(said).toContain('forty-two')
    },
    TIMEOUT_MS,
  )

  test.skipIf(codex === undefined)(
    'Codex works with the gateway as its provider',
    async () => {
      const provider = [
        'model = "gpt-5.4"',
        'model_provider = "parkway"',
        '[model_providers.parkway]',
        'name = "Parkway"',
        `base_url = "${gateway.baseUrl}/v1"`,
        'env_key = "PARKWAY_API_KEY"',
        'wire_api = "responses"',
      ]
      await writeFile(join(home, 'config.toml'), provider.join('\n'))
      const said = await run(codex ?? '', ['exec', '--skip-git-repo-check', '[[sandbox:echo forty-two]]'], {
        CODEX_HOME: home,
        PARKWAY_API_KEY: gateway.key,
      })
      expect(said).toContain('forty-two')
    },
    TIMEOUT_MS,
  )
})
