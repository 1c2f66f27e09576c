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
  const code = /#code=([\w-]{43})\b/.exec(program.stderr)?.[1] ?? ''
  const headers = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }
  const signIn = () =>
    fetch(`${url}/v1/sessions`, { method: 'POST', headers, body: JSON.stringify({ code }) })
  const session = await signIn()
  expect(session.status).toBe(201)
  const cookie = session.headers.get('set-cookie')?.split(';', 1)[0] ?? ''
  const audit = await fetch(`${url}/v1/admin/audit`, { headers: { ...headers, cookie } })
  expect(audit.status).toBe(200)
  expect((await signIn()).status).toBe(401)
  // Stop first, so that the log is complete, including the lines of the shutdown.
  program.kill('SIGTERM')
  await program.exited
  const log = program.log.filter(({ route }) => route === undefined)
  expect(log.map(({ level, msg }) => [level, msg])).toEqual([
    ['info', 'database server is ready'],
    ['info', 'stopping: running requests may finish'],
  ])
  expect(program.stdout.split('\n').filter((line) => line !== '' && !line.startsWith('{'))).toEqual([])
  // A start that takes long prints the key before its banner too.
  const banner = program.stderr.replace(/^\nThe API key[^]*?\n\n(?=\nParkway)/, '')
  expect(banner.replace(/\d+\.\d s/, '2.2 s')).toBe(`
Parkway is ready (2.2 s).

  Base URL   ${url}/v1
  API key    ${key}   (shown this once: keep it)
  Console    ${url}/sign-in#code=${code}   (signs in once, within an hour)
  Models     the built-in sandbox; set OPENAI_API_KEY and the like for real models
  Docs       ${url}/docs

First request:

  curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '{"model":"gpt-5.6-luna","messages":[{"role":"user","content":"Hello!"}]}'

`)
  // The code reaches no line of the log.
  expect(program.stdout).not.toContain(code)
})
