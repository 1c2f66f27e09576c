import { connectDatabase } from '../../../storage/connection/connect-database.ts'
import { archiveDue } from '../../../storage/archive/archive-due.ts'
import { openArchiveStore } from '../../../storage/archive/archive-store.ts'

// A process that says when it wrote a part and the beginning of the next one, and then does nothing until it is killed.
const [connectionString = '', directory = ''] = process.argv.slice(2)
let steps = 0
await archiveDue({
  database: connectDatabase({ connectionString, poolSize: 2, statementTimeoutMs: 20_000 }),
  store: openArchiveStore({ directory }),
  partRows: 4,
  stepRows: 2,
  rest: async () => {
    steps += 1
    if (steps < 3) return
    process.stdout.write('hanging\n')
    setInterval(() => {}, 60_000)
    await new Promise<never>(() => {})
  },
  onArchived: () => {},
  onPutOff: () => {},
})
