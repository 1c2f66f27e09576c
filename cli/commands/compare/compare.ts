import { clientCommand } from '../../client-command.ts'
import { CommandFailure } from '../../command-failure.ts'
import { commandGroup } from '../../command-group.ts'
import { printDiff } from '../../compare/print-diff.ts'
import { followRun, readRun, type Run } from '../../compare/follow-run.ts'
import { printRun, printVerdict } from '../../compare/print-run.ts'
import { EXIT } from '../../exit-codes.ts'
import { askBeforeReplacing } from '../../files/ask-before-replacing.ts'
import { saveResponseBody } from '../../files/save-response-body.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { interruptible } from '../../interruption.ts'
import { printable } from '../../output/printable.ts'
import { printTable } from '../../output/tables/print-table.ts'
import { run } from './run.ts'

interface ListOptions {
  readonly status?: Run['status']
  readonly limit: string
}

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List runs, newest first.',
  example: 'parkway compare list --status completed',
  define: (command) =>
    command.option('--status <name>', 'only runs in this state').option('--limit <number>', 'how many', '20'),
  async act({ output, isJson, connect, printJsonLines }, { status, limit }) {
    const query = { limit: Number(limit), ...(status === undefined ? {} : { status }) }
    const { data } = await connect().call((routes) => routes.GET('/v1/compare/runs', { params: { query } }))
    if (isJson) return printJsonLines(data)
    if (data.length === 0) return output.note('There are no runs.')
    printTable(
      output,
      [
        { title: 'run', of: ({ id }) => id, isId: true },
        { title: 'status', of: (row) => row.status, rank: 2 },
        { title: 'done', of: ({ progress }) => `${progress} %`, isNumber: true, rank: 4 },
        { title: 'cost', of: (row) => formatUsd(row.cost_usd), isNumber: true, rank: 3 },
        { title: 'made', of: (row) => row.created_at, isTime: true, rank: 5 },
        { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
      ],
      data,
    )
  },
})

interface ShowOptions {
  readonly follow?: boolean
  readonly answers?: boolean
}

const show = clientCommand<ShowOptions>({
  name: 'show',
  summary: 'Show a run: its lanes with means and 95 % intervals, and what the votes say.',
  example: 'parkway compare show --answers 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<run>', 'its id')
      .option('-f, --follow', 'show it live until it has ended; Ctrl-C leaves it running')
      .option('--answers', 'also the first answers of each lane'),
  async act({ output, isJson, connect, printJson }, { follow, answers }, id = '') {
    const gateway = connect()
    const found = await (follow === true
      ? interruptible((signal) => followRun(gateway, id, { signal, onInterrupt: leaveRun }))
      : readRun(gateway, id))
    if (isJson) return printJson(found)
    printRun(output, found)
    await printVerdict(output, gateway, id)
    if (answers !== true) return
    for (const lane of found.lanes)
      for (const cell of found.results[lane.id]?.answers?.data ?? []) {
        output.line('')
        output.line(output.style('bold', `${printable(lane.name)}, prompt ${cell.prompt_index}`))
        output.text(printable(cell.output ?? cell.error?.message ?? '-'))
      }
  },
})

async function leaveRun(_gateway: unknown, id: string): Promise<CommandFailure> {
  return new CommandFailure(
    EXIT.interrupted,
    `The run ${id} goes on.`,
    `"parkway compare show ${id}" shows it.`,
  )
}

interface VoteOptions {
  readonly prompt?: string
  readonly tie?: boolean
  readonly bothBad?: boolean
  readonly reason?: string
}

const vote = clientCommand<VoteOptions>({
  name: 'vote',
  summary: 'Vote for a lane of a run, or of one of its prompts.',
  example: 'parkway compare vote 01a1e900-0fc9-7eff-b14c-dd4471e0969d gpt-5.4 --reason "Shorter."',
  define: (command) =>
    command
      .argument('<run>', 'its id')
      .argument('<lane>', 'the id, the name or the model of the better lane')
      .option('--prompt <number>', 'only for the prompt at this position, from 0')
      .option('--tie', 'no lane is better')
      .option('--both-bad', 'both lanes are bad')
      .option('--reason <text>', 'why'),
  async act({ output, isJson, connect, printJson }, options, id = '', lane = '') {
    const gateway = connect()
    const { prompt, tie, bothBad, reason } = options
    if (prompt !== undefined && !/^\d+$/.test(prompt))
      throw new CommandFailure(EXIT.usage, '--prompt takes a position, from 0.')
    const path = { run_id: id, lane_id: findLane(await readRun(gateway, id), lane) }
    const body = {
      ...(prompt === undefined ? {} : { prompt_index: Number(prompt) }),
      ...(tie === undefined ? {} : { tie }),
      ...(bothBad === undefined ? {} : { both_bad: bothBad }),
      ...(reason === undefined ? {} : { reason }),
    }
    const voted = await gateway.call((routes) =>
      routes.POST('/v1/compare/runs/{run_id}/lanes/{lane_id}/winner', { params: { path }, body }),
    )
    if (isJson) return printJson(voted)
    output.line(`Voted: ${voted.vote.outcome.replace('_', ' ')}.`)
    printRun(output, voted)
  },
})

/** A lane of a blind run has another id in each prompt, so that an unknown id is left to the gateway. */
function findLane({ lanes }: Run, wanted: string): string {
  const found = lanes.filter(({ id, name, model }) => [id, name, model].includes(wanted))
  if (found.length > 1)
    throw new CommandFailure(EXIT.usage, `Several lanes are named "${wanted}".`, 'Give the id of the lane.')
  return found[0]?.id ?? wanted
}

interface ExportOptions {
  readonly format?: string
  readonly output?: string
  readonly force?: boolean
}

const exportRun = clientCommand<ExportOptions>({
  name: 'export',
  summary: 'Write a run with all its answers to a file, as JSON or CSV.',
  example: 'parkway compare export -o run.csv 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<run>', 'its id')
      .option('-o, --output <path>', 'the file; without it stdout')
      .option('--format <name>', 'json or csv; by default that of the file, else json')
      .option('--force', 'replace a file that exists'),
  async act({ output, connect }, { output: path, format: asked, force }, id = '') {
    const format = asked ?? (path?.toLowerCase().endsWith('.csv') === true ? 'csv' : 'json')
    if (format !== 'json' && format !== 'csv')
      throw new CommandFailure(EXIT.usage, '--format takes json or csv.')
    if (path !== undefined) await askBeforeReplacing(path, { isForced: force === true })
    const route = `/v1/compare/runs/${encodeURIComponent(id)}/export?format=${format}`
    const response = await connect().send(route, { method: 'GET' })
    if (path === undefined) {
      const decoder = new TextDecoder()
      for await (const bytes of response.body ?? []) output.copy(decoder.decode(bytes, { stream: true }))
      return
    }
    await saveResponseBody(response, path)
    output.line(path)
  },
})

const diff = clientCommand({
  name: 'diff',
  summary: 'Show what changed since another run of the same prompts, with 95 % intervals.',
  example: 'parkway compare diff 01a1e900-0fc9-7eff-b14c-dd4471e0969d "$RUN_BEFORE"',
  define: (command) => command.argument('<run>', 'its id').argument('<against>', 'the id of the run before'),
  async act({ output, isJson, connect, printJson }, _, id = '', against = '') {
    const params = { path: { run_id: id }, query: { against } }
    const found = await connect().call((routes) => routes.GET('/v1/compare/runs/{run_id}/diff', { params }))
    if (isJson) return printJson(found)
    printDiff(output, found)
  },
})

export const compare = commandGroup({
  name: 'compare',
  summary: 'Ask several models the same questions, compare their answers, and vote.',
  example: 'parkway compare',
  byDefault: list,
  others: [run, show, diff, vote, exportRun],
})
