import { clientCommand } from '../client-command.ts'
import { commandGroup } from '../command-group.ts'
import { interruptible } from '../interruption.ts'
import { formatUsd } from '../output/format-usd.ts'
import { printPairs } from '../output/tables/print-pairs.ts'
import { printTable, type Column } from '../output/tables/print-table.ts'
import { watchTable } from '../output/tables/watch-table.ts'
import { followTask, requireCompleted, type Task } from '../tasks/follow-task.ts'
import { saveResults } from '../files/save-results.ts'
import { parseWhole } from '../input/parse-number.ts'
import { readPages } from '../api/read-pages.ts'

interface ListOptions {
  readonly status?: 'pending' | 'processing' | 'completed' | 'failed' | 'cancelled'
  readonly model?: string
  readonly limit: string
  readonly watch?: boolean
}

const NO_TASKS = 'There are no tasks.'

const COLUMNS: readonly Column<Task>[] = [
  { title: 'task', of: ({ id }) => id, isId: true },
  { title: 'kind', of: (task) => task.task_type, rank: 2 },
  { title: 'status', of: (task) => task.status, rank: 1 },
  { title: 'done', of: ({ progress }) => `${progress} %`, isNumber: true, rank: 3 },
  {
    title: 'cost',
    of: (task) => (task.cost_usd === null ? '-' : formatUsd(task.cost_usd)),
    isNumber: true,
    rank: 4,
  },
  { title: 'model', of: (task) => task.model, rank: 5, isText: true },
  { title: 'made', of: (task) => task.created_at, isTime: true, rank: 6 },
]

const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List tasks, newest first.',
  example: 'parkway tasks list --status processing',
  define: (command) =>
    command
      .option('--status <name>', 'only tasks in this state')
      .option('--model <id>', 'only tasks of this model')
      .option('--limit <number>', 'how many', '20')
      .option('-w, --watch', 'keep the table up to date until Ctrl-C'),
  async act({ output, isJson, connect, printJsonLines }, { status, model, limit, watch }) {
    const gateway = connect()
    const count = parseWhole('--limit', limit)
    const read = () =>
      readPages(count, (page) =>
        gateway.call((routes) => routes.GET('/v1/tasks', { params: { query: { ...page, status, model } } })),
      )
    if (watch === true && !isJson) return watchTable(output, { columns: COLUMNS, read, empty: NO_TASKS })
    const tasks = await read()
    if (isJson) return printJsonLines(tasks)
    if (tasks.length === 0) return output.note(NO_TASKS)
    printTable(output, COLUMNS, tasks)
  },
})

const show = clientCommand({
  name: 'show',
  summary: 'Show one task.',
  example: 'parkway tasks show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<task>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const task = await connect().call((routes) => routes.GET('/v1/tasks/{id}', { params: { path: { id } } }))
    if (isJson) return printJson(task)
    printPairs(output, describe(task))
  },
})

const follow = clientCommand({
  name: 'follow',
  summary: 'Wait until a task has ended. Ctrl-C cancels it.',
  example: 'parkway tasks follow 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<task>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const task = requireCompleted(await interruptible((signal) => followTask(connect(), id, { signal })))
    if (isJson) return printJson(task)
    printPairs(output, describe(task))
  },
})

const cancel = clientCommand({
  name: 'cancel',
  summary: 'Cancel a task, and show the refund.',
  example: 'parkway tasks cancel 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<task>', 'its id'),
  async act({ output, isJson, connect, printJson }, _, id = '') {
    const task = await connect().call((routes) =>
      routes.POST('/v1/tasks/{id}/cancel', { params: { path: { id } } }),
    )
    if (isJson) return printJson(task)
    output.line(`Cancelled. ${formatUsd(task.refund_amount_usd ?? 0)} was refunded.`)
  },
})

interface DownloadOptions {
  readonly output?: string
  readonly force?: boolean
}

const download = clientCommand<DownloadOptions>({
  name: 'download',
  summary: 'Save the files of a task.',
  example: 'parkway tasks download -o results/ 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<task>', 'its id')
      .option('-o, --output <path>', 'the file or directory to save to')
      .option('--force', 'replace files that exist'),
  async act(context, { output: path, force }, id = '') {
    const task = await context
      .connect()
      .call((routes) => routes.GET('/v1/tasks/{id}', { params: { path: { id } } }))
    const saved = await saveResults(requireCompleted(task), { path: path ?? null, isForced: force === true })
    if (context.isJson) return context.printJson(task)
    for (const file of saved) context.output.line(file)
  },
})

function describe(task: Task): [string, string][] {
  return [
    ['task', task.id],
    ['kind', task.task_type],
    ['model', task.model],
    ['status', task.error === null ? task.status : `${task.status}: ${task.error.message}`],
    ['progress', `${task.progress} %`],
    ['cost', task.cost_usd === null ? '-' : formatUsd(task.cost_usd)],
    ['made', task.created_at],
    ['ended', task.completed_at ?? '-'],
  ]
}

export const tasks = commandGroup({
  name: 'tasks',
  summary: 'List, follow, cancel and download tasks.',
  example: 'parkway tasks',
  byDefault: list,
  others: [show, follow, cancel, download],
})
