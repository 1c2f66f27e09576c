import { createServer, type Server } from 'node:http'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { saveResults } from '../../cli/tasks/save-results.ts'
import type { Task } from '../../cli/tasks/follow-task.ts'

const FILE = Buffer.alloc(300_000, 'x')
const CUT_AFTER = 100_000

let server: Server
let ranges: (string | undefined)[]
let directory: string

beforeAll(async () => {
  server = createServer((request, response) => {
    ranges.push(request.headers.range)
    const from = Number(/^bytes=(\d+)-$/.exec(request.headers.range ?? '')?.[1] ?? 0)
    response.writeHead(from === 0 ? 200 : 206, { 'content-length': FILE.length - from })
    if (request.url?.startsWith('/cut') === true && from < CUT_AFTER)
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
afterEach(() => rm(directory, { recursive: true, force: true }))

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
