import type { Keyring } from '../kernel/seal-text.ts'
import type { Queryable } from './database.ts'
import { forgetAllSealed } from './sealed-tables.ts'
import { StorageError } from './storage-error.ts'

/** What this database is. */
export interface Installation {
  readonly id: string
  /** When it was restored from a backup of another installation, or null. */
  readonly restoredAtMs: number | null
  /**
   * Whether it is a restored copy that nobody has declared to be the only one. It runs no tasks and deployments, and deletes no
   * files that the original may have.
   */
  readonly isPaused: boolean
}

interface InstallationRow {
  readonly id: string
  readonly restored_at: Date | null
  readonly is_paused: boolean
}

export async function readInstallation(queryable: Queryable): Promise<Installation> {
  const [row] = await queryable.query<InstallationRow>('SELECT id, restored_at, is_paused FROM installation')
  if (row === undefined) throw new Error('the database has no installation')
  return { id: row.id, restoredAtMs: row.restored_at?.getTime() ?? null, isPaused: row.is_paused }
}

/** Declares a restored copy to be the installation: the original is gone. Returns false if it was not paused. */
export async function takeOverInstallation(queryable: Queryable): Promise<boolean> {
  const rows = await queryable.query('UPDATE installation SET is_paused = false WHERE is_paused RETURNING 1')
  return rows.length > 0
}

/** Returns the fingerprint of the key that sealed the secrets of this database, or null if none has. */
export async function readSealingFingerprint(queryable: Queryable): Promise<string | null> {
  const [row] = await queryable.query<{ sealing_fingerprint: string | null }>(
    'SELECT sealing_fingerprint FROM installation',
  )
  return row?.sealing_fingerprint ?? null
}

/** Stores the fingerprint of the first gateway, and throws if another one has another key and does not know that one either. */
export async function requireSealingKey(
  queryable: Queryable,
  { fingerprint, otherFingerprints }: Pick<Keyring, 'fingerprint' | 'otherFingerprints'>,
): Promise<void> {
  await queryable.query(
    'UPDATE installation SET sealing_fingerprint = $1 WHERE sealing_fingerprint IS NULL',
    [fingerprint],
  )
  const stored = await readSealingFingerprint(queryable)
  if (stored !== null && [fingerprint, ...otherFingerprints].includes(stored)) return
  throw new StorageError(
    'wrong_sealing_key',
    'The sealing key is not the one that sealed the secrets of this database. Give every gateway the same PARKWAY_SEALING_KEY, ' +
      `or the same file sealing.key in its data directory. To replace the key, name the old one in PARKWAY_OTHER_SEALING_KEY. ${LOST_KEY}`,
  )
}

/** Says that all secrets are sealed with this key. */
export async function replaceSealingKey(
  queryable: Queryable,
  { fingerprint }: Pick<Keyring, 'fingerprint'>,
): Promise<void> {
  await queryable.query('UPDATE installation SET sealing_fingerprint = $1', [fingerprint])
}

export function missingSealingKey(file: string): StorageError {
  return new StorageError(
    'wrong_sealing_key',
    `The sealing key of this database is missing: neither PARKWAY_SEALING_KEY is set nor does ${file} exist. ${LOST_KEY}`,
  )
}

const LOST_KEY = 'If the key is lost, `parkway forget-sealed` deletes what it sealed.'

/** Deletes everything that is sealed, so that another key can be used. Returns the number of deleted secrets. */
export async function forgetSealed(queryable: Queryable): Promise<number> {
  const [row] = await queryable.query<{ count: number }>(forgetAllSealed())
  return row?.count ?? 0
}
