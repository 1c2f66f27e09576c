import { pipeline } from 'node:stream/promises'
import { notAGateway } from '../../api/api-failure.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { confirmCost } from '../../input/confirm-cost.ts'
import { readStdin } from '../../input/read-stdin.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { chooseMediaModel } from '../../media/choose-media-model.ts'

interface SpeakOptions {
  readonly model?: string
  readonly voice?: string
  readonly format: string
  readonly output?: string
  readonly force?: boolean
  readonly yes?: boolean
}

const STDIN_BYTES_MAX = 64 * 1024

export const speak = clientCommand<SpeakOptions>({
  name: 'speak',
  summary: 'Read a text aloud into a file.',
  example: 'parkway speak --voice alloy -o hello.mp3 "Hello, and welcome."',
  define: (command) =>
    command
      .argument('[text...]', 'what to say; stdin if there is none')
      .option('-m, --model <id>', 'the model; by default the cheapest one that is ready')
      .option('--voice <name>', 'the voice')
      .option('--format <name>', 'mp3, wav, opus, flac, aac or pcm', 'mp3')
      .option('-o, --output <path>', 'the file to save to; - is stdout')
      .option('--force', 'replace a file that exists')
      .option('-y, --yes', 'do not ask, whatever it costs'),
  async act(context, options, ...words) {
    const { voice, format, force } = options
    const path = options.output ?? `speech.${format}`
    const isPiped = path === '-'
    if (isPiped && context.output.isTerminal)
      throw new CommandFailure(
        EXIT.usage,
        'A recording cannot be shown on a terminal.',
        'Pipe it to a player, or name a file with -o.',
      )
    if (!isPiped) await askBeforeReplacing(path, { isForced: force === true })
    const input = words.length > 0 ? words.join(' ') : await readText()
    if (input.trim() === '') throw new CommandFailure(EXIT.usage, 'There is no text.')
    const gateway = context.connect()
    const { id: model, costUsd } = await chooseMediaModel(
      gateway,
      { category: 'tts' },
      { model: options.model, characters: Array.from(input).length },
    )
    if (costUsd !== null) await confirmCost({ usd: costUsd, what: 'This', isAgreed: options.yes === true })
    const response = await gateway.send('/v1/audio/speech', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        model,
        input,
        response_format: format,
        ...(voice === undefined ? {} : { voice }),
      }),
    })
    await requireAudio(response)
    if (isPiped) return pipeBody(response)
    await saveResponseBody(response, path)
    if (context.isJson) return context.printJson({ path })
    context.output.line(path)
  },
})

/** Anything else would be saved as a recording that cannot be played. */
async function requireAudio(response: Response): Promise<void> {
  const type = response.headers.get('content-type') ?? 'nothing'
  if (/^(?:audio|video)\/|^application\/octet-stream/.test(type)) return
  // The program would not end while a body arrives.
  await response.body?.cancel()
  throw notAGateway(new URL(response.url).origin, `it sent ${type} instead of a recording`)
}

async function readText(): Promise<string> {
  return process.stdin.isTTY ? '' : (await readStdin(STDIN_BYTES_MAX)).toString('utf8').trim()
}

async function pipeBody({ body }: Response): Promise<void> {
  if (body !== null) await pipeline(body, process.stdout, { end: false })
}
