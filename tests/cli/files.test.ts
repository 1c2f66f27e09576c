import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import { startTestGateway } from '../support/start-test-gateway.ts'
import { startGatewayInBetween } from './gateway-in-between.ts'
import { startGatewayAndHome } from './gateway-and-home.ts'
import { makeBatch } from './make-batch.ts'

const { gateway, home } = await startGatewayAndHome(startTestGateway)

const fileOf = async (name: string, content: string | Buffer): Promise<string> => {
  const path = join(home.directory, name)
  await writeFile(path, content)
  return path
}
const upload = async (name: string, content: string, ...options: string[]): Promise<string> => {
  const { code, stdout, stderr } = await home.run([
    'files',
    'upload',
    ...options,
    await fileOf(name, content),
  ])
  expect([code, stderr]).toEqual([0, expect.stringContaining(name)])
  return stdout.trim()
}

test('a file is uploaded, listed by its purpose, shown, saved and deleted', async () => {
  const id = await upload('note.txt', 'hello', '--expires', '24h')
  await upload('lines.jsonl', '{}', '--purpose', 'batch')
  const listed = await home.run(['files', 'list', '--purpose', 'user_data', '--json'])
  const rows = listed.stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(rows.map((row: { id: string }) => row.id)).toEqual([id])
  expect(rows[0].expires_at - rows[0].created_at).toBe(86_400)
  const names = await home.run(['files', 'list', '--jq', '.[].filename'])
  expect(names.stdout).toBe('lines.jsonl\nnote.txt\n')

  // The first digits of ids made at once are the same, so that the last ones are left out only.
  const shown = await home.run(['files', 'get', id.slice(0, -4)])
  expect([shown.code, shown.stdout]).toEqual([0, expect.stringMatching(/name +note\.txt/)])
  const target = join(home.directory, 'saved.txt')
  const saved = await home.run(['files', 'download', '-o', target, id])
  expect([saved.code, saved.stdout.trim(), await readFile(target, 'utf8')]).toEqual([0, target, 'hello'])
  const again = await home.run(['files', 'download', '-o', target, id])
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('exists')])

  const asked = await home.run(['files', 'delete', id])
  expect([asked.code, asked.stderr]).toEqual([2, expect.stringContaining('--yes')])
  const deleted = await home.run(['files', 'delete', '--yes', id])
  expect([deleted.code, deleted.stdout]).toEqual([0, `Deleted ${id}.\n`])
  const gone = await home.run(['files', 'get', id])
  expect(gone.code).toBe(4)
})

test('what cannot be a file, a purpose or a time is explained before anything is sent', async () => {
  const path = await fileOf('wrong.txt', 'x')
  const wrong = [
    ['upload', '--purpose', 'results', path],
    ['upload', '--expires', 'soon', path],
    ['upload', join(home.directory, 'missing.txt')],
    ['list', '--purpose', 'mine'],
  ]
  for (const words of wrong) expect((await home.run(['files', ...words])).code).toBe(2)
})

test('a file shows the batches that read it, and one that still runs keeps it', async () => {
  const batchId = await makeBatch(gateway, '[[sandbox:latency ms=20000]] Hi')
  const { body: batch } = await gateway.request('GET', `/v1/batches/${batchId}`)
  const shown = await home.run(['files', 'get', batch.input_file_id])
  expect(shown.stdout).toContain(batchId)
  const refused = await home.run(['files', 'delete', '--yes', batch.input_file_id])
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining(batchId)])
  await gateway.request('POST', `/v1/batches/${batchId}/cancel`)
})

describe('a large file', () => {
  /** Three parts. */
  const bytes = Buffer.alloc(33 * 1024 * 1024, 'large ')
  let cuts = 0
  /** Called for the part that gets no answer. */
  let onHeld: (() => void) | null = null
  let passed = 0
  const between = startGatewayInBetween(gateway.baseUrl, (path, response) => {
    if (!path.endsWith('/parts')) return false
    if (cuts > 0) {
      cuts -= 1
      response.destroy()
      return true
    }
    if (passed > 0 && onHeld !== null) {
      onHeld()
      return true
    }
    passed += 1
    return false
  })
  afterAll(async () => (await between).close())

  const sendLarge = async (path: string, onStart?: (child: ChildProcess) => void) =>
    home.run(['files', 'upload', '--json', path], {
      ...(onStart === undefined ? {} : { onStart }),
      environment: { PARKWAY_BASE_URL: (await between).baseUrl, PARKWAY_API_KEY: gateway.key },
    })
  const partsSent = async () => (await between).paths.filter((path) => path.endsWith('/parts')).length

  test('is sent in parts, and a part that was cut is sent again', async () => {
    const path = await fileOf('large.bin', bytes)
    cuts = 1
    const { code, stdout } = await sendLarge(path)
    expect(code).toBe(0)
    const file = JSON.parse(stdout)
    expect([file.bytes, file.filename, await partsSent()]).toEqual([bytes.length, 'large.bin', 4])
    const target = join(home.directory, 'large.copy')
    expect((await home.run(['files', 'download', '-o', target, file.id])).code).toBe(0)
    const hashOf = (content: Buffer) => createHash('sha256').update(content).digest('hex')
    expect(hashOf(await readFile(target))).toBe(hashOf(bytes))
  })

  test('goes on behind the parts that a killed command has sent', async () => {
    const path = await fileOf('killed.bin', bytes)
    const before = await partsSent()
    passed = 0
    const killed = await sendLarge(path, (child) => {
      onHeld = () => child.kill('SIGKILL')
    })
    expect(killed.code).not.toBe(0)
    onHeld = null
    const { code, stdout } = await sendLarge(path)
    expect([code, JSON.parse(stdout).bytes]).toEqual([0, bytes.length])
    // The first one, the one that was cut, and the two that were left.
    expect((await partsSent()) - before).toBe(4)
  })
})
