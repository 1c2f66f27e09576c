import { parseArgs } from 'node:util'
import { AppError } from '../../kernel/app-error.ts'
import { systemClock } from '../../kernel/clock.ts'
import { findAccount } from '../../modules/accounts/accounts.ts'
import { createAudit } from '../../modules/audit/audit.ts'
import {
  createKey as issueKey,
  ENVIRONMENTS,
  PERMISSIONS,
  SCOPES,
  type Caller,
  type Scope,
} from '../../modules/keys/keys.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import type { Database } from '../../storage/database.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { loadConfig } from '../settings/config.ts'
import { findStorage } from '../process/find-storage.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

/** The caller for the audit log, with zeros as ids. The command needs no key, because its user can access the database anyway. */
const OPERATOR: Caller = {
  accountId: '00000000-0000-0000-0000-000000000000',
  keyId: '00000000-0000-0000-0000-000000000000',
  environment: 'dev',
  scopes: new Set(SCOPES),
  projectId: null,
  groupIds: [],
  permissions: new Set(PERMISSIONS),
  allowedModels: null,
  requestsPerMinute: null,
  limitNanoUsd: null,
}
const NAME_LENGTH_MAX = 200
const STATEMENT_MS_MAX = 10_000

/** Creates a key without needing one. Works whether the gateway runs or not. */
export const createKey: Command = {
  usage: 'admin-key create [--account ID] [--scopes LIST] [--env ENV] [--name NAME] [--config FILE]',
  options: {
    '--account ID': 'The account it belongs to; the first one unless told.',
    '--scopes LIST': `Of ${SCOPES.join(',')}; all in the first account, inference,manage in others.`,
    '--env ENV': `One of ${ENVIRONMENTS.join(', ')}; dev unless told.`,
    '--name NAME': 'What it is for.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const request = readRequest(words)
    const config = loadConfig({ environment: process.env, file: request.configFile })
    const storage = await findStorage(config, createLogger({ level: 'silent' }))
    const database = connectDatabase({
      connectionString: storage.connectionString,
      poolSize: 1,
      statementTimeoutMs: STATEMENT_MS_MAX,
    })
    try {
      const { token, note } = await makeKey(database, request)
      // Print only the key on standard output, so that scripts can read it.
      process.stderr.write(note)
      process.stdout.write(`${token}\n`)
      return 0
    } finally {
      await database.close()
      await storage.close()
    }
  },
}

type Request = ReturnType<typeof readRequest>

function readRequest(words: readonly string[]) {
  const { values } = parseArgs({
    args: [...words],
    options: {
      account: { type: 'string' },
      scopes: { type: 'string' },
      env: { type: 'string', default: 'dev' },
      name: { type: 'string', default: 'Made on the command line' },
      config: { type: 'string' },
    },
  })
  const environment = ENVIRONMENTS.find((known) => known === values.env)
  if (environment === undefined) throw new UsageError(`--env must be one of ${ENVIRONMENTS.join(', ')}.`)
  // oxlint-disable-next-line no-control-regex -- they are what must not be in a name
  if (!/^[^\u0000-\u001f\u007f]+$/.test(values.name) || values.name.length > NAME_LENGTH_MAX)
    throw new UsageError(
      `--name must have 1 to ${NAME_LENGTH_MAX} characters, none of them a control character.`,
    )
  const scopes = values.scopes === undefined ? null : parseScopes(values.scopes)
  return {
    accountId: values.account ?? null,
    environment,
    scopes,
    name: values.name,
    configFile: values.config ?? null,
  }
}

function parseScopes(text: string): Scope[] {
  const names = text.split(',').map((name) => name.trim())
  const scopes = SCOPES.filter((scope) => names.includes(scope))
  if (!names.every((name) => SCOPES.some((scope) => scope === name)))
    throw new UsageError(`--scopes must be a list of ${SCOPES.join(', ')}, separated by commas.`)
  return scopes
}

async function makeKey(
  database: Database,
  { accountId, environment, scopes, name }: Request,
): Promise<{ token: string; note: string }> {
  const account = await findAccount(database, accountId)
  if (account === undefined) {
    throw new AppError(
      'not_found',
      accountId === null
        ? 'There is no account yet: the first start of the gateway makes one and prints its key.'
        : `There is no account ${accountId}.`,
    )
  }
  // Use the scopes of the gateway's first key, which this key may have to replace.
  const given = scopes ?? (account.isFirst ? SCOPES : null)
  const request = { name, environment, ...(given !== null && { scopes: given }) }
  const { token, record } = await createAudit({ database, clock: systemClock }).run(
    {
      actor: OPERATOR,
      action: 'api_key.create',
      target: { kind: 'api_key', id: null },
      details: {
        account_id: account.id,
        name,
        env: environment,
        scopes: given ?? 'default',
        by: 'command line',
      },
    },
    async () => {
      const nowMs = systemClock.nowMs()
      const issued = await database.transaction((transaction) =>
        issueKey(
          transaction,
          // The command names no models.
          { caller: OPERATOR, accountId: account.id, nowMs, findUnknownModel: () => null },
          request,
        ),
      )
      return { ...issued, id: issued.record.id }
    },
  )
  const note = `A key of account ${account.id} for ${record.scopes.join(', ')}, shown this once: keep it.\n`
  return { token, note }
}
