import { connectDatabase } from '../../src/storage/connection/connect-database.ts'
import { createKafkaSink } from '../../src/exports/kafka/kafka-sink.ts'
import { startExporter } from './export-stage.ts'

/** Exports to a broker until it is killed. */
const [connectionString = '', broker = ''] = process.argv.slice(2)
const database = connectDatabase({ connectionString, poolSize: 4, statementTimeoutMs: 30_000 })
await startExporter(database, {
  stream: () => createKafkaSink({ brokers: [broker], topic: 'requests', hasTls: false, signIn: null }),
})
process.stdout.write(`${JSON.stringify({ isStarted: true })}\n`)
// Until the kill: nothing else keeps the process.
setInterval(() => {}, 60_000)
