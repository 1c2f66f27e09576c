import { afterAll, beforeAll, expect, it } from 'vitest'
import { createWorkplace, type Workplace } from './workplace.ts'

let workplace: Workplace

beforeAll(() => {
  workplace = createWorkplace()
})
afterAll(() => workplace.clean())

it('a first start prints its banner, that its database is ready, and nothing else', async () => {
  const program = workplace.start(['serve'])
  const { url, key } = await program.ready()
  // Stop first, so that the log is complete, including the lines of the shutdown.
  program.kill('SIGTERM')
  await program.exited
  expect(program.log.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'database server is ready'],
    ['info', 'stopping: running requests may finish'],
  ])
  const printed = program.stdout.split('\n').filter((line) => !line.startsWith('{'))
  expect(printed.join('\n').replace(/\d+\.\d s/, '2.2 s')).toBe(`
Parkway is ready (2.2 s).

  Base URL   ${url}/v1
  API key    ${key}   (shown this once: keep it)
  Models     the built-in sandbox; set OPENAI_API_KEY and the like for real models
  Docs       ${url}/docs

First request:

  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"model":"gpt-4o-mini","messages":[{"role":"user","content":"Hello!"}]}'

`)
  expect(program.stderr).toBe('')
})
