import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

test('models are listed as a table and as JSON lines, and one is shown', async () => {
  const { body } = await gateway.request('GET', '/v1/models?category=embedding')
  const lines = await home.run(['models', 'list', '--category', 'embedding', '--json'])
  expect(
    lines.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
  ).toEqual(body.data)
  const table = await home.run(['models', '--category', 'embedding'])
  expect(table.stdout.trim().split('\n')).toHaveLength(body.data.length + 1)
  const { stdout } = await home.run(['models', 'show', 'gpt-4o-mini'])
  expect(stdout).toMatch(/^route +\/v1\/chat\/completions$/m)
  expect((await home.run(['models', 'show', 'nope'])).code).toBe(4)
})

test('tiers are listed', async () => {
  const { body } = await gateway.request('GET', '/v1/gpu-tiers')
  const { code, stdout } = await home.run(['tiers'])
  expect([code, stdout]).toEqual([0, expect.stringContaining(body.data[0].id)])
  const lines = (await home.run(['tiers', '--json'])).stdout.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line).id)).toEqual(body.data.map(({ id }: { id: string }) => id))
})

test('a reader that leaves early ends the program quietly', async () => {
  const command = `'${process.execPath}' cli/main.ts models list --json | head -n 1; echo "\${PIPESTATUS[0]}"`
  const environment = { PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: gateway.key }
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((done, fail) =>
    execFile('bash', ['-c', command], { env: { ...process.env, ...environment } }, (error, out, err) =>
      error === null ? done({ stdout: out, stderr: err }) : fail(error),
    ),
  )
  expect([stdout.trim().split('\n').at(-1), stderr]).toEqual(['0', ''])
})

test('an output that cannot be written is a failure with its reason', async () => {
  const full = openSync('/dev/full', 'w')
  const env = { ...process.env, PARKWAY_BASE_URL: gateway.baseUrl, PARKWAY_API_KEY: gateway.key }
  const child = spawn(process.execPath, ['cli/main.ts', 'models', 'list'], {
    env,
    stdio: ['ignore', full, 'pipe'],
  })
  let said = ''
  child.stderr?.on('data', (part: Buffer) => (said += part.toString()))
  const [code] = await once(child, 'close')
  closeSync(full)
  expect([code, said]).toEqual([1, 'parkway: The output could not be written: the disk is full.\n'])
})

test('the program lists its commands, and proposes one for a misspelt one', async () => {
  const { code, stdout } = await home.run(['--help'])
  expect(code).toBe(0)
  for (const name of ['login', 'chat', 'models', 'serve', 'backup'])
    expect(stdout).toMatch(new RegExp(`^  ${name} `, 'm'))
  const unknown = await home.run(['modles'])
  expect([unknown.code, unknown.stderr]).toEqual([2, expect.stringContaining('"parkway models"')])
  expect((await home.run(['help', 'chat'])).stdout).toContain('Example:')
})

test.each([
  [['models', 'shwo'], 'There is no command "models shwo". Did you mean "parkway models show"?'],
  [['tasks', 'nonsense'], 'There is no command "tasks nonsense".'],
  [['models', '--categroy', 'llm'], "unknown option '--categroy'\n(Did you mean --category?)"],
  [['redeem'], "missing required argument 'code'"],
])('%j is refused with what is wrong', async (words, sentence) => {
  const { code, stdout, stderr } = await home.run(words)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr.startsWith(`parkway: ${sentence}\n`)).toBe(true)
})

test.each([
  [['models', '--category', 'nothing'], 'No model matches. "parkway models" lists all.\n'],
  [['admin', 'accounts', '--search', 'nobody at all'], 'No account matches.\n'],
])('%j says that there is nothing, and prints nothing', async (words, sentence) => {
  expect(await home.run(words)).toEqual({ code: 0, stdout: '', stderr: sentence })
  expect(await home.run([...words, '--json'])).toEqual({ code: 0, stdout: '', stderr: '' })
})
