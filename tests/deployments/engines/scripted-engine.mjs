/* oxlint-disable no-console -- an engine talks */
// A scripted engine. Usage: scripted-engine.mjs --port N --model ID [--max-model-len N]
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'

const option = (name) => process.argv[process.argv.indexOf(name) + 1]
const model = option('--model')
const script = process.env.SANDBOX_FAILURE ?? ''
console.log(`argv ${JSON.stringify(process.argv.slice(2))}`)
console.log(`environment ${Object.keys(process.env).toSorted().join(' ')}`)

const tryTo = (work) => {
  try {
    work()
    return 'done'
  } catch (error) {
    return error.code
  }
}
const listAll = (path) => {
  try {
    return readdirSync(path, { recursive: true }).toSorted()
  } catch (error) {
    return error.code
  }
}
const hasOwnTemporary = () => {
  writeFileSync(`/tmp/${process.env.PARKWAY_ENGINE}`, '')
  try {
    return existsSync(process.env.PARKWAY_ENGINE)
  } finally {
    unlinkSync(`/tmp/${process.env.PARKWAY_ENGINE}`)
  }
}
if (script === 'peek') {
  const seen = {
    uid: process.getuid(),
    gid: process.getgid(),
    groups: process.getgroups(),
    readPlan: tryTo(() => readFileSync('../plan.json')),
    listInstance: tryTo(() => readdirSync('..')),
    listInstances: tryTo(() => readdirSync('../..')),
    listEngines: tryTo(() => readdirSync('../../..')),
    writeInstance: tryTo(() => writeFileSync('../x', '')),
    readEnvironment: tryTo(() => readFileSync(`/proc/${process.ppid}/environ`)),
    listed: listAll('../../../..'),
    processes: readdirSync('/proc').filter((name) => /^\d+$/.test(name)).length,
    writeSystem: tryTo(() => writeFileSync('/etc/x', '')),
    hasOwnTemporary: hasOwnTemporary(),
    writeHome: tryTo(() => writeFileSync(`${process.env.HOME ?? '.'}/x`, '')),
  }
  console.log(`peek ${JSON.stringify(seen)}`)
}
if (script === 'killed') process.kill(process.pid, 'SIGKILL')
if (script === 'out_of_memory') {
  console.error('torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB.')
  process.exit(1)
}
if (script === 'model_unsupported') {
  console.error("error loading model: unknown model architecture: 'riddle'")
  process.exit(1)
}
if (script === 'noise') for (let line = 0; line < 20_000; line += 1) console.log(`${line} ${'x'.repeat(100)}`)
if (script === 'hungry') globalThis.eaten = Array.from({ length: 24 }, () => Buffer.alloc(8 * 1024 * 1024, 1))
// A helper that leaves the session of its parent and ignores SIGTERM.
const helper = "process.on('SIGTERM', () => {}); setInterval(() => {}, 1000)"
if (script === 'helper') spawn(process.execPath, ['-e', helper], { detached: true, stdio: 'ignore' }).unref()
if (script === 'stubborn') process.on('SIGTERM', () => {})

const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
const text = `${model} says hello`
const base = { id: 'chatcmpl-1', created: 1_700_000_000, model }

function stream(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta, finish_reason = null) =>
    response.write(
      `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    )
  send({ role: 'assistant', content: '' })
  for (const word of text.split(/(?<= )/)) send({ content: word })
  send({}, 'stop')
  response.write(
    `data: ${JSON.stringify({ ...base, object: 'chat.completion.chunk', choices: [], usage })}\n\n`,
  )
  response.end('data: [DONE]\n\n')
}

function answer(request, response, body) {
  const json = (status, value) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(value))
  }
  if (request.url === '/health') return json(200, {})
  if (request.url === '/v1/models')
    return json(200, { object: 'list', data: [{ id: model, object: 'model' }] })
  const { messages = [], stream: isStreamed } = JSON.parse(body)
  const said = String(messages.at(-1)?.content)
  if (said === 'crash') process.exit(3)
  if (said === 'hang') for (;;);
  if (said === 'redirect') {
    response.writeHead(307, { location: 'http://127.0.0.1:1/v1/chat/completions' })
    return response.end()
  }
  if (isStreamed) return stream(response)
  const message = { role: 'assistant', content: text }
  return json(200, {
    ...base,
    object: 'chat.completion',
    choices: [{ index: 0, message, finish_reason: 'stop' }],
    usage,
  })
}

const server = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk) => (body += chunk))
  request.on('end', () => answer(request, response, body))
})
// An engine that takes much memory is still loading when its memory is measured.
if (script === 'hungry') setInterval(() => {}, 1000)
else server.listen(Number(option('--port')), '127.0.0.1')
