import { parentPort, workerData } from 'node:worker_threads'
import type { Filter, FilterAnswer, FilterStart } from './filter-messages.ts'

const start = workerData as FilterStart

const LOADERS: Readonly<Record<FilterStart['kind'], () => Promise<Filter>>> = {
  jq: async () => (await import('./load-jq.ts')).loadJq(start),
  template: async () => (await import('../template/load-template.ts')).loadTemplate(start),
}

const answer = (text: string, failure: string | null): void =>
  parentPort?.postMessage({ text, failure } satisfies FilterAnswer, [])

try {
  const filter = await LOADERS[start.kind]()
  parentPort?.on('message', (json: string) => {
    const { text, failure } = attempt(filter, json)
    answer(text, failure)
  })
  answer('', null)
} catch (error) {
  answer('', messageOf(error))
}

function attempt(filter: Filter, json: string): FilterAnswer {
  try {
    return filter(json)
  } catch (error) {
    return { text: '', failure: messageOf(error) }
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
