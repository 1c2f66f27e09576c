import { readPages } from '../../api/read-pages.ts'
import { clientCommand } from '../../client-command.ts'
import { toDeploymentId } from '../../deployments/deployment-id.ts'
import type { Deployment } from '../../deployments/follow-deployment.ts'
import { parseWhole } from '../../input/parse-number.ts'
import { formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'
import { printTable, type Column } from '../../output/tables/print-table.ts'
import { watchTable } from '../../output/tables/watch-table.ts'
import { sparkline } from '../../output/bars/sparkline.ts'
import { formatNumber } from '../../output/format-number.ts'

interface ListOptions {
  readonly status?: Deployment['status']
  readonly all?: boolean
  readonly limit: string
  readonly watch?: boolean
}

const NO_DEPLOYMENTS = 'There are no deployments. Make one with "parkway deploy".'

const COLUMNS: readonly Column<Deployment>[] = [
  { title: 'deployment', of: ({ id }) => id, isId: true },
  { title: 'status', of: (deployment) => deployment.status, rank: 2 },
  { title: 'tier', of: (deployment) => deployment.gpu_tier, rank: 6 },
  {
    title: '$ an hour',
    of: (deployment) => formatNumber(deployment.hourly_cost, 2),
    isNumber: true,
    rank: 3,
  },
  { title: 'spent', of: (deployment) => formatUsd(deployment.budget_spent_usd), isNumber: true, rank: 4 },
  { title: 'model', of: (deployment) => deployment.huggingface_id, rank: 5, isText: true },
  { title: 'name', of: ({ name }) => name, rank: 1, isText: true },
]

export const list = clientCommand<ListOptions>({
  name: 'list',
  summary: 'List the deployments, with what they cost.',
  example: 'parkway deploy list --status running',
  define: (command) =>
    command
      .option('--status <name>', 'only deployments in this state')
      .option('--all', 'also deleted ones')
      .option('--limit <number>', 'how many', '100')
      .option('-w, --watch', 'keep the table up to date until Ctrl-C'),
  async act({ output, isJson, connect, printJsonLines }, { status, all, limit, watch }) {
    const gateway = connect()
    const count = parseWhole('--limit', limit)
    const read = async () => {
      const deployments = await readPages(count, (page) =>
        gateway.call((routes) => routes.GET('/v1/deployments', { params: { query: { ...page, status } } })),
      )
      const isShown = (one: Deployment): boolean =>
        all === true || status !== undefined || one.status !== 'deleted'
      return deployments.filter(isShown)
    }
    if (watch === true && !isJson)
      return watchTable(output, { columns: COLUMNS, read, empty: NO_DEPLOYMENTS })
    const deployments = await read()
    if (isJson) return printJsonLines(deployments)
    if (deployments.length === 0) return output.note(NO_DEPLOYMENTS)
    printTable(output, COLUMNS, deployments)
  },
})

export const show = clientCommand({
  name: 'show',
  summary: 'Show one deployment.',
  example: 'parkway deploy show 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<deployment>', 'its id, or the id of its model'),
  async act({ output, isJson, connect, printJson }, _, word = '') {
    const path = { id: toDeploymentId(word) }
    const deployment = await connect().call((routes) =>
      routes.GET('/v1/deployments/{id}', { params: { path } }),
    )
    if (isJson) return printJson(deployment)
    const { error_message: problem, status_reason: reason, budget_limit_usd: limit } = deployment
    printPairs(output, [
      ['deployment', `${deployment.id}, ${deployment.name}`],
      ['model', deployment.huggingface_id],
      ['called as', deployment.model_id],
      ['status', [deployment.status, problem ?? reason].filter((part) => part !== null).join(': ')],
      ['progress', `${deployment.progress} %`],
      ['tier', `${deployment.gpu_tier} (${deployment.provider})`],
      ['price', `${formatUsd(deployment.hourly_cost)} an hour`],
      [
        'spent',
        `${formatUsd(deployment.budget_spent_usd)}${limit === null ? '' : ` of ${formatUsd(limit)}`}`,
      ],
      ['sleeps after', `${deployment.idle_timeout_minutes} min`],
      ['made', deployment.created_at],
      ['last request', output.time(deployment.last_request_at)],
    ])
  },
})

export const billing = clientCommand({
  name: 'billing',
  summary: 'Show what a deployment has cost, run by run.',
  example: 'parkway deploy billing 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) => command.argument('<deployment>', 'its id, or the id of its model'),
  async act({ output, isJson, connect, printJson }, _, word = '') {
    const path = { id: toDeploymentId(word) }
    const bill = await connect().call((routes) =>
      routes.GET('/v1/deployments/{id}/billing', { params: { path } }),
    )
    if (isJson) return printJson(bill)
    const { budget_limit_usd: limit, hours_left: hours } = bill
    printPairs(output, [
      ['cost so far', formatUsd(bill.accrued_usd)],
      ['burn rate', `${formatUsd(bill.burn_rate_usd_per_hour)} an hour`],
      [
        'budget',
        limit === null ? 'none' : `${formatUsd(limit)}, ${formatUsd(bill.budget_remaining_usd ?? 0)} left`,
      ],
      ['lasts', hours === null ? '-' : `${formatNumber(hours, 1)} h at this rate`],
    ])
    if (bill.intervals.length === 0) return
    printTable(
      output,
      [
        { title: 'from', of: ({ from }) => from.slice(0, 19) },
        { title: 'to', of: ({ to }) => to?.slice(0, 19) ?? 'now', rank: 3 },
        { title: 'seconds', of: ({ seconds }) => String(Math.round(seconds)), isNumber: true, rank: 4 },
        { title: 'cost', of: (interval) => formatUsd(interval.cost_usd), isNumber: true, rank: 2 },
      ],
      bill.intervals,
    )
  },
})

const WINDOWS = ['5m', '1h', '24h', '7d'] as const

export const metrics = clientCommand<{ readonly window: (typeof WINDOWS)[number] }>({
  name: 'metrics',
  summary: 'Show requests, tokens, latency and the GPU of a deployment.',
  example: 'parkway deploy metrics --window 1h 01a1e900-0fc9-7eff-b14c-dd4471e0969d',
  define: (command) =>
    command
      .argument('<deployment>', 'its id, or the id of its model')
      .option('--window <time>', `the time up to now: ${WINDOWS.join(', ')}`, '1h'),
  async act({ output, isJson, connect, printJson }, { window }, word = '') {
    const params = { path: { id: toDeploymentId(word) }, query: { window } }
    const figures = await connect().call((routes) => routes.GET('/v1/deployments/{id}/metrics', { params }))
    if (isJson) return printJson(figures)
    const { series, gpu } = figures
    const drawn = (of: (point: (typeof series)[number]) => number) => sparkline(series.map(of))
    printPairs(output, [
      ['requests', `${figures.requests}, ${figures.errors} failed  ${drawn((point) => point.requests)}`],
      ['tokens in', `${figures.tokens_in}  ${drawn((point) => point.tokens_in)}`],
      ['tokens out', `${figures.tokens_out}  ${drawn((point) => point.tokens_out)}`],
      ['at once', `${figures.in_flight} now  ${drawn((point) => point.in_flight)}`],
      ['latency', describePercentiles(figures.latency_ms)],
      ['first token', describePercentiles(figures.ttft_ms)],
      ['speed', `${formatNumber(figures.tokens_per_second, 1)} tokens a second`],
      [
        'GPU',
        gpu === null
          ? '-'
          : `${percent(gpu.utilization)} busy, ${gpu.memory_used_gb?.toFixed(1) ?? '?'} GB used`,
      ],
    ])
  },
})

function describePercentiles(percentiles: { p50: number | null; p95: number | null }): string {
  const { p50, p95 } = percentiles
  return p50 === null ? '-' : `${Math.round(p50)} ms, 95 % below ${Math.round(p95 ?? p50)} ms`
}

function percent(share: number | null): string {
  return share === null ? '?' : `${Math.round(share * 100)} %`
}

export const templates = clientCommand({
  name: 'templates',
  summary: 'List models that are known to deploy well, with a tier for each.',
  example: 'parkway deploy templates',
  async act({ output, isJson, connect, printJsonLines }) {
    const { data } = await connect().call((routes) => routes.GET('/v1/deployment-templates'))
    if (isJson) return printJsonLines(data)
    printTable(
      output,
      [
        { title: 'model', of: (template) => template.huggingface_id },
        { title: 'tier', of: (template) => template.gpu_tier, rank: 2 },
        { title: 'context', of: ({ defaults }) => String(defaults.max_model_len), isNumber: true, rank: 3 },
        { title: 'for', of: ({ description }) => description, rank: 4, isText: true },
      ],
      data,
    )
  },
})
