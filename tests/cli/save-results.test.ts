import { createServer, type Server } from 'node:http'
import { mkdtemp, readdir, readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { explainFileError } from '../../cli/files/explain-file-error.ts'
import { toFileName } from '../../cli/files/name-file.ts'
import { saveResults } from '../../cli/files/save-results.ts'
import type { Task } from '../../cli/tasks/follow-task.ts'
import { removeDirectory } from '../support/remove-directory.ts'

const FILE = Buffer.alloc(300_000, 'x')
const CUT_AFTER = 100_000

let server: Server
let ranges: (string | undefined)[]
let directory: string

beforeAll(async () => {
  server = createServer((request, response) => {
    ranges.push(request.headers.range)
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    const begin = from === 0 ? '' : `bytes ${from}-${FILE.length - 1}/${FILE.length}`
    response.writeHead(from === 0 ? 200 : 206, {
      'content-length': FILE.length - from,
      ...(begin === '' ? {} : { 'content-range': begin }),
    })
    if (request.url?.startsWith('/always') === true)
      response.write('x', () => setImmediate(() => response.destroy()))
    else if (request.url?.startsWith('/cut') === true && from < CUT_AFTER)
      response.write(FILE.subarray(from, CUT_AFTER), () => setImmediate(() => response.destroy()))
    else response.end(FILE.subarray(from))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
})
afterAll(() => void server.close())
beforeEach(async () => {
  ranges = []
  directory = await mkdtemp(join(tmpdir(), 'parkway-results-'))
})
afterEach(() => removeDirectory(directory))

const taskOf = (path: string, id = '01a1e900-0fc9-7eff-b14c-dd4471e0969d') => {
  const { port } = server.address() as AddressInfo
  return {
    id,
    task_type: 'video',
    result: { data: [{ url: `http://127.0.0.1:${port}${path}` }] },
  } as unknown as Task
}

test('a download that is cut continues where it ended, and only a whole file gets its name', async () => {
  const path = join(directory, 'a.mp4')
  expect(await saveResults(taskOf('/cut.mp4'), { path, isForced: false })).toEqual([path])
  expect((await readFile(path)).equals(FILE)).toBe(true)
  expect(ranges).toHaveLength(2)
  expect(ranges[1]).toMatch(/^bytes=[1-9]\d*-$/)
  expect(await readdir(directory)).toEqual(['a.mp4'])
})

test('a file that the gateway names stays in its directory', async () => {
  const [path = ''] = await saveResults(taskOf('/a.mp4', '../../../up'), { path: directory, isForced: false })
  expect(await readdir(directory)).toEqual([path.slice(directory.length + 1)])
})

test('a download that is cut again and again fails, and leaves no file', async () => {
  const saving = saveResults(taskOf('/always.mp4'), { path: join(directory, 'a.mp4'), isForced: false })
  await expect(saving).rejects.toMatchObject({ exitCode: 1, message: expect.stringContaining('cut 5 times') })
  expect(ranges).toHaveLength(5)
  expect(await readdir(directory)).toEqual([])
})

test('a full disk and a missing directory are explained', async () => {
  const full = saveResults(taskOf('/a.mp4'), { path: join(directory, 'none', 'a.mp4'), isForced: false })
  await expect(full).rejects.toMatchObject({ message: expect.stringContaining('directory does not exist') })
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
  expect(explainFileError('a.mp4', error)).toMatchObject({
    exitCode: 1,
    message: 'a.mp4 could not be saved: the disk is full.',
    advice: expect.stringContaining('Free some space'),
  })
})

test('a path becomes a name', () => {
  expect(toFileName('../../etc/passwd')).toBe('__.._etc_passwd')
})

test.each([
  ['C:\\Windows\\system.ini', 'C__Windows_system.ini'],
  ['con', '_con'],
  ['NUL.png', '_NUL.png'],
  ['com1.mp4', '_com1.mp4'],
  ['console.png', 'console.png'],
  ['.bashrc', '_bashrc'],
  ['name.', 'name_'],
  ['a\u0000b\u001B[2J', 'a_b__2J'],
  ['', '_'],
])("the gateway's name %j becomes %j, which every system takes", (text, name) => {
  expect(toFileName(text)).toBe(name)
})
