import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { chunk, completion, event } from '../upstreams/openai-server.ts'
import { usageOf } from '../ledger/metered-upstream.ts'
import { report, type Answered } from './messages.ts'

/** A vendor that counts its own answers. It speaks OpenAI's wire on port 8080 of its machine, and tells what it answered. */
const PROMPT_TOKENS = 5
const COMPLETION_TOKENS_MAX = 40
const REPORT_MS = 200

let answered: Answered[] = []
let count = 0

const server = createServer((request, response) => void answer(request, response))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  const { stream, messages } = JSON.parse(Buffer.concat(pieces).toString('utf8'))
  count += 1
  const completionTokens = 1 + (count % COMPLETION_TOKENS_MAX)
  answered.push({
    requestId: String(request.headers['x-request-id']),
    number: Number(messages.at(-1).content),
    promptTokens: PROMPT_TOKENS,
    completionTokens,
  })
  const usage = usageOf(completionTokens)
  if (stream !== true) {
    await delay(20)
    response.setHeader('content-type', 'application/json').end(completion({ usage }).chunks[0])
    return
  }
  response.setHeader('content-type', 'text/event-stream; charset=utf-8')
  response.write(event(chunk({ delta: { role: 'assistant', content: 'Hello' } })))
  await delay(50)
  response.write(event(chunk({ delta: { content: ' there' } })))
  response.end(
    `${event(chunk({ finish_reason: 'stop' }))}${event(chunk({ choices: [], usage }))}data: [DONE]\n\n`,
  )
}
server.listen(8080)

setInterval(() => {
  if (answered.length === 0) return
  report({ kind: 'answered', answered })
  answered = []
}, REPORT_MS)
process.on('disconnect', () => process.exit())
