import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { removeDirectory } from '../support/remove-directory.ts'
import { startTestGateway, type TestGateway } from '../support/start-test-gateway.ts'
import { runProgram } from './run-program.ts'
import { writeDocument } from './write-document.ts'

const BIN = join(import.meta.dirname, '../../node_modules/.bin')

const PROGRAM = `
import * as api from './client.ts'

api.defaults.baseUrl = process.env['BASE_URL'] ?? ''
api.defaults.headers = { authorization: 'Bearer ' + process.env['API_KEY'] }

const chat = await api.postChatCompletions({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] })
if (chat.status !== 200) throw new Error(JSON.stringify(chat))
const models = await api.getModels()
if (models.status !== 200) throw new Error(JSON.stringify(models))
const key = await api.postTenantsMeApiKeys({ name: 'made by a generated client' })
if (key.status !== 201) throw new Error(JSON.stringify(key))
const missing = await api.getTasksById('00000000-0000-4000-8000-000000000000')
console.log(JSON.stringify([chat.data.object, chat.data.usage.cost_usd > 0, models.data.data.length > 10, key.data.name, missing.status]))
`

const WRONG_PROGRAM = `
import * as api from './client.ts'
await api.postChatCompletions({ messages: 'not a list' })
`

let gateway: TestGateway
let directory: string

beforeAll(async () => {
  gateway = await startTestGateway()
  directory = await mkdtemp(join(tmpdir(), 'parkway-client-'))
  const document = await writeDocument(gateway, directory)
  const made = await runProgram(join(BIN, 'oazapfts'), [document, 'client.ts'], { cwd: directory })
  expect(made).toMatchObject({ exitCode: 0 })
  await writeFile(join(directory, 'program.ts'), PROGRAM)
  await writeFile(join(directory, 'wrong.ts'), WRONG_PROGRAM)
}, 240_000)

afterAll(async () => {
  await gateway.close()
  await removeDirectory(directory)
})

const OPTIONS = [
  ['--noEmit', '--strict', '--skipLibCheck', '--allowImportingTsExtensions', '--target', 'es2024'],
  ['--module', 'nodenext', '--types', 'node', '--ignoreConfig'],
].flat()

test('a generated TypeScript client passes the type check and refuses an invalid request', async () => {
  await writeFile(join(directory, 'package.json'), '{"type":"module"}')
  const right = await runProgram(join(BIN, 'tsc'), [...OPTIONS, 'program.ts'], { cwd: directory })
  expect(right).toEqual({ exitCode: 0, output: '' })
  const wrong = await runProgram(join(BIN, 'tsc'), [...OPTIONS, 'wrong.ts'], { cwd: directory })
  expect(wrong.exitCode).not.toBe(0)
  expect(wrong.output).toMatch(/^wrong\.ts\(3,33\)/)
})

test('a generated TypeScript client gets typed answers and typed errors', async () => {
  const { exitCode, output } = await runProgram(process.execPath, ['--no-warnings', 'program.ts'], {
    cwd: directory,
    environment: { BASE_URL: gateway.baseUrl, API_KEY: gateway.key },
  })
  expect([exitCode, output.trim()]).toEqual([
    0,
    JSON.stringify(['chat.completion', true, true, 'made by a generated client', 404]),
  ])
})
