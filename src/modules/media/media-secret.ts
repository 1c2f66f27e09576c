import { randomBytes } from 'node:crypto'
import type { Database } from '../../storage/database.ts'

const SECRET_BYTES = 32

/** Returns the secret that all processes on a database share. The first call creates it. */
export async function readMediaSecret(database: Database): Promise<Buffer> {
  const found = await selectSecret(database)
  if (found !== null) return found
  await database.query('INSERT INTO media_secret (secret) VALUES ($1) ON CONFLICT DO NOTHING', [
    randomBytes(SECRET_BYTES),
  ])
  const made = await selectSecret(database)
  if (made === null) throw new Error('the secret of media addresses could not be made')
  return made
}

async function selectSecret(database: Database): Promise<Buffer | null> {
  const [row] = await database.query<{ secret: Buffer }>('SELECT secret FROM media_secret')
  return row?.secret ?? null
}
