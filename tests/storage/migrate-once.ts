import { once } from 'node:events'
import { silentLogger } from '../../src/kernel/logger.ts'
import { migrate } from '../../src/storage/migrate.ts'

// Loads all modules first and migrates after a line on stdin, so that several processes can migrate at the same moment.
const [, , connectionString = ''] = process.argv
process.stdout.write(`${JSON.stringify({ ready: true })}\n`)
await once(process.stdin, 'data')
const result = await migrate({ connectionString, logger: silentLogger })
process.stdout.write(`${JSON.stringify(result)}\n`)
process.stdin.destroy()
