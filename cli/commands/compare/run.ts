import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { cancelRun, followRun } from '../../compare/follow-run.ts'
import { parseScore } from '../../compare/parse-score.ts'
import { printRun, printVerdict } from '../../compare/print-run.ts'
import { readPrompts } from '../../compare/read-prompts.ts'
import { EXIT } from '../../exit-codes.ts'
import { collect } from '../../input/collect.ts'
import { confirmCost } from '../../input/confirm-cost.ts'
import { interruptible } from '../../interruption.ts'
import { formatSeconds } from '../../output/format-seconds.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printableInLine } from '../../output/printable.ts'
import { formatCountOf } from '../../output/format-number.ts'

interface RunOptions {
  readonly model?: string[]
  readonly lane?: string[]
  readonly file?: string
  readonly column?: string
  readonly format?: string
  readonly dataset?: string
  readonly again?: string
  readonly name?: string
  readonly repeats?: string
  readonly budget?: string
  readonly judge?: string
  readonly rubric?: string
  readonly score?: string[]
  readonly blind?: boolean
  readonly yes?: boolean
  readonly follow?: boolean
}

export const run = clientCommand<RunOptions>({
  name: 'run',
  summary: 'Ask several models the same prompts, and compare them. Ctrl-C cancels the run.',
  example: 'parkway compare run -m gpt-5.6-luna -m gpt-5.4 "Why is the sky blue?"',
  define: (command) =>
    command
      .argument('[prompt...]', 'a single prompt')
      .option('-m, --model <id>', 'a model, at least two', collect)
      .option(
        '--lane <JSON>',
        'a model with parameters, such as {"model":"gpt-5.4","temperature":0}',
        collect,
      )
      .option(
        '-f, --file <path>',
        'prompts: CSV with a line of column names, JSON lines, or one a line; - for stdin',
      )
      .option('--column <name>', 'the column of the file that has the prompts')
      .option('--format <name>', 'csv, tsv, jsonl or text; by default the name of the file tells')
      .option('--dataset <id>', 'the prompts of a dataset')
      .option(
        '--again <run>',
        'the prompts of an earlier run, with its models, repeats, judge and scores where none are given',
      )
      .option('--name <text>', 'the name of the run')
      .option('--repeats <number>', 'how often each model answers each prompt')
      .option('--budget <usd>', 'the most that the run may cost, including the judge')
      .option('--judge <model>', 'a model that judges the answers')
      .option('--rubric <text>', 'what the judge looks at')
      .option(
        '--score <type=value>',
        'a score of each answer: exact, contains, similarity, regex, json_schema, latency (ms), cost (USD), webhook, or JSON',
        collect,
      )
      .option('--blind', 'hide which lane is which until you vote')
      .option('-y, --yes', 'do not ask, whatever it costs')
      .option('--no-follow', 'print the id of the run and end'),
  async act({ output, isJson, connect, printJson }, options, ...words) {
    const gateway = connect()
    const body = await describeOrder(options, words.join(' '))
    const estimate = await gateway.call((routes) => routes.POST('/v1/compare/estimates', { body }))
    output.note(describeEstimate(estimate, body.budget_usd))
    const { budget_usd: budget = null } = body
    await confirmCost({
      usd: Math.min(estimate.estimated_cost_usd, budget ?? Infinity),
      what: `The ${estimate.cells_total} answers`,
      isAgreed: options.yes === true,
    })
    // Ctrl-C during the request takes effect after its answer, because cancelling needs the id of the run.
    const ended = await interruptible(async (signal) => {
      const created = await gateway.call((routes) => routes.POST('/v1/compare/runs', { body }))
      return options.follow === false
        ? created
        : followRun(gateway, created.id, { signal, onInterrupt: cancelRun })
    })
    if (isJson) printJson(ended)
    else if (options.follow === false) output.line(ended.id)
    else {
      printRun(output, ended)
      if (ended.judge !== null) await printVerdict(output, gateway, ended.id)
      else if (ended.verdict !== null) {
        output.line('')
        output.line(`Verdict: ${printableInLine(ended.verdict.text)}`)
      }
    }
    if (ended.status === 'failed')
      throw new CommandFailure(EXIT.failed, ended.error?.message ?? 'The run has failed.')
  },
})

function describeEstimate(estimate: Schemas['CompareEstimate'], budget: number | undefined): string {
  const {
    prompts_total: prompts,
    cells_total: answers,
    estimated_cost_usd: cost,
    estimated_judge_cost_usd: judge,
    estimated_duration_seconds: seconds,
  } = estimate
  const ofJudge = judge === 0 ? '' : `, ${formatUsd(judge)} of it for the judge`
  const isShort = budget !== undefined && cost > budget
  const end = isShort ? ` The budget of ${formatUsd(budget)} will probably end it before.` : ''
  return `${formatCountOf(prompts, 'prompt')}, ${formatCountOf(answers, 'answer')}: about ${formatUsd(cost)}${ofJudge}, and ${formatSeconds(seconds)}.${end}`
}

async function describeOrder(options: RunOptions, prompt: string) {
  const { file, column, format, dataset, again, name, judge, rubric, blind } = options
  const sources = [prompt, file ?? '', dataset ?? '', again ?? ''].filter((source) => source !== '')
  if (sources.length !== 1)
    throw new CommandFailure(EXIT.usage, 'Give one of a prompt, --file, --dataset and --again.')
  if (file === undefined && (column ?? format) !== undefined)
    throw new CommandFailure(EXIT.usage, '--column and --format are about a --file.')
  if (judge === undefined && rubric !== undefined)
    throw new CommandFailure(EXIT.usage, '--rubric is for a --judge.')
  const lanes = [...(options.model ?? []).map((model) => ({ model })), ...(options.lane ?? []).map(parseLane)]
  if (lanes.length < 2 && (again === undefined || lanes.length === 1))
    throw new CommandFailure(EXIT.usage, 'A comparison takes at least two models (-m).')
  const repeats = readNumber('--repeats', options.repeats)
  const budget = readNumber('--budget', options.budget)
  return {
    ...(await describePrompts(options, prompt)),
    ...(lanes.length === 0 ? {} : { lanes }),
    ...(name === undefined ? {} : { name }),
    ...(repeats === undefined ? {} : { repeats }),
    ...(budget === undefined ? {} : { budget_usd: budget }),
    ...(judge === undefined ? {} : { judge: { model: judge, ...(rubric === undefined ? {} : { rubric }) } }),
    ...(options.score === undefined ? {} : { scores: options.score.map(parseScore) }),
    ...(blind === undefined ? {} : { blind }),
  }
}

async function describePrompts({ file, column, format, dataset, again }: RunOptions, prompt: string) {
  if (file !== undefined) return { prompts: (await readPrompts(file, { column, format })) as string[] }
  if (dataset !== undefined) return { dataset_id: dataset }
  return again === undefined ? { prompt } : { run_id: again }
}

function parseLane(text: string): { model: string } {
  try {
    return JSON.parse(text) as { model: string }
  } catch (error) {
    throw new CommandFailure(EXIT.usage, `--lane takes JSON: ${(error as Error).message}.`)
  }
}

function readNumber(option: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!(value > 0)) throw new CommandFailure(EXIT.usage, `${option} takes a number above 0.`)
  return value
}
