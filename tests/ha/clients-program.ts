import { createCaller } from '../ledger/spending-client.ts'
import { call } from '../app/call.ts'
import { MODEL, report, type Ended, type Question, type ToClients } from './messages.ts'

/** Clients that send so many requests a second, whatever happens to those before, and tell how each ended. */
const TICK_MS = 20
const OPEN_MAX = 5_000

const caller = createCaller()
let load: { url: string; key: string; rate: number } = { url: '', key: '', rate: 0 }
let number = 0
let open = 0
let ended: Ended[] = []
let owed = 0
let lastAtMs = performance.now()
let lastOpen = 0

setInterval(() => {
  const nowMs = performance.now()
  // A process that was paused does not make up for it.
  owed += (Math.min(nowMs - lastAtMs, 200) * load.rate) / 1_000
  lastAtMs = nowMs
  for (; owed >= 1; owed -= 1) if (open < OPEN_MAX) void send()
  if (ended.length === 0 && open === lastOpen) return
  report({ kind: 'ended', ended, open })
  lastOpen = open
  ended = []
}, TICK_MS)

async function send(): Promise<void> {
  number += 1
  const mine = number
  open += 1
  const isStream = mine % 2 === 0
  const sentAtMs = Date.now()
  const messages = [{ role: 'user', content: String(mine) }]
  const body = { model: MODEL, max_tokens: 40, stream: isStream, messages }
  const { status, requestId, isComplete, code, headers, text } = await caller.call(load.url, load.key, body)
  open -= 1
  ended.push({
    number: mine,
    isStream,
    sentAtMs,
    endedAtMs: Date.now(),
    status,
    requestId,
    isComplete,
    code,
    retryAfter: headers['retry-after'] ?? null,
    hasText: isStream && text.includes(' there'),
  })
}

async function ask(id: number, { method, url, key, body }: Question): Promise<void> {
  const answer = await call(method, url, { key, body }).catch((error: unknown) => ({
    status: 0,
    body: String(error),
  }))
  report({ kind: 'answer', id, ...answer })
}

process.on('message', (message: ToClients) => {
  if (message.kind === 'ask') void ask(message.id, message.question)
  else {
    load = message
    owed = 0
  }
})
process.on('disconnect', () => process.exit())
