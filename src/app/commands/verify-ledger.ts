import { parseArgs } from 'node:util'
import { verifyLedger as findDifferences } from '../../modules/ledger/ledger.ts'
import { verifyPrices } from '../../modules/usage/usage.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Queryable } from '../../storage/database.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { UsageError } from '../settings/usage-error.ts'
import { loadConfig } from '../settings/config.ts'
import { findStorage } from '../process/find-storage.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** Long, because whole tables are summed up. */
const STATEMENT_MS_MAX = 600_000

/** Recomputes all balances from the ledger entries, and the charges of a month from their price lists. Works whether the gateway runs or not. */
export const verifyLedger: Command = {
  usage: 'ledger verify [--month YYYY-MM] [--config FILE]',
  options: {
    '--month YYYY-MM':
      'Compute the charges of this month (UTC) again, each from its price list, and the costs of vendors.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { values } = parseArgs({
      args: [...words],
      options: { config: { type: 'string' }, month: { type: 'string' } },
    })
    const range = values.month === undefined ? null : readMonth(values.month)
    const config = loadConfig({ environment: process.env, file: values.config ?? null })
    const storage = await findStorage(config, createLogger({ level: 'silent' }))
    const database = connectDatabase({
      connectionString: storage.connectionString,
      poolSize: 1,
      statementTimeoutMs: STATEMENT_MS_MAX,
    })
    try {
      const areBalanced = await checkBalances(database)
      const areExplained = range === null || (await checkPrices(database, range))
      return areBalanced && areExplained ? 0 : 1
    } finally {
      await database.close()
      await storage.close()
    }
  },
}

async function checkBalances(database: Queryable): Promise<boolean> {
  const checks = await findDifferences(database)
  for (const { rule, differences } of checks) {
    process.stdout.write(`${differences.length === 0 ? 'holds ' : 'BROKEN'}  ${rule}\n`)
    for (const difference of differences) process.stdout.write(`          ${difference}\n`)
  }
  return checks.every(({ differences }) => differences.length === 0)
}

interface Month {
  readonly fromMs: number
  readonly toMs: number
}

/** Names each charge as it is found, so that the memory does not grow with them. */
async function checkPrices(database: Queryable, range: Month): Promise<boolean> {
  const { checked, differing, withoutList, costs } = await verifyPrices(database, {
    range,
    onDifference: ({ id, accountId, problem }) =>
      process.stdout.write(`          record ${id} of account ${accountId} ${problem}\n`),
  })
  const rule = `every charge of the month is that of its price list (${checked} computed again)`
  process.stdout.write(`${differing === 0 ? 'holds ' : 'BROKEN'}  ${rule}\n`)
  if (withoutList > 0)
    process.stdout.write(
      `          ${withoutList} charges name no price list: of earlier releases, or time of GPUs. They are not computed again.\n`,
    )
  const ofCosts = `every known cost of a vendor is that of its list (${costs.checked} computed again)`
  process.stdout.write(`${costs.differing === 0 ? 'holds ' : 'BROKEN'}  ${ofCosts}\n`)
  return differing + costs.differing === 0
}

function readMonth(text: string): Month {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text) ?? []
  if (year === undefined || month === undefined)
    throw new UsageError('--month must be a month such as 2026-10.')
  return {
    fromMs: Date.UTC(Number(year), Number(month) - 1, 1),
    toMs: Date.UTC(Number(year), Number(month), 1),
  }
}
