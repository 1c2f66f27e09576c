import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { PatternQuestion } from './pattern-thread.ts'

/** A pattern that goes back and forth for longer is given up. */
const MATCH_MS_MAX = 500
/** Thrown-away threads are cheap, but not for nothing: what was too slow once is not tried again for a while. */
const SLOW_PATTERNS_MAX = 1_000

const slowPatterns = new Set<string>()
let thread: Worker | null = null
let lastQuestion: Promise<unknown> = Promise.resolve()

/**
 * Whether a pattern is found in a text; null when looking takes too long. In a thread of its own, one after the other:
 * a regular expression cannot be stopped from within, and whoever serves requests must not wait for it.
 */
export function matchPattern(question: PatternQuestion): Promise<boolean | null> {
  const answer = lastQuestion.then(() => ask(question))
  lastQuestion = answer.catch(() => {})
  return answer
}

async function ask(question: PatternQuestion): Promise<boolean | null> {
  const { pattern, flags } = question
  const name = `/${pattern}/${flags}`
  if (slowPatterns.has(name)) return null
  const asked = (thread ??= await startThread())
  const limit = AbortSignal.timeout(MATCH_MS_MAX)
  try {
    const answered = once(asked, 'message', { signal: limit })
    asked.postMessage(question, [])
    const [isFound]: unknown[] = await answered
    return isFound === true
  } catch {
    thread = null
    await asked.terminate()
    if (slowPatterns.size >= SLOW_PATTERNS_MAX) slowPatterns.clear()
    slowPatterns.add(name)
    return null
  }
}

/** It keeps no process from ending. */
async function startThread(): Promise<Worker> {
  const started = new Worker(new URL('pattern-thread.ts', import.meta.url), { execArgv: [] })
  // Told to whoever waits for an answer; without anybody it must not end the process.
  started.on('error', () => {})
  await once(started, 'message')
  started.unref()
  return started
}
