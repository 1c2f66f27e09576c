import { setTimeout as pause } from 'node:timers/promises'
import { ApiFailure } from '../api/api-failure.ts'
import { createGatewayClient, type GatewayClient, type Schemas } from '../api/gateway-client.ts'
import { readEvents } from '../api/read-events.ts'

type RunEvent = Schemas['CompareRunEvent']

/** What the stream of a run tells while the run is running. */
export interface RunFeed {
  /** The end of the text that a lane is writing, by the id of the lane. */
  readonly texts: ReadonlyMap<string, string>
  /** Whether the stream is open. Without it, the run has to be read to learn of changes. */
  isOpen(): boolean
  /** Returns what happened since the last call: `end` if the run may have ended, `cell` if an answer is complete. */
  takeNews(): 'end' | 'cell' | null
  close(): void
}

/** A terminal shows one line of a lane, so no more of its text is kept. */
const TEXT_LENGTH_MAX = 500
const REOPEN_MS = 1_000
const REOPEN_MS_MAX = 30_000

/** Opens the stream of a run in the background, and again if it is cut. An older gateway has none. */
export function openRunFeed({ connection }: GatewayClient, runId: string): RunFeed {
  // A client without patience, because a refused stream must not announce that it waits.
  const gateway = createGatewayClient(connection)
  const closing = new AbortController()
  const answers = new WrittenAnswers()
  let isOpen = false
  let news: 'end' | 'cell' | null = null

  const take = (event: RunEvent): void => {
    if (event.type === 'text') answers.add(event)
    else if (event.type === 'cell') {
      answers.end(event)
      news ??= 'cell'
    } else if (event.type === 'end') news = 'end'
  }
  const readOnce = async (): Promise<void> => {
    const path = `/v1/compare/runs/${encodeURIComponent(runId)}/stream`
    const { body } = await gateway.send(path, { method: 'GET', signal: closing.signal })
    isOpen = true
    try {
      for await (const data of readEvents(body ?? new ReadableStream())) {
        const event = parseEvent(data)
        if (event !== null) take(event)
      }
    } finally {
      isOpen = false
      answers.clear()
    }
  }
  const read = async (): Promise<void> => {
    for (let waitMs = REOPEN_MS; !closing.signal.aborted; waitMs = Math.min(waitMs * 2, REOPEN_MS_MAX)) {
      try {
        await readOnce()
      } catch (error) {
        if (error instanceof ApiFailure && error.status === 404) return
      }
      await pause(waitMs, undefined, { signal: closing.signal })
    }
  }
  // Closing ends it. Any other failure leaves the run to be read without its stream.
  read().catch(() => {})

  return {
    texts: answers.texts,
    isOpen: () => isOpen,
    takeNews() {
      const taken = news
      news = null
      return taken
    },
    close: () => closing.abort(),
  }
}

type CellOf = { readonly lane_id: string; readonly prompt_index: number; readonly repeat: number }

/** A lane may answer several prompts at once. One of them is shown until it has ended. */
class WrittenAnswers {
  readonly texts = new Map<string, string>()
  readonly #cells = new Map<string, string>()

  add({ text, offset, ...cell }: CellOf & { readonly offset: number; readonly text: string }): void {
    const key = keyOf(cell)
    const shown = this.#cells.get(cell.lane_id)
    if (shown !== undefined && shown !== key) return
    this.#cells.set(cell.lane_id, key)
    const before = offset === 0 ? '' : (this.texts.get(cell.lane_id) ?? '')
    this.texts.set(cell.lane_id, `${before}${text}`.slice(-TEXT_LENGTH_MAX))
  }

  end(cell: CellOf): void {
    if (this.#cells.get(cell.lane_id) !== keyOf(cell)) return
    this.#cells.delete(cell.lane_id)
    this.texts.delete(cell.lane_id)
  }

  clear(): void {
    this.#cells.clear()
    this.texts.clear()
  }
}

function keyOf({ prompt_index: prompt, repeat }: CellOf): string {
  return `${prompt}/${repeat}`
}

/** Returns null for an event that is no JSON, such as the end marker. The run itself tells of failures. */
function parseEvent(data: string): RunEvent | null {
  try {
    return JSON.parse(data) as RunEvent
  } catch {
    return null
  }
}
