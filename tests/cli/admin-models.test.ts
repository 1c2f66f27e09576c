import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { home } = await startGatewayAndHome(startTestGateway)

const write = async (name: string, text: string): Promise<string> => {
  const path = join(home.directory, name)
  await writeFile(path, text)
  return path
}

test('a model is added from a file, listed, changed and removed', async () => {
  const path = await write(
    'our-llama.yaml',
    `id: our-llama
name: Our Llama
vendor: Meta
category: llm
context_tokens: 8192
capabilities: [chat]
price: { unit: token, input_usd_per_1m: 0.1, output_usd_per_1m: 0.3 }
routes:
  - { provider: groq, model: llama }
`,
  )
  expect((await home.run(['admin', 'models', 'list', '--own'])).stderr).toContain('No model was added')
  const made = await home.run(['admin', 'models', 'add', path])
  expect([made.code, made.stdout]).toEqual([
    0,
    'our-llama is served from now on, for $0.10 in, $0.30 out for 1M tokens.\n',
  ])
  const taken = await home.run(['admin', 'models', 'add', path])
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringContaining('already a model')])
  expect((await home.run(['admin', 'models', 'list', '--own'])).stdout).toMatch(/our-llama +llm +API/)
  expect((await home.run(['admin', 'models', 'list', '--json'])).stdout.split('\n').length).toBeGreaterThan(
    60,
  )
  const changes = await write('changes.yaml', 'context_tokens: 4096\n')
  expect((await home.run(['admin', 'models', 'set', 'our-llama', changes])).stdout).toBe(
    'our-llama is changed.\n',
  )
  expect((await home.run(['admin', 'models', 'set', 'gpt-5.4', changes])).code).toBe(1)
  expect((await home.run(['admin', 'models', 'rm', 'our-llama'])).code).toBe(2)
  expect((await home.run(['admin', 'models', 'rm', '--yes', 'our-llama'])).stdout).toBe(
    'our-llama is removed.\n',
  )
  expect((await home.run(['admin', 'models', 'rm', '--yes', 'our-llama'])).code).toBe(4)
})

test('commands say which models end, and who uses them', async () => {
  const path = await write(
    'our-old.yaml',
    `id: our-old
name: Our Old
vendor: Meta
category: llm
context_tokens: 8192
capabilities: [chat]
price: { unit: token, input_usd_per_1m: 0.1, output_usd_per_1m: 0.3 }
routes:
  - { provider: groq, model: llama }
deprecated_from: 2026-01-01
shutdown_at: 2099-12-31
`,
  )
  expect((await home.run(['admin', 'models', 'add', path])).code).toBe(0)
  expect((await home.run(['models', 'list', '--vendor', 'Meta'])).stdout).toMatch(/our-old .*2099-12-31/)
  expect((await home.run(['models', 'show', 'our-old'])).stdout).toMatch(/ends +2099-12-31\n/)
  expect((await home.run(['whoami'])).stderr).toBe('')
  const answer = await home.run(['chat', '--model', 'our-old', 'Hi'])
  const warning = 'Warning: the model "our-old" ends on 2099-12-31.\n'
  expect([answer.code, answer.stderr.replace(warning, '')]).toEqual([
    0,
    expect.not.stringContaining('Warning'),
  ])
  expect(answer.stderr).toContain(warning)
  expect((await home.run(['whoami'])).stderr).toMatch(
    /^Warning: the model "our-old" ends on 2099-12-31 and is used by .+\.\n$/,
  )
})

test('a price is set for later, listed and withdrawn', async () => {
  const path = await write('price.yaml', 'unit: token\ninput_usd_per_1m: 3\noutput_usd_per_1m: 16\n')
  const from = new Date(Date.now() + 86_400_000).toISOString()
  const words = [
    'admin',
    'prices',
    'set',
    'gpt-5.4',
    path,
    '--from',
    from,
    '--reason',
    'The vendor raises its prices.',
  ]
  const made = await home.run(words)
  expect([made.code, made.stdout]).toEqual([
    0,
    expect.stringContaining(`$3.00 in, $16.00 out for 1M tokens from ${from}`),
  ])
  const listed = await home.run(['admin', 'prices', 'list', 'gpt-5.4'])
  expect(listed.stdout).toMatch(/future.*\$3\.00 in.*The vendor raises/)
  expect(listed.stdout).toMatch(/current/)
  const version = /version is (\d+)/.exec(made.stdout)?.[1] ?? ''
  expect((await home.run(['admin', 'prices', 'withdraw', 'gpt-5.4', version])).stdout).toBe(
    'Requests from now on are not charged by it.\n',
  )
  expect((await home.run(['admin', 'prices', 'set', 'gpt-5.4', path, '--from', '2020-01-01'])).code).toBe(1)
})

test('what a vendor charges is set beside the price, and a markup is added, listed and ended', async () => {
  const path = await write('cost.yaml', 'unit: token\ninput_usd_per_1m: 1.25\noutput_usd_per_1m: 7.5\n')
  const set = await home.run(['admin', 'prices', 'cost', 'gpt-5.4-mini', 'openai', path])
  expect([set.stderr, set.stdout]).toEqual([
    '',
    expect.stringContaining('openai charges $1.25 in, $7.50 out'),
  ])
  const listed = await home.run(['admin', 'prices', 'list', 'gpt-5.4-mini'])
  expect(listed.stdout).toMatch(/current.*openai \$1\.25 in/)
  const adjust = (...words: string[]) => home.run(['admin', 'prices', 'adjust', ...words])
  const added = await adjust('add', '12.5', '-m', 'gpt-5.4-mini', '--reason', 'Our markup')
  expect([added.stderr, added.stdout]).toEqual([
    '',
    expect.stringContaining('+12.5 % for everybody, gpt-5.4-mini'),
  ])
  expect((await adjust('list')).stdout).toMatch(/in force +everybody, gpt-5\.4-mini +\+12\.5 %.*Our markup/)
  const id = /its id is (\d+)/.exec(added.stdout)?.[1] ?? ''
  expect((await adjust('end', id)).stdout).toBe('Requests from now on are not adjusted by it.\n')
})

test('a price list is compared, and what is named is taken', async () => {
  const entry = (input: number) => ({
    litellm_provider: 'openai',
    mode: 'chat',
    input_cost_per_token: input,
    output_cost_per_token: 15e-6,
  })
  const list = { 'gpt-5.4': entry(3e-6), 'gpt-5.4-mini': entry(1e-3), 'gpt-5.6': entry(-1) }
  const path = await write('prices.json', JSON.stringify(list))
  const compared = await home.run(['admin', 'prices', 'import', path])
  expect(compared.stdout).toMatch(/gpt-5\.4 +openai +input_usd_per_1m 2\.5 → 3/)
  expect(compared.stdout).toMatch(/gpt-5\.4-mini .*yes/)
  expect(compared.stderr).toContain('Not used: gpt-5.6: input_cost_per_token is negative')
  expect((await home.run(['admin', 'prices', 'import', path, '-m', 'gpt-5.4'])).code).toBe(2)
  const taken = await home.run(['admin', 'prices', 'import', path, '--apply', '--yes'])
  expect([taken.code, taken.stdout]).toEqual([0, expect.stringContaining('Changed prices: gpt-5.4.\n')])
  const again = await home.run(['admin', 'prices', 'import', path, '--json'])
  expect(
    JSON.parse(again.stdout).differences.filter(({ status }: { status: string }) => status === 'changed'),
  ).toMatchObject([{ model: 'gpt-5.4-mini', is_suspicious: true }])
})

test.each([
  [['prices', 'import', 'nowhere.json'], 'no such file'],
  [['prices', 'import', 'x', '--format', 'csv'], 'litellm or models.dev'],
  [['models', 'add', 'nowhere.yaml'], 'no such file'],
])('parkway admin %j says what is wrong', async (words, sentence) => {
  const { code, stderr } = await home.run(['admin', ...words])
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})
