import type { Database } from '../../../storage/database.ts'

interface KeepOptions {
  readonly database: Pick<Database, 'query'>
  /** The price lists of the catalog file, by version. */
  readonly listFilePrices: () => ReadonlyMap<string, unknown>
}

/** Returns a function that stores the price lists of the file which are not stored yet, so that bills which name them can be computed again. */
export function createFilePriceKeeper({ database, listFilePrices }: KeepOptions): () => Promise<void> {
  const stored = new Set<string>()
  return async () => {
    const missing = [...listFilePrices()].filter(([version]) => !stored.has(version))
    if (missing.length === 0) return
    await database.query(
      `INSERT INTO file_prices (version, rates)
       SELECT version, rates::jsonb FROM unnest($1::text[], $2::text[]) AS given (version, rates)
       ON CONFLICT (version) DO NOTHING`,
      [missing.map(([version]) => version), missing.map(([, rates]) => JSON.stringify(rates))],
    )
    for (const [version] of missing) stored.add(version)
  }
}
