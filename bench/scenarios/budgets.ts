import { KEY_DIGITS, seedBudgets } from '../budgets/seed-budgets.ts'
import { buildChatBody, buildRequest } from '../build-request.ts'
import { createParkway } from '../contestants/parkway.ts'
import { formatCount, formatRatio } from '../format-figure.ts'
import { withGatewayDatabase } from '../gateway-database.ts'
import { median, sum } from '../statistics.ts'
import { measureCrowds } from './measure-crowds.ts'
import { cpuPerRequestUs, databaseCpuPerRequestUs, figuresOf } from './request-samples.ts'
import type { CrowdedSamples } from './request-samples.ts'
import type { BenchSession, MetricRow, Scenario, ScenarioReport, Verdict } from './scenario.ts'

const GATEWAY = 'budgets'
const RATIO_MAX = 1.05
const KEYS = 10_000

/** What a request costs with budgets on its way, and with many projects that have budgets in one account. */
export const budgets: Scenario = {
  id: 'budgets',
  contestants: [createParkway({ id: GATEWAY })],
  run: async (session) => {
    const reports = [
      await compare(session, {
        plain: { name: 'plain', keys: 1, projects: 1, budgets: [] },
        budgeted: { name: 'fours', keys: 1, projects: 1, budgets: ['account', 'project', 'user', 'key'] },
        labels: { plain: 'no budget', budgeted: 'four hard budgets' },
        ratioMax: RATIO_MAX,
      }),
      await compare(session, {
        plain: { name: 'alone', keys: KEYS, projects: 1, budgets: ['project'] },
        budgeted: { name: 'those', keys: KEYS, projects: KEYS, budgets: ['project'] },
        labels: {
          plain: `${formatCount(KEYS)} keys of one project with a budget`,
          budgeted: `${formatCount(KEYS)} keys of as many projects, each with a budget`,
        },
        ratioMax: RATIO_MAX,
      }),
    ]
    return {
      rows: reports.flatMap(({ rows }) => rows),
      verdicts: reports.flatMap(({ verdicts }) => verdicts),
      samples: reports.map(({ samples }) => samples),
    }
  },
}

type Account = Parameters<typeof seedBudgets>[1]

interface Comparison {
  readonly plain: Account
  readonly budgeted: Account
  readonly labels: { readonly plain: string; readonly budgeted: string }
  readonly ratioMax: number
}

async function compare(session: BenchSession, comparison: Comparison): Promise<ScenarioReport> {
  const gateway = session.contestants.find(({ id }) => id === GATEWAY)
  if (gateway?.ledger === undefined) return { rows: [], verdicts: [], samples: {} }
  const { dataDirectory } = gateway.ledger
  const { labels, ratioMax } = comparison
  const asked = []
  for (const account of [comparison.plain, comparison.budgeted]) {
    const key = await withGatewayDatabase(dataDirectory, (database) => seedBudgets(database, account))
    const headers = { authorization: `Bearer ${key}` }
    asked.push({
      ...gateway,
      id: account.name,
      request: buildRequest({ path: '/v1/chat/completions', headers, body: buildChatBody() }),
      rotation: { digits: KEY_DIGITS, count: account.keys },
    })
  }
  const samples = await measureCrowds(session, asked, {
    calibrationMs: calibrationMs(session, comparison.budgeted),
    label: `budgets, ${labels.budgeted}`,
  })
  const { plain, budgeted } = { plain: comparison.plain.name, budgeted: comparison.budgeted.name }
  return {
    rows: [...rowsOf(samples, plain, labels.plain), ...rowsOf(samples, budgeted, labels.budgeted)],
    verdicts: [verdictOf(samples, { plain, budgeted, labels, ratioMax })],
    samples: Object.fromEntries(samples),
  }
}

/** Long enough for the first request of every key, which reads the key and borrows from its budgets. */
function calibrationMs({ options }: BenchSession, { keys }: Account): number {
  if (keys > 1) return options.isQuick ? 20_000 : 60_000
  return options.isQuick ? 2_000 : 6_000
}

function rowsOf(samples: CrowdedSamples, id: string, label: string): MetricRow[] {
  const row = (name: string, cell: number): MetricRow => ({
    label: `${name}: ${label}`,
    cells: { [GATEWAY]: formatCount(cell) },
  })
  return [
    row('CPU µs a request', median(cpuPerRequestUs(samples, id))),
    row('… of PostgreSQL', median(databaseCpuPerRequestUs(samples, id))),
    row('failed requests', sum(figuresOf(samples, id, ({ crowded }) => crowded.failures))),
  ]
}

function verdictOf(
  samples: CrowdedSamples,
  {
    plain,
    budgeted,
    labels,
    ratioMax,
  }: { plain: string; budgeted: string } & Pick<Comparison, 'labels' | 'ratioMax'>,
): Verdict {
  const ofPlain = cpuPerRequestUs(samples, plain)
  const ratio = median(
    cpuPerRequestUs(samples, budgeted).map((us, round) => us / (ofPlain[round] ?? Number.NaN)),
  )
  return {
    target: `${labels.budgeted}: CPU a request at most ${ratioMax} × that of ${labels.plain}`,
    measured: formatRatio(ratio),
    isMet: ratio <= ratioMax,
  }
}
