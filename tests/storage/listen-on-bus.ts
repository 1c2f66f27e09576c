import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { silentLogger } from '../../src/kernel/logger.ts'
import { createMessageBus } from '../../src/storage/message-bus.ts'

// A process that listens: says what it hears, and handles a `slow` message only when told to on its input.
const [, , connectionString = ''] = process.argv
const bus = await createMessageBus({ connectionString, logger: silentLogger })
const input = createInterface({ input: process.stdin })
bus.subscribe('news', (payload) => say({ heard: payload }))
bus.subscribe('slow', async (payload) => {
  say({ began: payload })
  await once(input, 'line')
  say({ finished: payload })
})
say({ ready: true })
await once(input, 'close')
await bus.close()

function say(answer: object): void {
  process.stdout.write(`${JSON.stringify(answer)}\n`)
}
