import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import { profilePath } from '../profile/profile-file.ts'
import type { UserFile } from './user-file.ts'

/** What is needed to take a change back. */
export interface ConnectionRecord {
  readonly path: string
  /** Null if there was no file. */
  readonly before: Buffer | null
  readonly mode: number | null
  /** The file as it was left, to notice changes since. */
  readonly afterSha256: string
  /** The first directory that was made for the file. */
  readonly madeDirectory: string | null
}

/** Where the copy of the file before the change is. */
export function backupPath(tool: string): string {
  return join(dirname(profilePath(process.env)), 'connected', `${tool}.backup`)
}

export function readRecord(tool: string): ConnectionRecord | null {
  let text: string
  try {
    text = readFileSync(recordPath(tool), 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
  const { path, existed, mode, after_sha256: afterSha256, made_directory: madeDirectory } = parse(text, tool)
  return { path, before: existed ? readFileSync(backupPath(tool)) : null, mode, afterSha256, madeDirectory }
}

/** Stores the file before the change. Both files are readable only for their user, because configurations contain keys. */
export function writeRecord(
  tool: string,
  { path, content, mode }: UserFile,
  after: { sha256: string; madeDirectory: string | null },
): void {
  mkdirSync(dirname(recordPath(tool)), { recursive: true, mode: 0o700 })
  if (content !== null) writeFileSync(backupPath(tool), content, { mode: 0o600 })
  const record = {
    path,
    existed: content !== null,
    mode,
    after_sha256: after.sha256,
    made_directory: after.madeDirectory,
  }
  writeFileSync(recordPath(tool), `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 })
}

export function removeRecord(tool: string): void {
  rmSync(recordPath(tool), { force: true })
  rmSync(backupPath(tool), { force: true })
}

function recordPath(tool: string): string {
  return join(dirname(backupPath(tool)), `${tool}.json`)
}

interface StoredRecord {
  readonly path: string
  readonly existed: boolean
  readonly mode: number | null
  readonly after_sha256: string
  readonly made_directory: string | null
}

function parse(text: string, tool: string): StoredRecord {
  try {
    const value = JSON.parse(text) as StoredRecord
    if (typeof value.path === 'string' && typeof value.after_sha256 === 'string') return value
  } catch {
    // The same failure as a record without its fields.
  }
  throw new CommandFailure(
    EXIT.failed,
    `${recordPath(tool)} is damaged. The copy of the file is ${backupPath(tool)}.`,
  )
}
