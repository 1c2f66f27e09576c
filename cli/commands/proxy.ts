import { clientCommand } from '../client-command.ts'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { collect } from '../input/collect.ts'
import { parseWhole } from '../input/parse-number.ts'
import { interruptible } from '../interruption.ts'
import { startProxy, type Proxy } from '../proxy/start-proxy.ts'

interface ProxyOptions {
  readonly listen: string
  readonly port: string
  readonly model?: string
  readonly allowHost?: string[]
}

const DEFAULT_PORT = 7878

export const proxy = clientCommand<ProxyOptions>({
  name: 'proxy',
  summary: 'Serve the API on a local address that adds your key, for programs that cannot send one.',
  example: 'parkway proxy --model gpt-5.6-luna',
  define: (command) =>
    command
      .option('-p, --port <number>', 'the port; 0 takes a free one', String(DEFAULT_PORT))
      .option(
        '--listen <address>',
        'another address than loopback: whoever reaches it uses your key',
        '127.0.0.1',
      )
      .option(
        '-m, --model <id>',
        'the model of all calls, whatever they name in JSON or in a form; comparisons keep theirs',
      )
      .option(
        '--allow-host <name>',
        'a host name that clients use for it, more than once for several',
        collect,
      ),
  async act({ output, isJson, connect, freshKey, printJson }, { listen, port, model, allowHost }) {
    const { connection } = connect()
    const number = parseWhole('--port', port, { min: 0, max: 65_535 })
    const started = await startProxy({
      connection,
      ...(connection.isSignedInByPerson === true && { readKey: freshKey }),
      host: listen,
      port: number,
      allowedHosts: allowHost ?? [],
      model: model ?? null,
    }).catch((error: unknown) => {
      throw describeFailure(error, listen, number)
    })
    if (isJson) printJson({ url: started.url, base_url: `${started.url}/v1`, gateway: connection.baseUrl })
    else {
      output.line(started.url)
      output.note(
        `Requests go to ${connection.baseUrl}${model === undefined ? '' : ` for ${model}`}, with your key.`,
      )
      output.note(`Set the base URL of a program to ${started.url}/v1. Ctrl-C ends it.`)
    }
    await serveUntilStopped(started)
  },
})

function describeFailure(error: unknown, host: string, port: number): unknown {
  if (!(error instanceof Error && 'code' in error)) return error
  if (error.code === 'EADDRINUSE')
    return new CommandFailure(
      EXIT.failed,
      `Port ${port} is in use.`,
      'Take another with --port, or --port 0 for a free one.',
    )
  return new CommandFailure(EXIT.failed, `The proxy cannot listen on ${host}:${port}: ${error.message}`)
}

/** Ctrl-C and SIGTERM are the usual end of a server. A second Ctrl-C does not wait for running requests. */
function serveUntilStopped(started: Proxy): Promise<void> {
  return interruptible(async (signal) => {
    await new Promise<void>((done) => {
      signal.addEventListener('abort', () => done())
      process.once('SIGTERM', () => done())
    })
    await started.close()
  })
}
