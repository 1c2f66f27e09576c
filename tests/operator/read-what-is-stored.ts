import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { Client } from 'pg'
import { expect } from 'vitest'
import { silentLogger } from '../../src/kernel/logger.ts'
import { backupDatabase } from '../../src/storage/backup/backup.ts'

/** Where it was found, and the text. */
export type Found = [string, string]

/** Every row of every table. */
export async function readDatabase(connectionString: string): Promise<Found[]> {
  const client = new Client({ connectionString })
  await client.connect()
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
     WHERE table_schema NOT IN ('pg_catalog', 'information_schema') AND table_type = 'BASE TABLE'`,
  )
  expect(tables.length).toBeGreaterThan(50)
  const found: Found[] = []
  for (const { name } of tables) {
    const { rows } = await client.query<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)
    found.push([`the table ${name}`, rows.map(({ text }) => text).join('\n')])
  }
  await client.end()
  return found
}

export async function readBackup(connectionString: string, file: string): Promise<Found> {
  await backupDatabase({ connectionString, file, overwrite: false, logger: silentLogger })
  const bytes = await readFile(file)
  return ['the backup', (bytes[0] === 0x1f ? gunzipSync(bytes) : bytes).toString('latin1')]
}

/** The sources of the console, and its pages where they are built. */
export async function readPages(): Promise<Found[]> {
  const directory = join(import.meta.dirname, '../../console')
  const found: Found[] = []
  for (const part of ['src', 'dist'])
    for (const file of await readdir(join(directory, part), { recursive: true }).catch(() => []))
      if (/\.(?:html|js|ts|tsx)$/.test(file))
        found.push([`the page source ${file}`, await readFile(join(directory, part, file), 'utf8')])
  return found
}
