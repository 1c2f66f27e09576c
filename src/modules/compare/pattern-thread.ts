import { parentPort } from 'node:worker_threads'

export interface PatternQuestion {
  readonly pattern: string
  readonly flags: string
  readonly text: string
}

/** The thread that looks for patterns: one at a time, an answer each. A pattern was checked before it came here. */
parentPort?.on('message', ({ pattern, flags, text }: PatternQuestion) => {
  parentPort?.postMessage(new RegExp(pattern, flags).test(text), [])
})

// Its time begins when it can answer, however long a busy machine took to load it.
parentPort?.postMessage('ready', [])
