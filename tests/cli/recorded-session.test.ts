import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { homeEnvironment, signIn } from './run-parkway.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const run = promisify(execFile)

/** A command of the session with what it printed. */
interface Step {
  readonly command: string
  readonly printed: string
}

const { gateway, home } = await startGatewayAndHome(() => startTestGateway(), { isSignedIn: false })
const STEPS = readSession()

beforeAll(async () => {
  await mkdir(join(home.directory, 'bin'))
  const program = join(home.directory, 'bin', 'parkway')
  await writeFile(program, `#!/bin/sh\nexec '${process.execPath}' '${join(ROOT, 'cli/main.ts')}' "$@"\n`)
  await chmod(program, 0o755)
})

test('the session in README.md is what a new gateway and the command line print', async () => {
  expect(STEPS.length).toBeGreaterThan(6)
  const [first, ...others] = STEPS
  expect(first?.command).toBe('parkway login')
  // The key is asked for on a terminal, and read from the input here.
  const { stdout } = await signIn(home, gateway)
  expect(first?.printed.endsWith(unify(stdout))).toBe(true)
  const answers: Step[] = []
  for (const { command } of others) {
    const { stdout: printed } = await run('bash', ['-c', `set -o pipefail; (${command}) 2>&1 </dev/null`], {
      cwd: home.directory,
      env: environment(),
    })
    answers.push({ command, printed: unify(printed) })
  }
  expect(answers).toEqual(others)
})

/** Reads the commands that were run and what they printed. */
function readSession(): Step[] {
  const text = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, session = ''] = /^```text\n(\$ parkway login\n.*?)^```/ms.exec(text) ?? []
  return session
    .split(/^\$ /m)
    .slice(1)
    .map((entry) => {
      const [command = '', ...lines] = entry.split('\n')
      return { command: command.replace(/ {2,}#.*/, ''), printed: unify(lines.join('\n')) }
    })
    .filter(({ printed }) => printed !== '')
}

/** Returns the text without what differs from run to run, and between a terminal and a file. */
function unify(text: string): string {
  return (
    text
      .replaceAll(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:8080')
      .replaceAll(home.directory, '~')
      .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'an-id')
      .replaceAll(/pk-dev-[\w-]+…?/g, 'pk-dev-…')
      // Progress and costs are shown on terminals only.
      .replaceAll(/^(█.*|\S+: \d+ tokens in, .*|\S+, \$[\d.]+)$/gm, '')
      .replaceAll(/▁+█/g, '▁█')
      .replaceAll(/\s+/g, ' ')
      .trim()
  )
}

function environment(): Record<string, string> {
  const own = homeEnvironment(home)
  // In place of the default address, which the session uses.
  return { ...own, PATH: `${join(home.directory, 'bin')}:${own.PATH}`, PARKWAY_BASE_URL: gateway.baseUrl }
}
