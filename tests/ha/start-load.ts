import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Machine } from './lay-network.ts'
import type { Answered, Ended, FromClients, FromVendor, Question } from './messages.ts'

/** Clients that go on while things break, and what they and the vendor saw. */
export interface Load {
  readonly ended: readonly Ended[]
  /** What the vendor answered, by the number of the request. */
  readonly answered: ReadonlyMap<number, readonly Answered[]>
  /** Sends this many requests a second from now on. */
  setRate(rate: number): void
  /** Sends nothing more, and resolves when no request is open. */
  pause(): Promise<void>
  /** Sends one request from the machine of the clients. */
  ask(question: Question): Promise<{ status: number; body: Answer }>
}

// oxlint-disable-next-line typescript/no-explicit-any -- tests reach into answers and fail loudly on a wrong shape
type Answer = any

/** Longer than any gateway waits for anything. */
const OPEN_MS_MAX = 200_000
const POLL_MS = 100
/** The vendor tells what it answered a moment later. */
const TOLD_MS = 500

export function startVendor(machine: Machine): Map<number, Answered[]> {
  const answered = new Map<number, Answered[]>()
  startProgram(machine, 'vendor-program.ts').on('message', (message: FromVendor) => {
    for (const one of message.answered) answered.set(one.number, [...(answered.get(one.number) ?? []), one])
  })
  return answered
}

export function startLoad(
  machine: Machine,
  { url, key, answered }: { url: string; key: () => string; answered: ReadonlyMap<number, Answered[]> },
): Load {
  const ended: Ended[] = []
  const questions = new Map<number, (answer: { status: number; body: Answer }) => void>()
  const state = { open: 0 }
  let asked = 0
  const child = startProgram(machine, 'clients-program.ts')
  child.on('message', (message: FromClients) => {
    if (message.kind === 'ended') {
      for (const one of message.ended) ended.push(one)
      state.open = message.open
    } else {
      questions.get(message.id)?.(message)
      questions.delete(message.id)
    }
  })
  const setRate: Load['setRate'] = (rate) => child.send({ kind: 'load', url, key: key(), rate })
  return {
    ended,
    answered,
    setRate,
    pause: async () => {
      setRate(0)
      await delay(POLL_MS)
      const deadlineMs = performance.now() + OPEN_MS_MAX
      while (state.open > 0) {
        if (performance.now() > deadlineMs) throw new Error(`${state.open} requests are still open`)
        await delay(POLL_MS)
      }
      await delay(TOLD_MS)
    },
    ask: (question) =>
      new Promise((resolve) => {
        asked += 1
        questions.set(asked, resolve)
        child.send({ kind: 'ask', id: asked, question })
      }),
  }
}

function startProgram(machine: Machine, name: string): ReturnType<Machine['start']> {
  return machine.start(process.execPath, [join(import.meta.dirname, name)], { isMessaging: true })
}
