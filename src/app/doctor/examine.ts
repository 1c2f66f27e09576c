import { readdir } from 'node:fs/promises'
import { addressOf, vendorOf } from '../../providers/vendors.ts'
import type { Queryable } from '../../storage/database.ts'
import { MIGRATIONS_DIRECTORY } from '../../storage/migrate.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { readCertificateEnd } from '../report/watch-certificates.ts'
import type { Config } from '../settings/config.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { checkDatabase } from './check-database.ts'
import { checkMachine, readMachine } from './check-machine.ts'
import { checkCertificate, checkProviders, readProviders, type CalledAddress } from './check-providers.ts'
import { examineReplica } from './check-replica.ts'
import { checkSettings } from './check-settings.ts'
import { sortFindings, type Finding } from './finding.ts'
import { readDatabase } from './read-database.ts'

interface Examined {
  readonly config: Config
  /** Null if no database could be found; `whyNot` says why. */
  readonly database: Queryable | null
  readonly whyNot?: string
  /** What a running gateway knows beside that. */
  readonly known?: readonly Finding[]
}

/** Looks at everything at once. Whatever cannot be looked at is a finding itself. */
export async function examine({ config, database, whyNot, known = [] }: Examined): Promise<Finding[]> {
  const nowMs = Date.now()
  const parts = await Promise.all([
    database === null ? [databaseAway(whyNot ?? 'there is none')] : examineDatabase(database),
    examineReads(config, database),
    readMachine(config.dataDir).then(checkMachine),
    readProviders(listAddresses(config)).then((states) => checkProviders(states, nowMs)),
    examineCertificate(config.publicUrl),
  ])
  const none: Finding[] = config.providers.size === 0 ? [NO_PROVIDER] : []
  return sortFindings([...parts.flat(), ...checkSettings(config), ...none, ...known])
}

const NO_PROVIDER: Finding = {
  code: 'no_provider',
  level: 'info',
  subject: null,
  message:
    'The settings name no provider. Unless operators added some in the console, the sandbox answers dev and test keys only.',
  mend: 'Set OPENAI_API_KEY and the like (docs/providers.md), or add a provider in the console.',
}

async function examineDatabase(database: Queryable): Promise<Finding[]> {
  try {
    const facts = await readDatabase(database)
    return checkDatabase(facts, { migrations: await countMigrations(), nowMs: Date.now() })
  } catch (error) {
    return [databaseAway(messageOf(error))]
  }
}

async function examineReads(config: Config, primary: Queryable | null): Promise<Finding[]> {
  const { databaseReadUrl, databaseReadLagMs: lagMsMax } = config
  if (databaseReadUrl === null || primary === null) return []
  const replica = connectDatabase({
    connectionString: databaseReadUrl,
    poolSize: 1,
    statementTimeoutMs: REPLICA_MS_MAX,
    connectTimeoutMs: REPLICA_MS_MAX,
    isForReading: true,
  })
  try {
    // Without a primary nothing can be compared, which is a finding of its own.
    return await examineReplica({ primary, replica, lagMsMax }).catch(() => [])
  } finally {
    await replica.close()
  }
}

const REPLICA_MS_MAX = 2_000

function databaseAway(reason: string): Finding {
  return {
    code: 'database_away',
    level: 'critical',
    subject: null,
    message: `The database could not be looked at: ${reason}.`,
    mend: 'Start it, or correct DATABASE_URL. Nothing is charged and few requests are answered without it.',
  }
}

async function countMigrations(): Promise<number> {
  const names = await readdir(MIGRATIONS_DIRECTORY)
  return names.filter((name) => name.endsWith('.sql')).length
}

async function examineCertificate(publicUrl: string | null): Promise<Finding[]> {
  if (publicUrl?.startsWith('https:') !== true) return []
  const { host } = new URL(publicUrl)
  return readCertificateEnd(new URL(publicUrl)).then(
    (seconds) => checkCertificate(host, seconds * 1e3, Date.now()),
    (error: unknown) => [
      {
        code: 'public_url_unreachable',
        level: 'warning',
        subject: host,
        message: `PARKWAY_PUBLIC_URL does not answer from here: ${messageOf(error)}.`,
        mend: 'Check the name and the proxy in front of the gateway. Links in mails and webhooks have this address.',
      },
    ],
  )
}

/** The addresses of the providers in the settings, without those behind a proxy of their own. */
function listAddresses({ providers }: Config): CalledAddress[] {
  return [...providers].flatMap(([name, { vendor: vendorId, apiKeys, baseUrl, path }]) => {
    if (path !== undefined) return []
    const vendor = vendorOf(vendorId ?? name)
    const address = baseUrl ?? (vendor === undefined ? null : addressOf(vendor).common)
    // Only a key that the OpenAI wire takes as it is can be tried.
    const isPlain =
      vendor === undefined ||
      (vendor.signIn === undefined &&
        vendor.wire !== undefined &&
        vendor.wire.credentialHeader === undefined &&
        (vendor.adapters ?? []).length === 0)
    return [{ name, baseUrl: address, apiKey: isPlain ? (apiKeys[0] ?? null) : null }]
  })
}
