import { existsSync } from 'node:fs'
import { Option, type Command } from 'commander'
import { notAGateway } from '../../api/api-failure.ts'
import type { GatewayClient, Schemas } from '../../api/gateway-client.ts'
import { readJson } from '../../api/read-body.ts'
import { sendUpload } from '../../api/send-upload.ts'
import type { CommandContext } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { confirmCost } from '../../input/confirm-cost.ts'
import { interruptible } from '../../interruption.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { followTask, requireCompleted } from '../../tasks/follow-task.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResults, type Target } from '../../files/save-results.ts'

const WAITS_FOR_TASK =
  'The task is cancelled as soon as the gateway has answered. Ctrl-C again leaves at once, and the task goes on.'

/** The options of all commands that make files. */
export interface MakeOptions {
  readonly model?: string
  readonly output?: string
  readonly force?: boolean
  readonly show?: boolean
  readonly yes?: boolean
  /** The task is printed, and not followed. */
  readonly noWait?: boolean
}

/** Adds the options of all commands that make files. */
export function withMakeOptions(command: Command, { hasModel = true } = {}): Command {
  if (hasModel) command.option('-m, --model <id>', 'the model; by default the cheapest one that is ready')
  return command
    .option('-o, --output <path>', 'the file or directory to save to')
    .option('--force', 'replace files that exist')
    .option('--show', 'show pictures in the terminal (kitty, iTerm2, sixel)')
    .option('-y, --yes', 'do not ask, whatever it costs')
    .addOption(noWait())
}

/** Has its own value, because commander treats `--no-wait` as the negation of `--wait`, which waits for rate limits. */
function noWait(): Option {
  const option = new Option(
    '--no-wait',
    'print the id of the task and end, without following it; may be combined with --wait',
  )
  option.negate = false
  return option
}

interface MediaOrder {
  readonly path: string
  readonly body: object
  /** About what it costs. Null or absent: not known. */
  readonly costUsd?: number | null
}

/** Orders work as a task, waits for it with a progress bar, saves the files, and prints their paths and the cost. */
export async function makeMedia(
  context: CommandContext,
  { path, body, costUsd = null }: MediaOrder,
  options: MakeOptions,
): Promise<void> {
  const gateway = context.connect()
  const target = await chooseTarget(options)
  if (costUsd !== null) await confirmCost({ usd: costUsd, what: 'This', isAgreed: options.yes === true })
  if (options.noWait === true) return printOrder(context, gateway, await order(gateway, path, body))
  // Ctrl-C during the request takes effect after its answer, because cancelling needs the id of the task.
  const task = await interruptible(async (signal) => {
    const explain = () => context.output.note(WAITS_FOR_TASK)
    signal.addEventListener('abort', explain)
    const { id } = await order(gateway, path, body).finally(() =>
      signal.removeEventListener('abort', explain),
    )
    return requireCompleted(await followTask(gateway, id, { signal, costUsd }))
  })
  const saved = await saveResults(task, target)
  if (context.isJson) return context.printJson(task)
  for (const file of saved) context.output.line(file)
  if (options.show === true) await showPictures(context, saved)
  context.output.note(`${task.model}, ${formatUsd(task.cost_usd ?? 0)}`)
}

/** Asks before the order, so that nothing is paid for in vain. */
async function chooseTarget({ output: path, force }: MakeOptions): Promise<Target> {
  const isForced = force === true
  if (path === undefined) return { path: null, isForced }
  if (isDirectoryLike(path)) {
    if (!existsSync(path))
      throw new CommandFailure(
        EXIT.failed,
        `There is no directory ${path}.`,
        'Create it, or choose another place with -o.',
      )
    return { path, isForced }
  }
  return { path, isForced: await askBeforeReplacing(path, { isForced }) }
}

async function showPictures({ output }: CommandContext, paths: readonly string[]): Promise<void> {
  const { showPicture } = await import('../../pictures/show-picture.ts')
  for (const path of paths) await showPicture(output, path, process.env)
}

async function printOrder(
  context: CommandContext,
  gateway: GatewayClient,
  { id }: Schemas['TaskReceipt'],
): Promise<void> {
  if (!context.isJson) return context.output.line(id)
  context.printJson(
    await gateway.call((routes) => routes.GET('/v1/tasks/{id}', { params: { path: { id } } })),
  )
}

/** Returns the first ready model of a kind, for commands without `--model`. */
export async function firstReadyModel(
  gateway: GatewayClient,
  query: { category: string; capability?: string },
): Promise<string> {
  const { data } = await gateway.call((routes) => routes.GET('/v1/models', { params: { query } }))
  const ready = data.find((model) => model.is_ready)
  if (ready === undefined)
    throw new CommandFailure(
      EXIT.notFound,
      `No model of the kind ${query.category} is ready.`,
      'See "parkway models".',
    )
  return ready.id
}

async function order(gateway: GatewayClient, path: string, body: object): Promise<Schemas['TaskReceipt']> {
  const response = await sendUpload(gateway, path, {
    method: 'POST',
    headers: { 'content-type': 'application/json', prefer: 'respond-async' },
    body: JSON.stringify(body),
  })
  const receipt = (await readJson(response)) as Schemas['TaskReceipt'] | null
  if (typeof receipt?.id !== 'string')
    throw notAGateway(gateway.connection.baseUrl, 'its answer names no task')
  return receipt
}

function isDirectoryLike(path: string): boolean {
  return path.endsWith('/') || path.endsWith('\\') || path === '.' || path === '..'
}
