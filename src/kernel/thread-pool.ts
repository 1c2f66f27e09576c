import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FairQueue } from './fair-queue.ts'

interface ThreadPoolOptions {
  /** Posts one message when it is ready, and then an answer for each message. */
  readonly script: URL
  readonly threadsMax: number
  readonly ownerQuestionsMax: number
}

interface Asked<Question> {
  readonly question: Question
  readonly timeMsMax: number
  readonly resolve: (answer: unknown) => void
}

/**
 * Threads for work that cannot be stopped from within and whose time depends on what a client or a model wrote. Owners take turns, and
 * a question that takes too long is given up together with its thread. No thread keeps the process from ending.
 */
export class ThreadPool<Question> {
  readonly #options: ThreadPoolOptions
  readonly #waiting: FairQueue<Asked<Question>>
  readonly #idle: Worker[] = []
  #threads = 0

  constructor(options: ThreadPoolOptions) {
    this.#options = options
    this.#waiting = new FairQueue({ ownerItemsMax: options.ownerQuestionsMax })
  }

  /** What the thread answered; undefined when that took too long, failed, or this owner asks too much at once. */
  ask(question: Question, { owner, timeMsMax }: { owner: string; timeMsMax: number }): Promise<unknown> {
    return new Promise((resolve) => {
      const isQueued = this.#waiting.add(owner, { question, timeMsMax, resolve })
      if (!isQueued) resolve(undefined)
      else if (this.#idle.length > 0 || this.#threads < this.#options.threadsMax) void this.#work()
    })
  }

  /** Answers one question after the other, until none is left. */
  async #work(): Promise<void> {
    this.#threads += this.#idle.length > 0 ? 0 : 1
    let thread = this.#idle.pop() ?? null
    for (let asked = this.#waiting.take(); asked !== undefined; asked = this.#waiting.take()) {
      try {
        thread ??= await startThread(this.#options.script)
        asked.resolve(await answerInTime(thread, asked))
      } catch {
        void thread?.terminate()
        thread = null
        asked.resolve(undefined)
      }
    }
    if (thread === null) this.#threads -= 1
    else this.#idle.push(thread)
  }
}

async function answerInTime(thread: Worker, { question, timeMsMax }: Asked<unknown>): Promise<unknown> {
  // The timer holds the process while somebody waits; the idle thread does not.
  const tooLate = new AbortController()
  const timer = setTimeout(() => tooLate.abort(), timeMsMax)
  try {
    const answered = once(thread, 'message', { signal: tooLate.signal })
    thread.postMessage(question, [])
    const [answer]: unknown[] = await answered
    return answer
  } finally {
    clearTimeout(timer)
  }
}

/** The time of a question begins when the thread can answer, however long a busy machine took to load it. */
async function startThread(script: URL): Promise<Worker> {
  const started = new Worker(script, { execArgv: [] })
  // Told to whoever waits for an answer; without anybody it must not end the process.
  started.on('error', () => {})
  await once(started, 'message')
  started.unref()
  return started
}
