import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { CommandFailure } from '../command-failure.ts'
import { EXIT } from '../exit-codes.ts'
import type { Output } from '../output/terminal.ts'
import type { FilterAnswer, FilterKind, FilterStart } from './filter-messages.ts'

const START_MS_MAX = 30_000
const VALUE_MS_MAX = 10_000
const MEMORY_MIB_MAX = 1_024

/** A filter between a command and its output. */
export interface OutputFilter {
  /** Prints what the filter makes of a value. Values are taken one after the other. Throws once the filter cannot go on. */
  take(json: string): void
  /** Waits for everything that was taken. Throws if the filter failed on any of it. */
  end(): Promise<void>
}

/**
 * Starts a filter in a thread, because how long it takes depends on its text. Throws if the text is no filter, so that a command with
 * a wrong one does nothing.
 */
export async function startFilter(
  kind: FilterKind,
  text: string,
  output: Output,
  valueMsMax = VALUE_MS_MAX,
): Promise<OutputFilter> {
  const workerData: FilterStart = {
    kind,
    text,
    isForPerson: output.isTerminal,
    columns: output.columns,
  }
  const thread = new Worker(new URL('./filter-thread.ts', import.meta.url), {
    workerData,
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: MEMORY_MIB_MAX },
  })
  // A waiting caller gets the error. Without a listener it would end the process.
  thread.on('error', () => {})
  const started = await answerWithin(thread, START_MS_MAX, kind)
  if (started.failure !== null) {
    await thread.terminate()
    throw new CommandFailure(EXIT.usage, `--${kind} is not valid: ${started.failure}.`, DOCUMENTS[kind])
  }
  thread.unref()
  return new ThreadFilter({ thread, kind, output, valueMsMax })
}

const DOCUMENTS: Readonly<Record<FilterKind, string>> = {
  jq: 'The language is described at https://jqlang.org/manual/.',
  template: 'The language is described in docs/cli-output.md.',
}

interface ThreadFilterOptions {
  readonly thread: Worker
  readonly kind: FilterKind
  readonly output: Output
  readonly valueMsMax: number
}

class ThreadFilter implements OutputFilter {
  readonly #thread: Worker
  readonly #kind: FilterKind
  readonly #output: Output
  readonly #valueMsMax: number
  #last: Promise<void> = Promise.resolve()
  #failure: CommandFailure | null = null
  #isStopped = false

  constructor({ thread, kind, output, valueMsMax }: ThreadFilterOptions) {
    this.#thread = thread
    this.#kind = kind
    this.#output = output
    this.#valueMsMax = valueMsMax
  }

  take(json: string): void {
    if (this.#isStopped && this.#failure !== null) throw this.#failure
    this.#last = this.#last.then(() => this.#print(json))
  }

  async end(): Promise<void> {
    await this.#last
    await this.#stop()
    if (this.#failure !== null) throw this.#failure
  }

  async #stop(): Promise<void> {
    this.#isStopped = true
    await this.#thread.terminate()
  }

  async #print(json: string): Promise<void> {
    if (this.#isStopped) return
    try {
      const answered = answerWithin(this.#thread, this.#valueMsMax, this.#kind)
      this.#thread.postMessage(json, [])
      const { text, failure } = await answered
      if (text !== '') this.#output.copy(text)
      if (failure !== null) this.#failure ??= failed(`--${this.#kind} failed: ${failure}.`)
    } catch (error) {
      this.#failure ??= error instanceof CommandFailure ? error : failed(`--${this.#kind} failed.`)
      await this.#stop()
    }
  }
}

/** Waits for the next answer. A thread that waits for this alone keeps the process alive by the timer. */
async function answerWithin(thread: Worker, timeMsMax: number, kind: FilterKind): Promise<FilterAnswer> {
  const tooLate = new AbortController()
  const timer = setTimeout(() => tooLate.abort(), timeMsMax)
  try {
    const [answer]: unknown[] = await once(thread, 'message', { signal: tooLate.signal })
    return answer as FilterAnswer
  } catch {
    await thread.terminate()
    throw failed(
      tooLate.signal.aborted
        ? `--${kind} took longer than ${timeMsMax / 1_000} seconds.`
        : `--${kind} needs more memory than there is.`,
    )
  } finally {
    clearTimeout(timer)
  }
}

function failed(sentence: string): CommandFailure {
  return new CommandFailure(EXIT.failed, sentence)
}
