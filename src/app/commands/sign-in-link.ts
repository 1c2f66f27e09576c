import { parseArgs } from 'node:util'
import { AppError } from '../../kernel/app-error.ts'
import { createSignInCode } from '../../modules/sessions/sessions.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { createLogger } from '../../telemetry/logger.ts'
import { findStorage } from '../process/find-storage.ts'
import { nameReachable, signInLink as linkOf } from '../report/sign-in-link.ts'
import { loadConfig } from '../settings/config.ts'
import { UsageError } from '../settings/usage-error.ts'
import { CONFIG_OPTION, type Command } from './command.ts'

const STATEMENT_MS_MAX = 10_000

/** Prints a link that signs the operator in to the console. Like `admin-key create`, it needs access to the database and no key. */
export const signInLink: Command = {
  usage: 'sign-in-link [--url URL] [--config FILE]',
  options: {
    '--url URL': 'The address of the gateway; that of the settings unless told.',
    ...CONFIG_OPTION,
  },
  async run(words) {
    const { url, configFile } = readRequest(words)
    const config = loadConfig({ environment: process.env, file: configFile })
    const baseUrl = url ?? config.publicUrl ?? nameReachable(`http://${hostOf(config.host)}:${config.port}`)
    const storage = await findStorage(config, createLogger({ level: 'silent' }))
    const database = connectDatabase({
      connectionString: storage.connectionString,
      poolSize: 1,
      statementTimeoutMs: STATEMENT_MS_MAX,
    })
    try {
      const code = await createSignInCode(database)
      if (code === null) throw new AppError('not_found', NO_KEY)
      process.stderr.write('Works once, within an hour. Links that were made before no longer work.\n')
      process.stdout.write(`${linkOf(baseUrl, code)}\n`)
      return 0
    } finally {
      await database.close()
      await storage.close()
    }
  },
}

const NO_KEY =
  'There is no key with the scope admin in the first account. The first start of the gateway makes one; `parkway admin-key create` makes another.'

function readRequest(words: readonly string[]): { url: string | null; configFile: string | null } {
  const { values } = parseArgs({
    args: [...words],
    options: { url: { type: 'string' }, config: { type: 'string' } },
  })
  const { url = null, config = null } = values
  if (url !== null && !/^https?:\/\/[^#?]+$/.test(url))
    throw new UsageError('--url must be an address such as https://gateway.example.com.')
  return { url, configFile: config }
}

function hostOf(host: string): string {
  return host.includes(':') ? `[${host}]` : host
}
