import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const write = async (name: string, text: string): Promise<string> => {
  const path = join(home.directory, name)
  await writeFile(path, text)
  return path
}

test('a document is exported, compared, applied, and changes nothing a second time', async () => {
  const added = await gateway.request('POST', '/v1/admin/providers', {
    body: { name: 'basement', base_url: 'http://127.0.0.1:9/v1', secret_ref: 'env:KEY_OF_THE_SERVER' },
  })
  expect(added.status).toBe(201)
  const path = join(home.directory, 'parkway.yaml')
  expect((await home.run(['config', 'export', '-o', path])).stdout).toContain(path)
  const text = await readFile(path, 'utf8')
  expect((await home.run(['config', 'export'])).stdout).toBe(text)
  expect(await home.run(['config', 'diff', path])).toMatchObject({ code: 0, stdout: 'Nothing differs.\n' })

  const slower = text.replace(
    'http://127.0.0.1:9/v1',
    'http://127.0.0.1:9/v1\n    timeouts:\n      idle_ms: 70000',
  )
  const changed = await write('changed.yaml', slower)
  const compared = await home.run(['config', 'diff', changed])
  expect([compared.code, compared.stdout]).toEqual([1, '~ provider basement\n    idle_ms: 70000\n'])
  expect((await home.run(['config', 'apply', '--check', changed])).code).toBe(1)
  const unasked = await home.run(['config', 'apply', changed])
  expect([unasked.code, unasked.stderr]).toEqual([2, expect.stringContaining('--yes')])
  const applied = await home.run(['config', 'apply', '--yes', '--reason', 'Slow.', changed])
  expect([applied.code, applied.stdout]).toEqual([0, expect.stringContaining('Done.')])
  expect(await home.run(['config', 'apply', '--yes', changed])).toMatchObject({
    code: 0,
    stdout: 'Nothing differs.\n',
  })
  const removed = await home.run([
    'config',
    'apply',
    '--yes',
    '--json',
    await write('none.yaml', 'parkway: 1\nproviders: []\n'),
  ])
  expect(JSON.parse(removed.stdout)).toMatchObject({
    is_applied: true,
    changes: [{ action: 'delete', name: 'basement' }],
  })
})

test.each([
  ['no file', 'nowhere.yaml', null, 'no such file'],
  ['no YAML', 'broken.yaml', 'a: [', 'is not YAML'],
  ['a list', 'list.yaml', '- a', 'is not an object'],
])('a path with %s is refused', async (_, name, text, sentence) => {
  const path = text === null ? join(home.directory, name) : await write(name, text)
  const { code, stderr } = await home.run(['config', 'diff', path])
  expect([code, stderr]).toEqual([2, expect.stringContaining(sentence)])
})

test('a document of another form is refused by the gateway', async () => {
  const { code, stderr } = await home.run(['config', 'diff', await write('other.yaml', 'parkway: 2\n')])
  expect([code, stderr]).toEqual([1, expect.stringContaining('parkway')])
})
