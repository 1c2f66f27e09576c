import { Readable, Writable } from 'node:stream'
import { runProgram } from '../../cli/program.ts'
import type { HostedRun, HostMessage } from './command-host.ts'

/** Runs one command after the other in this process, each with its own environment, directory and streams. */
async function runHosted({ words, stdin, environment, directory }: HostedRun): Promise<number> {
  for (const name of Object.keys(process.env)) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, environment)
  process.chdir(directory)
  replace('stdin', Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]))
  replace('stdout', sending('stdout'))
  replace('stderr', sending('stderr'))
  const exited = new Promise<number>((resolve) => replace('exit', (code = 0) => resolve(code)))
  try {
    return await Promise.race([runProgram(words), exited])
  } finally {
    for (const event of ['SIGINT', 'SIGTERM', 'uncaughtException', 'exit']) process.removeAllListeners(event)
  }
}

function replace(name: 'stdin' | 'stdout' | 'stderr' | 'exit', value: unknown): void {
  Object.defineProperty(process, name, { value, configurable: true, writable: true })
}

function sending(name: 'stdout' | 'stderr'): Writable {
  return new Writable({
    write: (part: Buffer, _encoding, done) => send({ [name]: part.toString('base64') }, () => done()),
  })
}

function send(message: HostMessage, sent?: () => void): void {
  process.send?.(message, undefined, undefined, sent)
}

process.on('message', (run: HostedRun) => {
  void runHosted(run).then((code) => {
    // What was written last is sent before.
    process.stdout.end(() => process.stderr.end(() => send({ code })))
  })
})
