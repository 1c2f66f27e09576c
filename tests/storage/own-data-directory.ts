import { once } from 'node:events'
import { startEmbeddedPostgres } from '../../src/storage/embedded-postgres/start-embedded-postgres.ts'
import { messageOf, StorageError } from '../../src/storage/storage-error.ts'
import { silentLogger } from '../../src/kernel/logger.ts'

// Only the database of a gateway: starts it, prints the result, and stops it when stdin ends.
const [, , dataDir = ''] = process.argv
try {
  const startedMs = performance.now()
  const server = await startEmbeddedPostgres({ dataDir, logger: silentLogger })
  say({
    connectionString: server.connectionString,
    adopted: server.adopted,
    elapsedMs: performance.now() - startedMs,
  })
  process.stdin.resume()
  await once(process.stdin, 'end')
  await server.stop()
} catch (error) {
  say({ code: error instanceof StorageError ? error.code : 'unexpected', message: messageOf(error) })
}

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
