import { readdir } from 'node:fs/promises'
import { addressOf, vendorOf } from '../../providers/vendors.ts'
import type { Keyring } from '../../kernel/seal-text.ts'
import { listSinks } from '../../modules/exports/exports.ts'
import type { Queryable } from '../../storage/database.ts'
import type { MediaStore } from '../../storage/media-store/media-store.ts'
import { MIGRATIONS_DIRECTORY } from '../../storage/migrate.ts'
import { messageOf } from '../../storage/storage-error.ts'
import { readCertificateEnd } from '../report/watch-certificates.ts'
import type { Config } from '../settings/config.ts'
import { connectDatabase } from '../../storage/connection/connect-database.ts'
import { checkArchives } from './check-archives.ts'
import { checkDatabase, checkSchema } from './check-database.ts'
import { checkExports } from './check-exports.ts'
import { checkMachine, readMachine } from './check-machine.ts'
import { checkCertificate, checkProviders, readProviders, type CalledAddress } from './check-providers.ts'
import { examineReplica } from './check-replica.ts'
import { checkSealing } from './check-sealing.ts'
import { checkSettings } from './check-settings.ts'
import { sortFindings, type Finding } from './finding.ts'
import { readDatabase } from './read-database.ts'

/** The database, with what is needed to read what it refers to. */
interface Stored {
  readonly database: Queryable
  /** What opens secrets. Null if there is no key. */
  readonly sealer: Keyring | null
  /** Where archives are. */
  readonly store: MediaStore
}

interface Examined {
  readonly config: Config
  /** Null if no database could be found; `whyNot` says why. */
  readonly stored: Stored | null
  readonly whyNot?: string
  /** What is known beside that. */
  readonly known?: readonly Finding[]
}

/** Looks at everything at once. Whatever cannot be looked at is a finding itself. */
export async function examine(examined: Examined): Promise<Finding[]> {
  const { config, known = [] } = examined
  const nowMs = Date.now()
  const parts = await Promise.all([
    examineDatabase(examined),
    examineExports(examined),
    examineReads(examined),
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
  message: 'There is no provider, so that the sandbox answers dev and test keys only.',
  mend: 'Set OPENAI_API_KEY and the like (docs/providers.md), or add a provider in the console.',
}

async function examineExports({ stored, config }: Examined): Promise<Finding[]> {
  if (stored === null) return []
  const { database } = stored
  const names = Object.keys(config.exports)
  try {
    const [row] = await database.query<{ is_paused: boolean }>('SELECT is_paused FROM installation')
    const isPaused = row?.is_paused === true
    return checkExports(await listSinks(database), { names, nowMs: Date.now(), isPaused })
  } catch {
    // What is wrong with the database is a finding of its own.
    return []
  }
}

async function examineDatabase({ stored, whyNot }: Examined): Promise<Finding[]> {
  if (stored === null) return [databaseAway(whyNot ?? 'there is none')]
  const { database, sealer, store } = stored
  const expected = { migrations: await countMigrations(), nowMs: Date.now() }
  try {
    const facts = checkDatabase(await readDatabase(database), expected)
    return [
      ...facts,
      ...(await checkSealing(database, sealer)),
      ...(await checkArchives({ database, store })),
    ]
  } catch (error) {
    const migrations = await countApplied(database)
    // A schema of another release may lack what was asked for.
    if (migrations !== null && migrations !== expected.migrations)
      return checkSchema(migrations, expected.migrations)
    return [databaseAway(messageOf(error))]
  }
}

/** Returns null if that cannot be read either. */
async function countApplied(database: Queryable): Promise<number | null> {
  const rows = await database
    .query<{ count: number }>('SELECT count(*)::int AS count FROM migrations')
    .catch(() => [])
  return rows[0]?.count ?? null
}

async function examineReads({ config, stored }: Examined): Promise<Finding[]> {
  const { databaseReadUrl, databaseReadLagMs: lagMsMax } = config
  if (databaseReadUrl === null || stored === null) return []
  const replica = connectDatabase({
    connectionString: databaseReadUrl,
    poolSize: 1,
    statementTimeoutMs: REPLICA_MS_MAX,
    connectTimeoutMs: REPLICA_MS_MAX,
    isForReading: true,
  })
  try {
    // Without a primary nothing can be compared, which is a finding of its own.
    return await examineReplica({ primary: stored.database, replica, lagMsMax }).catch(() => [])
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

/** The addresses of the providers. */
function listAddresses({ providers }: Config): CalledAddress[] {
  return [...providers].map(([name, { vendor: vendorId, apiKeys, baseUrl, headers, path }]) => {
    const vendor = vendorOf(vendorId ?? name)
    const address = baseUrl ?? (vendor === undefined ? null : addressOf(vendor).common)
    // Only a key that the OpenAI wire takes as it is can be tried.
    const isPlain =
      vendor === undefined ||
      (vendor.signIn === undefined &&
        vendor.wire !== undefined &&
        vendor.wire.credentialHeader === undefined &&
        (vendor.adapters ?? []).length === 0)
    const readBalance = vendor?.account?.readBalance
    return {
      name,
      baseUrl: address,
      apiKeys: isPlain ? apiKeys : [],
      headers: headers ?? [],
      path,
      readBalance,
    }
  })
}
