import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { FairQueue } from './turns/fair-queue.ts'

interface ThreadPoolOptions {
  /** The worker script. It posts one message when it is ready, and then one answer per message. */
  readonly script: URL
  readonly threadsMax: number
  readonly ownerQuestionsMax: number
}

interface Asked<Question> {
  readonly question: Question
  readonly timeMsMax: number
  readonly onTooLate: (() => void) | undefined
  readonly resolve: (answer: unknown) => void
}

interface AskOptions {
  readonly owner: string
  readonly timeMsMax: number
  /** Called if the thread took too long, and not for other failures. */
  readonly onTooLate?: () => void
}

/**
 * Runs work in threads if it cannot be interrupted otherwise and its time depends on input of clients or models. Owners take
 * turns. If a question exceeds its time, its thread is terminated. Threads do not keep the process alive.
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

  /** Returns the answer of the thread, or undefined if it timed out, failed, or the owner has too many questions queued. */
  ask(question: Question, { owner, timeMsMax, onTooLate }: AskOptions): Promise<unknown> {
    return new Promise((resolve) => {
      const isQueued = this.#waiting.add(owner, { question, timeMsMax, onTooLate, resolve })
      if (!isQueued) resolve(undefined)
      else if (this.#idle.length > 0 || this.#threads < this.#options.threadsMax) void this.#work()
    })
  }

  /** Answers queued questions one by one until none is left. */
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

async function answerInTime(
  thread: Worker,
  { question, timeMsMax, onTooLate }: Asked<unknown>,
): Promise<unknown> {
  // The timer keeps the process alive while a caller waits; an idle thread does not.
  const tooLate = new AbortController()
  const timer = setTimeout(() => {
    tooLate.abort()
    onTooLate?.()
  }, timeMsMax)
  try {
    const answered = once(thread, 'message', { signal: tooLate.signal })
    thread.postMessage(question, [])
    const [answer]: unknown[] = await answered
    return answer
  } finally {
    clearTimeout(timer)
  }
}

/** Starts a thread and waits until it is ready, so that its loading time does not count against the question. */
async function startThread(script: URL): Promise<Worker> {
  const started = new Worker(script, { execArgv: [] })
  // A waiting caller gets the error. Without a listener it would end the process.
  started.on('error', () => {})
  await once(started, 'message')
  started.unref()
  return started
}
