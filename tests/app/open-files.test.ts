import { createServer, type ServerResponse } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { call, chatBody, until, type Called } from './call.ts'
import { createWorkplace, type Workplace } from './workplace.ts'

const ANSWER = {
  id: 'x',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-4o-mini',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}

const OPEN_FILES = 300
/** Many more clients than the process can have connections. */
const CLIENTS = 400

const waiting: ServerResponse[] = []
const upstream = createServer((request, response) => {
  request.resume().on('end', () => waiting.push(response))
})
let workplace: Workplace

beforeAll(async () => {
  workplace = createWorkplace()
  await workplace.prepareDatabase()
  await new Promise<void>((resolve) => void upstream.listen(0, '127.0.0.1', resolve))
})
afterAll(async () => {
  await workplace.clean()
  upstream.closeAllConnections()
  upstream.close()
})

const answerWaiting = () => {
  for (const response of waiting.splice(0))
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(ANSWER))
}

it('a process with few file descriptors accepts as many requests as it can serve, and refuses the others itself', async () => {
  const address = upstream.address()
  const port = typeof address === 'object' ? address?.port : 0
  const program = workplace.start(['serve'], {
    openFilesMax: OPEN_FILES,
    environment: { OPENAI_API_KEY: 'sk-test', OPENAI_BASE_URL: `http://127.0.0.1:${port}/v1` },
  })
  const { url, key } = await program.ready()
  const answers: Called[] = []
  const ask = () => call('POST', `${url}/v1/chat/completions`, { key, body: chatBody('Hi') })
  const all = Array.from({ length: CLIENTS }, async () => answers.push(await ask()))
  await until(() => answers.length + waiting.length >= CLIENTS)
  const served = waiting.length
  expect(served).toBeGreaterThan(0)
  answerWaiting()
  await Promise.all(all)

  expect(served).toBeLessThan(CLIENTS)
  const refused = answers.filter(({ status }) => status !== 200)
  expect(answers.length - refused.length).toBe(served)
  // Too many connections, or more than the share of an account at one provider.
  const reasons = new Set(refused.map(({ status, body }) => `${status} ${body.error.code}`))
  expect(reasons.has('503 service_unavailable')).toBe(true)
  expect([...reasons].filter((reason) => !/^(503 service_unavailable|429 queue_full)$/.test(reason))).toEqual(
    [],
  )
  expect(program.log.filter(({ level }) => level === 'error')).toEqual([])
  expect((await call('GET', `${url}/readyz`)).status).toBe(200)
})
