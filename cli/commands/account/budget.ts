import type { Schemas } from '../../api/gateway-client.ts'
import { clientCommand } from '../../client-command.ts'
import { commandGroup } from '../../command-group.ts'
import { CommandFailure } from '../../command-failure.ts'
import { EXIT } from '../../exit-codes.ts'
import { parseUsd } from '../../input/parse-number.ts'
import { formatAccountUsd, formatUsd } from '../../output/format-usd.ts'
import { printPairs } from '../../output/tables/print-pairs.ts'

const BAR_WIDTH = 20

const show = clientCommand({
  name: 'show',
  summary: 'Show the balance, the budgets and what may still be spent.',
  example: 'parkway budget',
  async act({ output, isJson, connect, printJson }) {
    const budget = await connect().call((routes) => routes.GET('/v1/usage/budget'))
    if (isJson) return printJson(budget)
    const { budgets, burn_rate_usd_per_hour: burnRate } = budget
    printPairs(output, [
      ['balance', formatAccountUsd(budget.balance_usd)],
      ['spent this month', formatUsd(budget.spent_usd)],
      ...budgets.map((limit) => [`budget of the ${limit.period}`, describeSpent(limit)] as const),
      ...budget.limiting_budgets.map((limit) => [limit.name, describeSpent(limit)] as const),
      ['may be spent', describeRemaining(budget)],
      ['burn rate', `${formatUsd(burnRate)} an hour`],
      ['outlook', budget.outlook.summary],
      ['forecast', describeForecast(budget.forecast)],
    ])
  },
})

function describeSpent({ limit_usd: limit, spent_usd: spent }: BudgetLimit): string {
  const share = limit === 0 ? 1 : spent / limit
  return `${bar(share)} ${Math.round(share * 100)} %, ${formatUsd(spent)} of ${formatUsd(limit)}`
}

interface BudgetLimit {
  readonly limit_usd: number
  readonly spent_usd: number
}

function describeRemaining({ remaining_usd: remaining, held_usd: held }: BudgetAmounts): string {
  if (remaining === null) return 'no limit of this key'
  return held === null
    ? `${formatUsd(remaining)} by this key`
    : `${formatUsd(remaining)}, ${formatUsd(held)} of it held`
}

function describeForecast(forecast: Schemas['UsageForecast'] | null): string {
  if (forecast === null) return 'none yet: it needs three whole days of use'
  const { spent_usd: spent, low_usd: low, high_usd: high, confidence } = forecast
  return `${formatUsd(spent)} at the end of the month, ${formatUsd(low)} to ${formatUsd(high)} with ${Math.round(confidence * 100)} % confidence`
}

interface BudgetAmounts {
  readonly remaining_usd: number | null
  readonly held_usd: number | null
}

interface SetOptions {
  readonly monthly?: string
  readonly daily?: string
  readonly account?: string
}

const set = clientCommand<SetOptions>({
  name: 'set',
  summary: 'Set the budgets of an account. Only operators can: it needs a key with the scope admin.',
  example: 'parkway budget set --monthly 50 --daily none',
  define: (command) =>
    command
      .option('--monthly <dollars>', 'what may be spent in a month of UTC, or none')
      .option('--daily <dollars>', 'what may be spent in a day of UTC, or none')
      .option('--account <id>', 'another account than that of the key'),
  async act({ output, isJson, connect, printJson }, { monthly, daily, account }) {
    if (monthly === undefined && daily === undefined)
      throw new CommandFailure(EXIT.usage, 'There is nothing to set: give --monthly or --daily.')
    const body = {
      ...(monthly === undefined ? {} : { monthly_usd: parseBudget('--monthly', monthly) }),
      ...(daily === undefined ? {} : { daily_usd: parseBudget('--daily', daily) }),
    }
    const gateway = connect()
    const id = account ?? (await gateway.call((routes) => routes.GET('/v1/tenants/me'))).id
    const budget = await gateway.call((routes) =>
      routes.PATCH('/v1/admin/accounts/{id}/budget', { params: { path: { id } }, body }),
    )
    if (isJson) return printJson(budget)
    printPairs(output, [
      ['account', budget.account_id],
      ['a month', describe(budget.monthly_usd, budget.monthly_spent_usd)],
      ['a day', describe(budget.daily_usd, budget.daily_spent_usd)],
    ])
  },
})

function parseBudget(option: string, text: string): number | null {
  return text === 'none' ? null : parseUsd(option, text)
}

function describe(limit: number | null, spent: number | null): string {
  return limit === null ? 'no budget' : `${formatUsd(limit)}, ${formatUsd(spent ?? 0)} of it spent`
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * BAR_WIDTH)
  return `${'█'.repeat(filled)}${'░'.repeat(BAR_WIDTH - filled)}`
}

export const budget = commandGroup({
  name: 'budget',
  summary: 'Show the budgets of the account, or set them.',
  example: 'parkway budget',
  byDefault: show,
  others: [set],
})
