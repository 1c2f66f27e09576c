import type { Command } from 'commander'
import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { readRun } from '../../compare/follow-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseWord } from '../../input/parse-word.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { selectRequests, withLogFilters, type LogOptions } from '../../logs/log-options.ts'
import { formatCountOf } from '../../output/format-number.ts'
import type { Output } from '../../output/terminal.ts'

interface NamedOptions {
  readonly name?: string
  readonly description?: string
}

interface FromRunOptions extends NamedOptions {
  readonly which?: string
  readonly lane?: string
  readonly score?: string
  readonly below?: string
}

const KINDS = ['failed', 'low_score', 'lost'] as const

/** Makes a dataset of the prompts of a run whose answers failed. */
export const fromRun = clientCommand<FromRunOptions>({
  name: 'from-run',
  summary: 'Make a dataset of the prompts of a run whose answers failed, scored low or lost.',
  example: 'parkway datasets from-run --which low_score --below 1.0 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    withNames(command.argument('<run>', 'its id'))
      .option('--which <list>', 'of failed, low_score and lost, separated by commas; all unless told')
      .option('--lane <name>', 'only answers of this lane: its id, name or model; lost needs it')
      .option('--score <name>', 'the score that is low, of those of the run')
      .option('--below <number>', 'a score below this is low, from 0 to 1; 0.5 unless told'),
  async act({ output, isJson, connect, printJson }, options, id = '') {
    const gateway = connect()
    const { which, lane, score, below } = options
    const source = {
      run_id: id,
      ...(which !== undefined && {
        which: which.split(',').map((kind) => parseWord('--which', kind.trim(), KINDS)),
      }),
      ...(lane !== undefined && { lane_id: await findLane(id, lane) }),
      ...(score !== undefined && { score }),
      ...(below !== undefined && { below: parseShare(below) }),
    }
    const body = { ...namesOf(options), from_run: source }
    const dataset = await gateway.call((routes) => routes.POST('/v1/compare/datasets', { body }))
    if (isJson) printJson(dataset)
    else printMade(output, dataset)

    async function findLane(runId: string, wanted: string): Promise<string> {
      const { lanes } = await readRun(gateway, runId)
      const found = lanes.filter(({ id: laneId, name, model }) => [laneId, name, model].includes(wanted))
      const [only] = found
      if (only !== undefined && found.length === 1) return only.id
      throw new CommandFailure(
        EXIT.usage,
        found.length === 0 ? `The run has no lane "${wanted}".` : `Several lanes are named "${wanted}".`,
      )
    }
  },
})

interface FromLogOptions extends NamedOptions, LogOptions {
  readonly limit?: string
}

const LOGGED_MAX = 500

/** Makes a dataset of real requests. */
export const fromLog = clientCommand<FromLogOptions>({
  name: 'from-log',
  summary: 'Make a dataset of real requests whose bodies are stored, newest first, each prompt once.',
  example: 'parkway datasets from-log --name "Real requests" --model gpt-5.4 --since 7d --limit 200',
  define: (command) =>
    withNames(withLogFilters(command)).option('--limit <number>', 'how many prompts; 100 unless told'),
  async act({ output, isJson, connect, printJson }, options) {
    const { query } = selectRequests(options)
    const given = Object.fromEntries(Object.entries(query).filter(([, value]) => value !== undefined))
    const count =
      options.limit === undefined
        ? {}
        : { limit: parseWhole('--limit', options.limit, { min: 1, max: LOGGED_MAX }) }
    const body = { ...namesOf(options), from_log: { ...given, ...count } }
    const dataset = await connect().call((routes) => routes.POST('/v1/compare/datasets', { body }))
    if (isJson) return printJson(dataset)
    printMade(output, dataset)
  },
})

interface FromBatchOptions extends NamedOptions {
  readonly expected?: string
  readonly limit?: string
}

const EXPECTED = ['judge', 'exact', 'contains', 'none'] as const
const PROMPTS_MAX = 1_000

/** Makes a dataset of the lines of a batch that were answered. */
export const fromBatch = clientCommand<FromBatchOptions>({
  name: 'from-batch',
  summary: 'Make a dataset of the prompts of a batch, with its answers as what is expected.',
  example: 'parkway datasets from-batch batch_01a1e9000fc97effb14cdd4471e0969d',
  define: (command) =>
    withNames(command.argument('<batch>', 'its id'))
      .option(
        '--expected <way>',
        `how answers are compared with those: ${EXPECTED.join(', ')}; judge unless told`,
      )
      .option('--limit <number>', 'how many prompts; 1,000 unless told'),
  async act({ output, isJson, connect, printJson }, options, id = '') {
    const { expected, limit } = options
    const source = {
      batch_id: id,
      ...(expected !== undefined && { expected: parseWord('--expected', expected, EXPECTED) }),
      ...(limit !== undefined && { limit: parseWhole('--limit', limit, { min: 1, max: PROMPTS_MAX }) }),
    }
    const body = { ...namesOf(options), from_batch: source }
    const dataset = await connect().call((routes) => routes.POST('/v1/compare/datasets', { body }))
    if (isJson) return printJson(dataset)
    printMade(output, dataset)
  },
})

function withNames(command: Command): Command {
  return command
    .option('--name <text>', 'its name; by default that of its source')
    .option('--description <text>', 'what it is for')
}

function namesOf({ name, description }: NamedOptions): { name?: string; description?: string } {
  return {
    ...(name !== undefined && { name }),
    ...(description !== undefined && { description }),
  }
}

function parseShare(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !(value >= 0 && value <= 1))
    throw new CommandFailure(EXIT.usage, '--below takes a number from 0 to 1.')
  return value
}

function printMade(output: Output, dataset: Schemas['CompareDataset']): void {
  output.line(dataset.id)
  output.note(formatCountOf(dataset.prompts_total, 'prompt'))
}
