import { spawnSync } from 'node:child_process'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { startInTerminal, type TerminalSession } from './in-terminal.ts'

const PROGRAM = resolve(import.meta.dirname, '../../cli/main.ts')
const TAB = '\t'
const CLEAR_LINE = '\u0015'

/** How each shell starts without the files of its user, and takes over the completion. */
const SHELLS = {
  bash: { start: ['bash', '--norc', '--noprofile', '-i'], load: 'source <(parkway completion bash)' },
  zsh: {
    start: ['zsh', '-f', '-i'],
    load: 'autoload -Uz compinit && compinit -u -D && source <(parkway completion zsh)',
  },
  fish: { start: ['fish', '--no-config', '-i'], load: 'parkway completion fish | source' },
} as const

const { gateway, home } = await startGatewayAndHome(startTestGateway)
let model: string

beforeAll(async () => {
  const ids = (await gateway.request('GET', '/v1/models')).body.data.map(({ id }: { id: string }) => id)
  model = ids.find((id: string) => ids.filter((other: string) => other.startsWith(begin(id))).length === 1)
  await writeFile(join(home.directory, 'some recording.wav'), '')
  const bin = join(home.directory, 'bin')
  await mkdir(bin)
  await writeFile(join(bin, 'parkway'), `#!/bin/sh\nexec '${process.execPath}' '${PROGRAM}' "$@"\n`)
  await chmod(join(bin, 'parkway'), 0o755)
})

const begin = (id: string) => id.slice(0, -3)
const isInstalled = (shell: string) => spawnSync(shell, ['-c', 'exit 0']).status === 0

describe.each(Object.keys(SHELLS) as (keyof typeof SHELLS)[])('%s', (shell) => {
  test.skipIf(!isInstalled(shell))(`completes commands, options, models and files in ${shell}`, async () => {
    const { start, load } = SHELLS[shell]
    const session = startInTerminal(home, [], {
      program: [...start],
      columns: 120,
      environment: { PATH: `${join(home.directory, 'bin')}:${process.env.PATH ?? ''}` },
    })
    try {
      session.type(`${load}; echo lo""aded\r`)
      await session.waitFor('loaded')
      await complete(session, [['parkway ke', 'parkway keys']])
      await complete(session, [
        ['parkway keys cre', 'parkway keys create'],
        ['--nam', 'parkway keys create --name'],
      ])
      await complete(session, [['parkway admin-', 'parkway admin-key']])
      await complete(session, [['parkway models --cat', 'parkway models --category']])
      await complete(session, [['parkway completion fi', 'parkway completion fish']])
      await complete(session, [[`parkway models show ${begin(model)}`, `parkway models show ${model}`]])
      await complete(session, [[`parkway chat --model ${begin(model)}`, `chat --model ${model}`]])
      await complete(session, [['parkway transcribe some', /some(\\ | )recording\.wav/]])
    } finally {
      session.kill()
    }
  })
})

/** Types words, each with a tab behind it, and waits for what the shell makes of them. */
async function complete(
  session: TerminalSession,
  steps: readonly (readonly [string, string | RegExp])[],
): Promise<void> {
  for (const [word, shown] of steps) {
    session.type(word + TAB)
    await session.waitFor(shown)
  }
  session.type(CLEAR_LINE)
}

describe('words of the gateway', () => {
  test('are the ids, one a line', async () => {
    const { stdout } = await home.run(['completion', '--list', 'models'])
    expect(stdout.split('\n')).toContain(model)
    expect((await home.run(['completion', '--list', 'profiles'])).stdout).toBe('default\n')
    expect((await home.run(['completion', '--list', 'tiers'])).stdout).toContain('l40s_48gb\n')
  })

  test('are none, without a message, if nobody is signed in or the gateway is away', async () => {
    const environment = { PARKWAY_BASE_URL: 'http://127.0.0.1:9', PARKWAY_API_KEY: 'x' }
    const away = await home.run(['completion', '--list', 'models'], { environment })
    expect(away).toEqual({ code: 0, stdout: '', stderr: '' })
    const stranger = await home.run(['completion', '--list', 'tasks', '--profile', 'nobody'])
    expect(stranger).toEqual({ code: 0, stdout: '', stderr: '' })
  })

  test('contain nothing that a shell would obey', async () => {
    const ids = ['good-model', '$(touch owned)', '`x`', 'a b', '-rf', 'x;y', '\u001B[2J']
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ data: ids.map((id) => ({ id })) }))
    })
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
    const { port } = server.address() as AddressInfo
    const environment = { PARKWAY_BASE_URL: `http://127.0.0.1:${port}`, PARKWAY_API_KEY: 'x' }
    try {
      const { stdout } = await home.run(['completion', '--list', 'models'], { environment })
      expect(stdout).toBe('good-model\n')
    } finally {
      server.close()
    }
  })
})

test.each([
  [['completion'], 'Name a shell'],
  [['completion', 'tcsh'], 'tcsh'],
  [['completion', '--list', 'secrets'], 'secrets'],
])('%j ends with 2 and says why', async (words, reason) => {
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain(reason)
})
