import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { silentLogger } from '../../src/kernel/logger.ts'
import { createMessageBus } from '../../src/storage/bus/message-bus.ts'

// A subscriber process: prints each message that it receives, and finishes a `slow` message only after a line on its stdin.
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
