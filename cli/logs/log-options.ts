import type { Command } from 'commander'
import { parseSince } from '../input/parse-date.ts'
import { parseUsd, parseWhole } from '../input/parse-number.ts'
import type { LogQuery, LogSelection } from './read-log.ts'

export interface LogOptions {
  readonly model?: string
  readonly provider?: string
  readonly key?: string
  readonly env?: string
  readonly operation?: string
  readonly outcome?: string
  readonly status?: string
  readonly error?: string
  readonly errorCode?: string
  readonly tag?: string
  readonly ofProject?: string
  readonly minLatency?: string
  readonly minCost?: string
  readonly since?: string
  readonly until?: string
  readonly allAccounts?: boolean
  readonly account?: string
}

const LATENCY_MS_MAX = 2_147_483_647

/** Adds the filters of the log, and what makes operators read that of others. */
export function withLogOptions(command: Command): Command {
  return withLogFilters(command)
    .option('--all-accounts', 'requests of all accounts, for operators')
    .option('--account <id>', 'requests of this account, for operators')
}

/** Adds the filters of the log. */
export function withLogFilters(command: Command): Command {
  return command
    .option('--model <id>', 'only requests to this model')
    .option('--provider <name>', 'only requests that this provider answered')
    .option('--key <id>', 'only requests of this key')
    .option('--env <name>', 'only requests of this environment')
    .option('--operation <name>', 'only this operation: chat, embedding, image, …')
    .option('--outcome <name>', 'completed, failed, refused or disconnected')
    .option('--status <code>', 'only answers with this HTTP status')
    .option('--error <text>', 'only errors with this text in their code or message')
    .option('--error-code <code>', 'only errors with this code')
    .option('--tag <name=value>', 'only requests with this tag')
    .option('--of-project <id>', 'only requests of this project')
    .option('--min-latency <ms>', 'only requests that took this long')
    .option('--min-cost <dollars>', 'only requests that cost this much')
    .option('--since <time>', 'only later requests: a date, or 30m, 6h, 7d')
    .option('--until <time>', 'only earlier requests')
}

export function selectRequests(options: LogOptions): LogSelection {
  const { model, provider, key, operation, error, errorCode, tag, ofProject } = options
  const { status, minLatency, minCost, since, until, account } = options
  const query = {
    model,
    provider,
    key,
    // The gateway refuses environments and outcomes that it does not know, and names those that it knows.
    env: options.env as LogQuery['env'],
    operation,
    outcome: options.outcome as LogQuery['outcome'],
    error,
    error_code: errorCode,
    tag,
    project_id: ofProject,
    ...(status !== undefined && { http_status: parseWhole('--status', status, { min: 100, max: 599 }) }),
    ...(minLatency !== undefined && {
      min_latency_ms: parseWhole('--min-latency', minLatency, { min: 0, max: LATENCY_MS_MAX }),
    }),
    ...(minCost !== undefined && { min_cost_usd: parseUsd('--min-cost', minCost) }),
    ...(since !== undefined && { since: parseSince('--since', since) }),
    ...(until !== undefined && { until: parseSince('--until', until) }),
    ...(account !== undefined && { account_id: account }),
  }
  return { isOfAll: options.allAccounts === true || account !== undefined, query }
}
