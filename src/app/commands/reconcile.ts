import { parseArgs } from 'node:util'
import { formatUsd, type NanoUsd } from '../../kernel/money.ts'
import { addDays } from '../../providers/vendor-account/vendor-account.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { findSealer } from '../build/build-sealer.ts'
import { openAllProviders } from '../build/open-all-providers.ts'
import { findUnmigratedStorage } from '../process/find-storage.ts'
import { explainDays, type ReconciledDay } from '../reconcile/explain-days.ts'
import { listAccounts, type ReconciledAccount } from '../reconcile/list-accounts.ts'
import { readOwnCosts } from '../reconcile/read-own-costs.ts'
import { loadConfig } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

const STATEMENT_MS_MAX = 600_000
const DAYS_MAX = 92
const DAYS_DEFAULT = 7
const PERCENT_DEFAULT = 2
/** Less is not worth a look. */
const UNEXPLAINED_NANO_USD_MIN = 1_000_000_000n

/** Compares what vendors billed with our records. Changes nothing. */
export const reconcile: Command = {
  usage: 'reconcile [--from DAY] [--days N] [--projects IDS] [--percent N] [--json] [--config FILE]',
  options: {
    '--from DAY': `The first day in UTC, such as 2026-10-01. Default: ${DAYS_DEFAULT} days that have ended.`,
    '--days N': `How many days, at most ${DAYS_MAX}.`,
    '--projects IDS':
      'The projects or workspaces that are ours, separated by commas (`default` for that one). All without it.',
    '--percent N': `The unexplained share of what is expected, from which the command fails. Default: ${PERCENT_DEFAULT}.`,
    '--json': 'Print one object a provider and day, in nano-dollars.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: {
        config: { type: 'string' },
        days: { type: 'string' },
        from: { type: 'string' },
        json: { type: 'boolean' },
        percent: { type: 'string' },
        projects: { type: 'string' },
      },
    })
    const days = readCount('days', values.days ?? String(DAYS_DEFAULT), DAYS_MAX)
    const percent = readCount('percent', values.percent ?? String(PERCENT_DEFAULT), 100)
    const from = readDay(values.from ?? addDays(new Date().toISOString().slice(0, 10), -days))
    const projects = values.projects?.split(',').map((id) => id.trim()) ?? null
    const results = await compareAll(values.config ?? null, { from, days, projects })
    for (const result of results)
      process.stdout.write(values.json === true ? toLines(result) : toText(result))
    return results.every((result) => isAgreed(result, percent)) ? 0 : 1
  },
}

interface Period {
  readonly from: string
  readonly days: number
  readonly projects: readonly string[] | null
}

/** The days, or why they could not be read. */
interface Reconciled {
  readonly name: string
  readonly days: readonly ReconciledDay[]
  readonly failure: string | null
}

async function compareAll(file: string | null, period: Period): Promise<Reconciled[]> {
  const config = loadConfig({ environment: process.env, file })
  if (config.costKeys.length === 0)
    throw new UsageError(
      'Set PARKWAY_COST_KEYS to keys of administrators: docs/pricing.md, What vendors billed.',
    )
  const storage = await findUnmigratedStorage(config, createLogger({ level: 'silent' }))
  const { connectionString } = storage
  const database = connectDatabase({ connectionString, poolSize: 1, statementTimeoutMs: STATEMENT_MS_MAX })
  try {
    const { providers } = await openAllProviders(config, database, findSealer(config))
    const results: Reconciled[] = []
    for (const account of listAccounts(config.costKeys, providers)) {
      const own = await readOwnCosts(database, { ...period, providers: account.providers })
      results.push(await compareOne(account, period, own))
    }
    return results
  } finally {
    await database.close()
    await storage.close()
  }
}

async function compareOne(
  { name, access, readCosts }: ReconciledAccount,
  period: Period,
  own: Awaited<ReturnType<typeof readOwnCosts>>,
): Promise<Reconciled> {
  try {
    const billed = await readCosts({ ...access, from: period.from, days: period.days })
    return { name, days: explainDays({ ...period, own, billed }), failure: null }
  } catch (error) {
    return { name, days: [], failure: messageOf(error) }
  }
}

function isAgreed({ days, failure }: Reconciled, percent: number): boolean {
  if (failure !== null) return false
  const sum = (of: (day: ReconciledDay) => NanoUsd) => days.reduce((total, day) => total + of(day), 0n)
  const unexplained = sum(({ unexplained: amount }) => (amount < 0n ? -amount : amount))
  const expected = sum(({ expectedNanoUsd }) => expectedNanoUsd)
  return unexplained < UNEXPLAINED_NANO_USD_MIN || unexplained * 100n <= expected * BigInt(percent)
}

function toLines({ name, days, failure }: Reconciled): string {
  if (failure !== null) return `${JSON.stringify({ provider: name, failure })}\n`
  const toNumber = (_key: string, value: unknown): unknown =>
    typeof value === 'bigint' ? Number(value) : value
  return days.map((day) => `${JSON.stringify({ provider: name, ...day }, toNumber)}\n`).join('')
}

const COLUMNS: readonly (readonly [string, (day: ReconciledDay) => NanoUsd])[] = [
  ['expected', ({ expectedNanoUsd }) => expectedNanoUsd],
  ['billed', ({ billedNanoUsd }) => billedNanoUsd],
  ['difference', ({ differenceNanoUsd }) => differenceNanoUsd],
  ['other projects', ({ otherProjects }) => otherProjects],
  ['unpriced', ({ unpriced }) => unpriced],
  ['day boundary', ({ dayBoundary }) => dayBoundary],
  ['rounding', ({ rounding }) => rounding],
  ['unexplained', ({ unexplained }) => unexplained],
]
const WIDTH = 15

function toText({ name, days, failure }: Reconciled): string {
  if (failure !== null) return `${name}: what was billed could not be read: ${failure}.\n`
  const head = `${name.padEnd(10)}${COLUMNS.map(([title]) => title.padStart(WIDTH)).join('')}`
  const lines = days.map(
    (day) => `${day.day}${COLUMNS.map(([, read]) => inDollars(read(day)).padStart(WIDTH)).join('')}`,
  )
  return `${[head, ...lines].join('\n')}\n`
}

/** To a hundredth of a cent, which nobody adds up. */
function inDollars(amount: NanoUsd): string {
  const step = 100_000n
  const half = amount < 0n ? -step / 2n : step / 2n
  return formatUsd(((amount + half) / step) * step)
}

function readCount(name: string, text: string, most: number): number {
  const count = /^\d{1,3}$/.test(text) ? Number(text) : 0
  if (count < 1 || count > most) throw new UsageError(`--${name} must be a whole number from 1 to ${most}.`)
  return count
}

function readDay(text: string): string {
  const ms = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(`${text}T00:00:00Z`) : NaN
  if (Number.isNaN(ms) || new Date(ms).toISOString().slice(0, 10) !== text)
    throw new UsageError('--from must be a day such as 2026-10-01.')
  return text
}
