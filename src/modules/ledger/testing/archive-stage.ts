import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createId } from '../../../kernel/identifiers.ts'
import { archiveDue, type DueWork } from '../../../storage/archive/archive-due.ts'
import { openArchiveStore } from '../../../storage/archive/archive-store.ts'
import {
  ARCHIVED_USAGE,
  findArchivedTable,
  type ArchivedRow,
} from '../../../storage/archive/archived-tables.ts'
import { mayDrop, noteDropped } from '../../../storage/archive/may-drop.ts'
import { parseMonth } from '../../../storage/archive/month.ts'
import { readArchives } from '../../../storage/archive/read-archives.ts'
import { listArchives } from '../../../storage/archive/stored-archives.ts'
import { verifyArchive } from '../../../storage/archive/verify-archive.ts'
import type { MediaStore } from '../../../storage/media-store/media-store.ts'
import { PARTITIONED_TABLES } from '../../../storage/partitions/partitioned-tables.ts'
import { arrangeOnce } from '../../../storage/partitions/testing/arrange-once.ts'
import { removeDirectory } from '../../../../tests/support/remove-directory.ts'
import { postCharges } from '../journal/post-charges.ts'
import { carryArchives, carryUsage, type Payer } from '../ledger.ts'
import { createLedgerStage, usageOf, type LedgerProcess, type LedgerStage } from './ledger-stage.ts'
import { PLAIN_CHARGE } from './plain-charge.ts'

/** A ledger with requests and entries of a closed month, and a directory for its archives. */
export interface ArchiveStage extends LedgerStage {
  readonly dataDir: string
  /** Of its archives. */
  readonly directory: string
  readonly store: MediaStore
  /** A request of this time, which is charged and posted. */
  charge(payer: Payer, costNanoUsd: bigint, atMs: number): Promise<void>
  /** Gives all entries the time of another day, in one step. */
  backdateEntries(day: string): Promise<void>
  archive(work?: Partial<DueWork>): Promise<string[]>
  /** Drops the partitions of usage that may be dropped. Without archives all of them. */
  drop(options?: { readonly hasArchives: boolean }): Promise<void>
  verify(): Promise<string[]>
  read(table: string, month: string, accountId?: string): Promise<ArchivedRow[]>
}

/** Few rows a file, so that a month has several. */
const SMALL = { partRows: 4, stepRows: 2 }

export async function createArchiveStage(): Promise<ArchiveStage> {
  const stage = await createLedgerStage()
  const dataDir = await mkdtemp(join(tmpdir(), 'parkway-archive-'))
  const directory = join(dataDir, 'archive')
  const store = openArchiveStore({ directory })
  const { database, connectionString } = stage
  const process = await stage.createProcess()
  return {
    ...stage,
    dataDir,
    directory,
    store,
    charge: (payer, costNanoUsd, atMs) => charge(process, payer, { costNanoUsd, atMs }),
    backdateEntries: async (day) => {
      await database.transaction(async (transaction) => {
        await transaction.query('SET LOCAL session_replication_role = replica')
        await transaction.query('UPDATE ledger_entries SET created_at = $1::timestamptz', [
          `${day}T12:00:00.123456Z`,
        ])
        await transaction.query('UPDATE ledger_by_day SET day = $1::date', [day])
      })
    },
    archive: async (work = {}) => {
      const done: string[] = []
      await archiveDue({
        database,
        store,
        ...SMALL,
        rest: async () => {},
        onArchived: ({ table, month, rows }) => done.push(`${table} ${month} ${rows}`),
        onPutOff: (reason) => done.push(reason),
        ...work,
      })
      return done
    },
    drop: ({ hasArchives } = { hasArchives: true }) =>
      arrangeOnce(connectionString, {
        tables: PARTITIONED_TABLES.filter(({ name }) => name === 'usage_records'),
        retentions: [
          {
            table: 'usage_records',
            keptSince: () => Infinity,
            mayDrop: async (transaction, partition) => {
              if (hasArchives) return mayDrop({ transaction, store }, ARCHIVED_USAGE, partition)
              await carryArchives(transaction, await noteDropped(transaction, ARCHIVED_USAGE, partition))
              return true
            },
            keepSums: (partition) => carryUsage(partition, { isArchived: hasArchives }),
          },
        ],
      }),
    verify: async () => {
      const differences: string[] = []
      for (const archive of await listArchives(database))
        differences.push(...(await verifyArchive({ database, store }, archive)))
      return differences
    },
    read: async (name, month, accountId) => {
      const [table, parsed] = [findArchivedTable(name), parseMonth(month)]
      if (table === undefined || parsed === null) throw new Error('no such archive')
      const question = { table, month: parsed, accountId: accountId ?? null }
      const read: ArchivedRow[] = []
      for await (const rows of (await readArchives({ database, store }, question)) ?? []) read.push(...rows)
      return read
    },
    close: async () => {
      await store.close()
      await stage.close()
      await removeDirectory(dataDir)
    },
  }
}

async function charge(
  { ledger, database }: LedgerProcess,
  payer: Payer,
  { costNanoUsd, atMs }: { readonly costNanoUsd: bigint; readonly atMs: number },
): Promise<void> {
  const hold = await ledger.hold(payer, {
    ...PLAIN_CHARGE,
    wantedNanoUsd: costNanoUsd,
    leastNanoUsd: costNanoUsd,
  })
  const labels = ['tag:team=search']
  const record = usageOf(payer, { id: createId(atMs).replaceAll('-', ''), createdAtMs: atMs, labels })
  await hold.settle({ costNanoUsd, record, isDelivered: false })
  await postCharges(database)
}
