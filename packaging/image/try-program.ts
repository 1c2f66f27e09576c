import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { BuiltImage } from './build-stages.ts'
import { startProgram } from './root-directories.ts'

export interface Trial {
  readonly startMs: number
  readonly stopMs: number
  readonly answer: string
}

const KEY = 'pk-dev-ImageImageImageImageImageImageImageImage'
const START_MS_MAX = 300_000
const STOP_MS_MAX = 90_000
const POLL_MS = 100
const OUTPUT_MAX = 20_000

/** Runs the program of an image as its user with a read-only root, asks it, and stops it with SIGTERM. Throws for anything that is wrong. */
export async function tryProgram(image: BuiltImage, work: string): Promise<Trial> {
  const { settings } = image
  const port = await findPort()
  const startedMs = performance.now()
  const program = startProgram(image, {
    user: settings.user,
    volumes: settings.volumes,
    work,
    directory: settings.directory,
    words: [...settings.entrypoint, ...settings.command],
    environment: {
      ...settings.environment,
      HOST: '127.0.0.1',
      PORT: String(port),
      PARKWAY_BOOTSTRAP_KEY: KEY,
    },
  })
  let output = ''
  for (const stream of [program.stdout, program.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (output = (output + text).slice(-OUTPUT_MAX)))
  const base = `http://127.0.0.1:${port}`
  try {
    await untilReady(base, program)
    const startMs = Math.round(performance.now() - startedMs)
    requireOrdinaryUser(program, settings.user)
    const answer = await ask(base)
    const stoppedMs = performance.now()
    process.kill(innerPid(program), 'SIGTERM')
    const code = await untilEnded(program)
    if (code !== 0) throw new Error(`it ended with ${code} after SIGTERM`)
    return { startMs, stopMs: Math.round(performance.now() - stoppedMs), answer }
  } catch (error) {
    throw new Error(`the program of the image does not work:\n${output}`, { cause: error })
  } finally {
    // Its processes end with their namespace.
    program.kill('SIGKILL')
  }
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

async function untilReady(base: string, program: ChildProcess): Promise<void> {
  const deadlineMs = performance.now() + START_MS_MAX
  while (performance.now() < deadlineMs) {
    if (program.exitCode !== null) throw new Error(`it ended with ${program.exitCode} at its start`)
    const isReady = await fetch(`${base}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )
    if (isReady) return
    await delay(POLL_MS)
  }
  throw new Error(`it is not ready after ${START_MS_MAX} ms`)
}

async function ask(base: string): Promise<string> {
  const health = await fetch(`${base}/healthz`)
  if (health.status !== 200) throw new Error(`/healthz answers ${health.status}`)
  const page = await fetch(base, { headers: { accept: 'text/html' } })
  if (!(await page.text()).includes('/assets/')) throw new Error('the console is not in the image')
  const response = await fetch(`${base}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: await findModel(base),
      messages: [{ role: 'user', content: 'Say hello.' }],
    }),
  })
  const body = (await response.json()) as { choices?: { message?: { content?: string } }[] }
  const text = body.choices?.[0]?.message?.content
  if (response.status !== 200 || text === undefined || text === '')
    throw new Error(`the sandbox answers ${response.status}: ${JSON.stringify(body)}`)
  return text
}

async function findModel(base: string): Promise<string> {
  const response = await fetch(`${base}/v1/models`, { headers: { authorization: `Bearer ${KEY}` } })
  const { data } = (await response.json()) as { data: { id: string; category?: string }[] }
  const model = data.find(
    ({ category }) => category === undefined || category === 'chat' || category === 'llm',
  )
  if (model === undefined) throw new Error('there is no model for chat')
  return model.id
}

/** The process that is the first one in the namespace, as in a container. */
function innerPid({ pid }: ChildProcess): number {
  const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  if (child === undefined || child === '') throw new Error('it has ended')
  return Number(child)
}

function requireOrdinaryUser(program: ChildProcess, user: string): void {
  const status = readFileSync(`/proc/${innerPid(program)}/status`, 'utf8')
  const uid = /^Uid:\t(\d+)/m.exec(status)?.[1]
  const capabilities = /^CapEff:\t0*([0-9a-f]*)$/m.exec(status)?.[1]
  if (uid !== user || capabilities !== '')
    throw new Error(`it runs as ${uid} with capabilities ${capabilities}`)
}

async function untilEnded(program: ChildProcess): Promise<number | null> {
  if (program.exitCode !== null) return program.exitCode
  const [code] = (await once(program, 'exit', { signal: AbortSignal.timeout(STOP_MS_MAX) })) as [
    number | null,
  ]
  return code
}
